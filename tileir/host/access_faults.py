"""Faults of accesses: which memory was missed, by how much, and which tile element did it.

Knows: the words of memory faults. Does not know: which memory there is (`address_space`), nor how accesses are made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tileir.host.allocation import Allocation
from tileir.ir.diagnostics import Coordinates
from tileir.ir.types import ElementType

NEAR = 1 << 24
"""An address further than this from an array (and than the array is long) is not said to belong to it."""


class DescribedAccess(NamedTuple):
    """What is done to memory, by which tile block; `verb` is ``load``, ``store`` or ``update``."""

    element: ElementType
    block: Coordinates | None
    verb: str

    @property
    def write(self) -> bool:
        return self.verb != "load"

    @property
    def size(self) -> int:
        """Bytes of the element, whose address is a multiple of them."""
        return self.element.byte_size


class AccessFault(NamedTuple):
    """What is wrong with an access: `array` is the parameter or global concerned, `offset` a byte in it."""

    message: str
    array: str | None = None
    offset: int | None = None


def access_fault(
    candidates: Sequence[Allocation], address: int, access: DescribedAccess, lane: tuple[int, ...]
) -> AccessFault:
    """The fault of accessing the element at `address`; `lane` is its index in the tile.

    ``candidates`` are the allocations that the program may have meant.
    """
    what = f"{access.verb} of {access.element.name}"
    where = f" (tile element {list(lane)})" if lane else ""
    target = _nearest(candidates, address)
    if target is None:
        return AccessFault(f"{what} at address {address:#x}, which is in no memory given to the kernel{where}")
    offset = address - target.origin
    message = f"{what} at byte offset {offset} of '{target.name}': {_reason(target, address, access)}{where}"
    return AccessFault(message, target.name, offset)


def _nearest(candidates: Sequence[Allocation], address: int) -> Allocation | None:
    """The allocation nearest to `address`, a live one first, unless it is too far to have been meant."""
    best = min(candidates, key=lambda one: (one.distance(address), not one.live), default=None)
    if best is None or best.distance(address) > max(NEAR, best.size):
        return None
    return best


def _reason(target: Allocation, address: int, access: DescribedAccess) -> str:
    size = access.size
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
