"""The address space of a launch: which memory a kernel may use, and what is wrong with an access that misses it.

spec: memory#top.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tileir.host.allocation import Allocation, merged
from tileir.ir.diagnostics import Coordinates
from tileir.ir.types import ElementType


class AddressSpace:
    """All memory that one launch may use.

    ``_sorted`` holds the allocations by address; they are kept apart: those that overlap are merged into one.
    ``_unbounded`` holds memory of unknown extent behind raw addresses, asked last. ``_given`` is what messages name.
    """

    def __init__(self, allocations: Iterable[Allocation] = ()) -> None:
        self._given: list[Allocation] = []
        self._bases: list[int] = []
        self._sorted: list[Allocation] = []
        self._unbounded: list[Allocation] = []
        for allocation in allocations:
            self.add(allocation)

    def add(self, allocation: Allocation) -> None:
        """Let the kernel use `allocation`. One without bytes is only remembered for messages."""
        self._given.append(allocation)
        if allocation.size == 0:
            return
        begin = bisect_right(self._bases, allocation.base)
        if begin and self._sorted[begin - 1].overlaps(allocation):
            begin -= 1
        end = begin
        while end < len(self._sorted) and self._sorted[end].overlaps(allocation):
            end += 1
        if end > begin:
            allocation = merged([*self._sorted[begin:end], allocation])
        self._sorted[begin:end] = [allocation]
        self._bases[begin:end] = [allocation.base]

    def add_unbounded(self, allocation: Allocation) -> None:
        """Let the kernel use `allocation` wherever no other memory lies."""
        self._unbounded.append(allocation)

    def remove(self, allocation: Allocation) -> None:
        """Take back an allocation that shares its memory with no other."""
        self._given.remove(allocation)
        if allocation.size:
            position = bisect_right(self._bases, allocation.base) - 1
            del self._sorted[position], self._bases[position]

    def find(self, address: int) -> Allocation | None:
        """Return the allocation whose extent holds the byte at `address`."""
        position = bisect_right(self._bases, address) - 1
        if position >= 0 and address < self._sorted[position].end:
            return self._sorted[position]
        return next((one for one in self._unbounded if one.base <= address < one.end), None)

    def overclaim(self, address: int, size: int, element: ElementType) -> AccessFault | None:
        """Return the fault of a view of `size` bytes at `address`; None unless it begins in memory and leaves it."""
        found = self.find(address)
        if found is None or address + size <= found.end:
            return None
        part = next((one for one in found.parts if one.base <= address < one.end), found)
        claimed, there = ((end - part.origin) * 8 // element.memory_bits for end in (address + size, found.end))
        return AccessFault(f"the view claims {claimed} elements of '{part.name}', which has {there}", part.name)

    def fault_at(self, address: int, access: DescribedAccess, lane: tuple[int, ...]) -> AccessFault:
        """Return the fault of accessing the tile element `lane` at an address where that is not allowed."""
        found = self.find(address)
        return access_fault(self._meant(found.parts if found else self._given), address, access, lane)

    def _meant(self, candidates: Sequence[Allocation]) -> Sequence[Allocation]:
        """Return the allocations of some that the running operation may have meant."""
        return candidates


# ---------------------------------------------------------------- faults


NEAR = 1 << 24
"""An address further than this from an array (and than the array is long) is not said to belong to it."""


class DescribedAccess(NamedTuple):
    """A memory access and its tile block; `verb` is ``load``, ``store`` or ``update``."""

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
    """The fault of an access: `array` is the parameter or global concerned, `offset` a byte in it."""

    message: str
    array: str | None = None
    offset: int | None = None


def access_fault(
    candidates: Sequence[Allocation], address: int, access: DescribedAccess, lane: tuple[int, ...]
) -> AccessFault:
    """Return the fault of accessing the element at `address`; `lane` is its index in the tile.

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
    """Return the allocation nearest to `address`, a live one first, unless it is too far to have been meant."""
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
