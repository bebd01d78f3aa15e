"""The text of a failed assertion (spec: control#assert-failure).

Does not know: how a target finds that one has failed, nor how it stops.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tileir.ir.diagnostics import Coordinates, place_text
from tileir.ir.shown import shown_line
from tileir.ops.control import Assert

MAX_REPORTED = 1 << 12
"""Failing elements beyond this number are counted only."""


def assertion_text(op: Assert, block: Coordinates, condition: np.ndarray) -> str:
    """The message, then a line for every element that is 0."""
    count = int(np.size(condition) - np.count_nonzero(condition))
    return "\n".join((f"assertion failed: {shown_line(op.message)}", *_lines(op, block, condition, count)))


def _lines(op: Assert, block: Coordinates, condition: np.ndarray, count: int) -> Iterator[str]:
    place = place_text(op.loc).rpartition(":")[0] or "(unknown):0"
    failing = np.flatnonzero(~np.asarray(condition))[:MAX_REPORTED]
    for index in zip(*np.unravel_index(failing, np.shape(condition))) if np.ndim(condition) else [()]:
        position = ", ".join(str(int(i)) for i in index)
        yield f"{place}: tile block: {list(block)}, position: [{position}]: {shown_line(op.message)}"
    if count > MAX_REPORTED:
        yield f"... and {count - MAX_REPORTED} more elements"
