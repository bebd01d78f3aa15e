"""One access to memory as the interpreter checks and makes it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tileir.host.access_faults import DescribedAccess
from tileir.interp.cells import Cell
from tileir.ir.diagnostics import Coordinates


class CheckedAccess(NamedTuple):
    """What is done to memory, by which tile block; `verb` is ``load``, ``store`` or ``update``."""

    cell: Cell
    block: Coordinates | None
    verb: str

    @property
    def write(self) -> bool:
        return self.verb != "load"

    @property
    def described(self) -> DescribedAccess:
        """The access in the words of a message."""
        return DescribedAccess(self.cell.element, self.block, self.verb)


def lane_index(position: int, shape: tuple[int, ...], mask: np.ndarray | None) -> tuple[int, ...]:
    """The index in the tile of the element at `position` of the flattened addresses that `mask` chose."""
    if mask is not None:
        position, shape = int(np.flatnonzero(mask)[position]), mask.shape
    return tuple(int(index) for index in np.unravel_index(position, shape)) if shape else ()
