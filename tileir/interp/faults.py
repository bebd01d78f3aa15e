"""Says what is wrong with an access: which memory it missed, by how much, and which tile element did it.

Knows: the words of memory faults. Does not know how accesses are made (`memory`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tileir.interp.allocation import Allocation
from tileir.interp.api import Coordinates, Fault
from tileir.interp.cells import Cell

NEAR = 1 << 24
"""An address further than this from an array (and than the array is long) is not said to belong to it."""


class Access(NamedTuple):
    """What is done to memory, by which tile block; `verb` is ``load``, ``store`` or ``update``."""

    cell: Cell
    block: Coordinates | None
    verb: str

    @property
    def write(self) -> bool:
        return self.verb != "load"


def access_fault(candidates: Sequence[Allocation], address: int, access: Access, lane: tuple[int, ...]) -> Fault:
    """The fault of accessing the element at `address`; `lane` is its index in the tile.

    ``candidates`` are the allocations that the program may have meant.
    """
    what = f"{access.verb} of {access.cell.element.name}"
    where = f" (tile element {list(lane)})" if lane else ""
    target = _nearest(candidates, address)
    if target is None:
        return Fault(f"{what} at address {address:#x}, which is in no memory given to the kernel{where}")
    offset = address - target.origin
    message = f"{what} at byte offset {offset} of '{target.name}': {_reason(target, address, access)}{where}"
    return Fault(message, target.name, offset)


def lane_index(position: int, shape: tuple[int, ...], mask: np.ndarray | None) -> tuple[int, ...]:
    """The index in the tile of the element at `position` of the flattened addresses that `mask` chose."""
    if mask is not None and not mask.all():
        position, shape = int(np.flatnonzero(mask)[position]), mask.shape
    return tuple(int(index) for index in np.unravel_index(position, shape)) if shape else ()


def _nearest(candidates: Sequence[Allocation], address: int) -> Allocation | None:
    """The allocation nearest to `address`, a live one first, unless it is too far to have been meant."""
    best = min(candidates, key=lambda one: (one.distance(address), not one.live), default=None)
    if best is None or best.distance(address) > max(NEAR, best.size):
        return None
    return best


def _reason(target: Allocation, address: int, access: Access) -> str:
    size = access.cell.size
    if address < target.base or address + size > target.end:
        return _outside(target)
    if not target.live:
        return "the storage was freed when its region was left"
    if target.owner is not None and target.owner != access.block:
        return f"the storage belongs to tile block {target.owner}"
    if access.write and not target.writable:
        return "the memory is constant"
    if address % size:
        return f"the address {address:#x} is not a multiple of {size}"
    return "no element of the array lies there"


def _outside(target: Allocation) -> str:
    if target.size == 0:
        return "it has no elements"
    first = target.base - target.origin
    return f"it has bytes {first} to {first + target.size - 1}"
