"""The address space of a launch: which memory a kernel may use (spec: memory#top).

Knows: the pieces of memory by their addresses, and the words for an access that misses them.
Does not know: how elements are read and written (the targets), nor what arguments a user may give (`runtime`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from tileir.host.access_faults import AccessFault, DescribedAccess, access_fault
from tileir.host.allocation import Allocation, merged


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
        """The allocation whose extent holds the byte at `address`."""
        position = bisect_right(self._bases, address) - 1
        if position >= 0 and address < self._sorted[position].end:
            return self._sorted[position]
        return next((one for one in self._unbounded if one.base <= address < one.end), None)

    def fault_at(self, address: int, access: DescribedAccess, lane: tuple[int, ...]) -> AccessFault:
        """What is wrong with accessing the tile element `lane` at an address where that is not allowed."""
        found = self.find(address)
        return access_fault(found.parts if found else self._given, address, access, lane)
