"""Long tiles that a kernel prints to a terminal, with their middle left out."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TextIO

LONGEST = 1000
"""Elements of a tile that is printed whole, as NumPy prints arrays."""
EDGE = 3
"""Elements, or rows, shown at each end."""
_ROW = re.compile(r"\[([^\[\]]*)\]")
_ROWS = re.compile(r"\[((?:\[[^\[\]]*\](?:, )?)+)\]")


def abbreviating(stream: TextIO) -> Callable[[str], object] | None:
    """Return a function that writes to `stream` with long tiles cut, if that is a terminal; None if not."""
    return (lambda text: stream.write(abbreviated(text))) if stream.isatty() else None


def abbreviated(text: str) -> str:
    """Return `text` with the middle of rows, and of lists of rows, left out if a tile in it is long."""
    if text.count(", ") < LONGEST:
        return text
    return _ROWS.sub(lambda match: f"[{_cut(_ROW.findall(match[1]), '[{}]')}]", _ROW.sub(_cut_row, text))


def _cut_row(match: re.Match[str]) -> str:
    return f"[{_cut(match[1].split(', '), '{}')}]"


def _cut(items: list[str], form: str) -> str:
    shown = [form.format(item) for item in items]
    return ", ".join(shown if len(items) <= 2 * EDGE else [*shown[:EDGE], "...", *shown[-EDGE:]])
