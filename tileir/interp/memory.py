"""The memory of a launch: real addresses, every access checked (spec: memory#top, spec: undefined#catalogue).

An access outside the memory given, misaligned, to a freed `alloca` or one of another tile block, or a store into
constant memory raises `Fault` before anything is written.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from tileir.host.address_space import AddressSpace
from tileir.host.allocation import Allocation, Runs, box_covered
from tileir.host.limits import MAX_STORAGE, no_storage
from tileir.interp.cells import CELLS, CheckedAccess, lane_index
from tileir.interp.faults import Fault
from tileir.ir.diagnostics import Coordinates
from tileir.ir.types import ElementType

QUARANTINE = 1 << 26
"""Bytes of freed `alloca` kept aside, so that a use after the scope is still recognised."""
UNINITIALISED = 0xCD


class ResolvedElements(NamedTuple):
    """Elements found in memory: `flat` holds raw values, `where` are indices in it; `lanes` are the positions in the
    flattened tile that this part serves, None if all."""

    flat: np.ndarray
    where: np.ndarray | int
    lanes: np.ndarray | None = None


class MemoryObserver:
    """Is told what every access touches; this one does nothing with it."""

    boxes = True
    """True if an access to a strided box of elements may be reported as one."""

    def touches(self, addresses: np.ndarray, access: CheckedAccess) -> None:
        """Report an access to the elements at these addresses, which have been found in memory."""

    def touches_box(self, address: int, shape: Sequence[int], strides: Sequence[int], access: CheckedAccess) -> None:
        """Report an access to a box of elements from `address` on; strides count bytes."""
        self.touches(box_addresses(address, shape, strides), access)

    def allocates(self, address: int, size: int) -> None:
        """Report that storage of an `alloca` begins to live."""

    def frees(self, address: int) -> None:
        """Report that storage of an `alloca` is freed."""


UNWATCHED = MemoryObserver()


def box_addresses(address: int, shape: Sequence[int], strides: Sequence[int]) -> np.ndarray:
    """Return the addresses of the elements of a box, as uint64 of its shape."""
    found = np.array(address, np.uint64)
    for extent, stride in zip(shape, strides):
        found = np.add.outer(found, np.arange(extent, dtype=np.uint64) * np.uint64(stride))
    return found


class Memory(AddressSpace):
    """All memory that one launch may use, with the storage that its tile blocks take."""

    def __init__(
        self,
        allocations: Iterable[Allocation] = (),
        globals: dict[str, int] | None = None,
        observer: MemoryObserver = UNWATCHED,
    ) -> None:
        """Make memory whose every access is reported to `observer`."""
        super().__init__(allocations)
        self.observer = observer
        self.globals: dict[str, int] = {} if globals is None else globals
        self.changes = 0
        """Number of changes to memory, and of other events that a tile block may wait for."""
        self._storage: dict[int, Allocation] = {}
        self._storage_bytes = 0
        self._freed: deque[Allocation] = deque()
        self._freed_bytes = 0

    def address_of(self, name: str) -> int:
        """Return the address of the first element of global `name`."""
        return self.globals[name]

    # ------------------------------------------------------------ alloca

    def allocate(self, size: int, alignment: int, owner: Coordinates | None) -> int:
        """Allocate fresh storage of `size` bytes for tile block `owner` (None: for all); return its address."""
        if self._storage_bytes + size > MAX_STORAGE or alignment > MAX_STORAGE:
            raise Fault(no_storage(size, alignment))
        buffer = np.full(max(size, 1) + alignment - 1, UNINITIALISED, np.uint8)
        start: int = buffer.__array_interface__["data"][0]
        base = start + -start % alignment
        allocation = Allocation("alloca", base, (Runs(0, size),), owner=owner, keep=buffer)
        self.add(allocation)
        self._storage[base] = allocation
        self._storage_bytes += size
        self.observer.allocates(base, size)
        return base

    def free(self, base: int) -> None:
        """End the life of the storage at `base`. Its address is not given out again for a while."""
        allocation = self._storage.pop(base)
        self.observer.frees(base)
        allocation.live = False
        self._storage_bytes -= allocation.size
        self._freed.append(allocation)
        self._freed_bytes += allocation.size
        while self._freed_bytes > QUARANTINE:
            oldest = self._freed.popleft()
            self._freed_bytes -= oldest.size
            self.remove(oldest)

    # ------------------------------------------------------------ tiles of addresses

    def load(
        self,
        addresses: np.ndarray,
        element: ElementType,
        mask: np.ndarray | None = None,
        padding: np.ndarray | None = None,
        block: Coordinates | None = None,
    ) -> np.ndarray:
        """Return the elements at `addresses` (uint64, any shape). Where `mask` is False: `padding`, or zero without
        it."""
        access = CheckedAccess(CELLS[element], block, "load")
        if mask is None or mask.all():
            return access.cell.to_tile(self.read(addresses, access))
        result = np.zeros(addresses.shape, access.cell.dtype) if padding is None else np.array(padding)
        if mask.any():
            result[mask] = access.cell.to_tile(self.read(addresses[mask], access, mask))
        return result

    def read(self, addresses: np.ndarray, access: CheckedAccess, mask: np.ndarray | None = None) -> np.ndarray:
        """Return the raw values at `addresses`, which `mask` chose, as a new array."""
        parts = self.resolve(addresses, access, mask)
        if parts[0].lanes is None:
            found: np.ndarray = parts[0].flat[parts[0].where]
            return found
        raw = np.empty(addresses.size, access.cell.raw)
        for part in parts:
            raw[part.lanes] = part.flat[part.where]
        return raw.reshape(addresses.shape)

    def store(
        self,
        addresses: np.ndarray,
        values: np.ndarray,
        element: ElementType,
        mask: np.ndarray | None = None,
        block: Coordinates | None = None,
    ) -> None:
        """Write `values` at `addresses` where `mask` is True. Of equal addresses the last in row-major order wins."""
        access = CheckedAccess(CELLS[element], block, "store")
        if mask is not None and not mask.all():
            if not mask.any():
                return
            addresses, values = addresses[mask], values[mask]
        raw = access.cell.to_memory(values)
        self.changes += 1
        for part in self.resolve(addresses, access, mask):
            part.flat[part.where] = raw if part.lanes is None else raw.ravel()[part.lanes]

    # ------------------------------------------------------------ finding elements

    def resolve(
        self, addresses: np.ndarray, access: CheckedAccess, mask: np.ndarray | None = None
    ) -> list[ResolvedElements]:
        """Return the elements at `addresses`; indices without lanes have the shape of `addresses`.

        ``mask`` is the mask that chose the addresses: a fault needs it to name the tile element.
        """
        found = self._one(int(addresses), access) if addresses.ndim == 0 else self._together(addresses, access)
        parts = self._apart(addresses, access, mask) if found is None else [found]
        if self.observer is not UNWATCHED:
            self.observer.touches(addresses, access)
        return parts

    def _usable(self, low: int, high: int, access: CheckedAccess) -> Allocation | None:
        """Return the allocation that holds all bytes from `low` up to `high` and may be used, if it has no gaps."""
        allocation = self.find(low)
        if allocation is None or high > allocation.end:
            return None
        usable = allocation.open(access.write) and allocation.usable_by(access.block, access.write)
        return allocation if usable else None

    def _one(self, address: int, access: CheckedAccess) -> ResolvedElements | None:
        cell = access.cell
        allocation = self._usable(address, address + cell.size, access)
        if allocation is None or address % cell.size:
            return None
        flat, first = allocation.typed(cell.raw)
        return ResolvedElements(flat, (address - first) >> cell.shift)

    def _together(self, addresses: np.ndarray, access: CheckedAccess) -> ResolvedElements | None:
        """Resolve all elements at once if they lie in one allocation; None if they do not, or if there is a fault."""
        cell = access.cell
        allocation = self._usable(int(addresses.min()), int(addresses.max()) + cell.size, access)
        if allocation is None:
            return None
        flat, first = allocation.typed(cell.raw)
        offsets = addresses - np.uint64(first)
        if cell.size == 1:
            return ResolvedElements(flat, offsets.view(np.int64))
        if int(np.bitwise_or.reduce(offsets, axis=None)) & (cell.size - 1):
            return None
        return ResolvedElements(flat, (offsets >> np.uint64(cell.shift)).view(np.int64))

    def _apart(self, tile: np.ndarray, access: CheckedAccess, mask: np.ndarray | None) -> list[ResolvedElements]:
        """Return elements in several allocations or in ones with gaps; raises the fault of the first bad element."""
        addresses = tile.ravel()
        parts, found = self._found(addresses, access)
        if not found.all():
            lane = int(np.argmin(found))
            raise Fault(*self.fault_at(int(addresses[lane]), access.described, lane_index(lane, tile.shape, mask)))
        return parts

    def _found(self, addresses: np.ndarray, access: CheckedAccess) -> tuple[list[ResolvedElements], np.ndarray]:
        """Return the elements that may be accessed, by allocation, and a mask of them."""
        aligned = addresses & np.uint64(access.cell.size - 1) == 0
        position = np.searchsorted(np.array(self._bases, np.uint64), addresses, "right") - 1
        parts, found = [], np.zeros(addresses.size, np.bool_)
        for which in np.unique(position).tolist():
            if which >= 0:
                lanes = np.flatnonzero(aligned & (position == which))
                parts.append(_places(self._sorted[which], addresses, lanes, access, found))
        for allocation in self._unbounded:
            parts.append(_places(allocation, addresses, np.flatnonzero(aligned & ~found), access, found))
        return parts, found

    # ------------------------------------------------------------ boxes

    def window(
        self, address: int, shape: Sequence[int], strides: Sequence[int], access: CheckedAccess
    ) -> np.ndarray | None:
        """Return the box of elements from `address` on, as a strided array of raw values in place.

        Strides count bytes and are not negative. None if any of it may not be accessed: then `load` and `store` of the
        single addresses say why.
        """
        if not self.observer.boxes:
            return None
        size = access.cell.size
        span = size
        for n, step in zip(shape, strides):
            span += (n - 1) * step
        allocation = self.find(address)
        if allocation is None or address + span > allocation.end or address % size:
            return None
        offset = address - allocation.base
        if not allocation.usable_by(access.block, access.write):
            return None
        if not (allocation.open(access.write) or box_covered(allocation, offset, shape, strides, size, access.write)):
            return None
        self.changes += access.write
        if self.observer is not UNWATCHED:
            self.observer.touches_box(address, shape, strides, access)
        return np.ndarray(shape, access.cell.raw, allocation.bytes, offset, strides)

    def writable_bytes(self) -> list[np.ndarray]:
        """Return the bytes of every allocation that a kernel may write, in place."""
        return [one.bytes for one in self._sorted if one.writable and one.live]


def _places(
    allocation: Allocation, addresses: np.ndarray, lanes: np.ndarray, access: CheckedAccess, found: np.ndarray
) -> ResolvedElements:
    """Return the elements of `lanes` that may be accessed in `allocation`; marks them in `found`."""
    cell = access.cell
    flat, first = allocation.typed(cell.raw)
    if not allocation.usable_by(access.block, access.write):
        return ResolvedElements(flat, lanes[:0], lanes[:0])
    inside = (addresses[lanes] >= np.uint64(allocation.base)) & (addresses[lanes] < np.uint64(allocation.end))
    lanes = lanes[inside]
    offsets = (addresses[lanes] - np.uint64(allocation.base)).view(np.int64)
    covered = allocation.covers(offsets, cell.size, access.write)
    lanes, offsets = lanes[covered], offsets[covered]
    found[lanes] = True
    return ResolvedElements(flat, (offsets + (allocation.base - first)) >> cell.shift, lanes)


class UnwrittenReads(MemoryObserver):
    """Notices reads of `alloca` storage that nothing was written to (spec: undefined#catalogue)."""

    def __init__(self) -> None:
        self.found = False
        """An access has read such storage; whoever reports it sets this back."""
        self._fresh: dict[int, np.ndarray] = {}
        """For each live storage, by its address, a mask of the bytes that were never written."""

    def allocates(self, address: int, size: int) -> None:
        self._fresh[address] = np.ones(size, np.bool_)

    def frees(self, address: int) -> None:
        del self._fresh[address]

    def touches_box(self, address: int, shape: Sequence[int], strides: Sequence[int], access: CheckedAccess) -> None:
        if self._fresh:
            super().touches_box(address, shape, strides, access)

    def touches(self, addresses: np.ndarray, access: CheckedAccess) -> None:
        """Report an update, which reads and writes."""
        flat, size = np.asarray(addresses).ravel(), access.cell.size
        for base, fresh in self._fresh.items():
            offsets = (flat - np.uint64(base)).astype(np.int64)
            inside = offsets[(offsets >= 0) & (offsets < fresh.size)]
            touched = np.add.outer(inside, np.arange(size))
            if access.verb != "store" and fresh[touched].any():
                self.found = True
            if access.write:
                fresh[touched] = False
