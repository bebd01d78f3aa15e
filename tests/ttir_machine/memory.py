"""Memory of the TTIR machine: that of this process, as far as a launch lends it."""

from __future__ import annotations

import ctypes
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from tests.ttir_machine.values import Array, MachineFault, bits_of, dtype_of, from_bits
from tileir.gpu.ttir.ir.code import Instruction

_REACH = 1 << 47
"""Addresses of a process lie below."""
_ORIGIN = 8
"""First address of the views: NumPy takes address 0 for none at all."""


_address = attrgetter("address")


@dataclass(frozen=True)
class Allocation:
    """`size` bytes at `address`."""

    name: str
    address: int
    size: int
    writable: bool = True


def allocation(name: str, array: Array) -> Allocation:
    """The memory of a contiguous array."""
    assert array.flags.c_contiguous
    return Allocation(name, array.__array_interface__["data"][0], array.nbytes)


class Memory:
    """The allocations of a launch; every access outside is a fault, as is a misaligned one."""

    def __init__(self, allocations: Iterable[Allocation]) -> None:
        self._sorted = sorted((found for found in allocations if found.size), key=lambda found: found.address)
        self._starts = np.array([found.address for found in self._sorted], np.uint64)
        self._ends = np.array([found.address + found.size for found in self._sorted], np.uint64)
        self._writable = np.array([found.writable for found in self._sorted], np.bool_)
        everything = (ctypes.c_char * _REACH).from_address(_ORIGIN)
        self._views = {size: np.ndarray(_REACH // size, f"u{size}", everything) for size in (1, 2, 4, 8)}

    def begin(self, instruction: Instruction) -> None:
        """An instruction begins, which the accesses that follow are of."""

    def barrier(self) -> None:
        """The threads of a block wait for each other."""

    def load(self, addresses: Array, element: str) -> Array:
        """The elements at `addresses`."""
        size = self._checked(addresses, element, writes=False)
        return from_bits(self._views[size][_index(addresses, size)], element)

    def store(self, addresses: Array, elements: Array, element: str) -> None:
        """Write `elements`; of lanes with one address the last wins."""
        size = self._checked(addresses, element, writes=True)
        self._views[size][_index(addresses, size)] = bits_of(elements)

    def _checked(self, addresses: Array, element: str, writes: bool) -> int:
        """The size of an element, after making sure that each address may be used."""
        size = dtype_of(element).itemsize
        if not addresses.size:
            return size
        if size > 1 and (addresses & np.uint64(size - 1)).any():
            odd = addresses % np.uint64(size) != 0
            raise MachineFault(f"misaligned address of {element}: {_first(addresses, odd)}")
        if not self._sorted:
            raise MachineFault(f"access to {element} where no memory is lent")
        first, last = int(addresses.min()), int(addresses.max())
        found = self._sorted[bisect_right(self._sorted, first, key=_address) - 1]
        if found.address <= first and last + size <= found.address + found.size and (found.writable or not writes):
            return size
        place = np.searchsorted(self._starts, addresses, side="right").astype(np.int64) - 1
        inside = (place >= 0) & (addresses + np.uint64(size) <= self._ends[np.maximum(place, 0)])
        if not inside.all():
            raise MachineFault(self._outside(addresses, ~inside, element))
        if writes and not self._writable[place].all():
            raise MachineFault(f"write to constant memory at {_first(addresses, ~self._writable[place])}")
        return size

    def _outside(self, addresses: Array, wrong: Array, element: str) -> str:
        address = int(addresses[wrong].ravel()[0])
        nearest = min(self._sorted, key=lambda found: abs(found.address - address))
        offset = address - nearest.address
        near = f"byte {offset} of '{nearest.name}', which has {nearest.size}"
        return f"access to {element} outside the memory of the launch: {near} ({int(wrong.sum())} lanes)"


def _index(addresses: Array, size: int) -> Array:
    """Index in the views of the element at an address."""
    return (addresses // np.uint64(size)).astype(np.int64) - _ORIGIN // size


def _first(addresses: Array, wrong: Array) -> str:
    return hex(int(addresses[wrong].ravel()[0]))
