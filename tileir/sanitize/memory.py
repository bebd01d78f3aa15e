"""The memory of a sanitized launch: the interpreter's own, which tells what each operation touches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tileir.host.allocation import Allocation
from tileir.interp.cells import CheckedAccess, lane_index
from tileir.interp.faults import Fault
from tileir.interp.memory import Memory, ResolvedElements
from tileir.ir.diagnostics import Coordinates
from tileir.sanitize.shadow import Shadow, Touched, TouchedBox, TouchedElements


class Dropped(NamedTuple):
    """Elements that an access had no right to: `kind` of finding, the first fault, how many elements."""

    kind: str
    fault: Fault
    elements: int
    allocation: Allocation | None
    address: int


@dataclass(frozen=True)
class Layout:
    """The layout of an array of the launch in memory: address of its first element, strides in bytes."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    itemsize: int

    def index(self, address: int) -> tuple[int, ...]:
        """Return the index of the element at an address."""
        left = address - self.address
        index = [0] * len(self.shape)
        for dim in sorted(range(len(self.shape)), key=lambda dim: -abs(self.strides[dim])):
            step = self.strides[dim]
            if step and self.shape[dim] > 1:
                index[dim] = left // step
                left -= index[dim] * step
        return tuple(index)

    def holds(self, addresses: np.ndarray) -> np.ndarray:
        """Return which of some addresses, as i64, lie in an element of the array; strides are not negative."""
        left = addresses - self.address
        inside = left >= 0
        for step, extent in sorted(zip(self.strides, self.shape), reverse=True):
            if step and extent > 1:
                left = left - np.minimum(left // step, extent - 1) * step
        return np.asarray(inside & (left < self.itemsize))


Refuse = Callable[[Dropped], None]


class WatchedMemory(Memory):
    """`touched` holds what the operation that runs has accessed so far; `begin` empties it."""

    def __init__(self, allocations: Iterable[Allocation] = (), globals: dict[str, int] | None = None) -> None:
        self._shadows: dict[int, Shadow] = {}
        self._before: dict[int, Shadow] = {}
        self.touched: list[Touched] = []
        self.refuse: Refuse = _ignore
        self.through: Callable[[], str | None] = lambda: None
        """Return the parameter that the running operation accesses memory through, if it is one."""
        self.storages: list[tuple[int, int]] = []
        """The addresses and sizes of all storage that tile blocks have allocated in this run."""
        self.lent: Mapping[str, Layout] = {}
        """The arrays by their parameters that come with more memory than their elements."""
        self.left: set[str] = set()
        """Those of them that have been left for the rest of their memory."""
        self.marks_storage = True
        self.covers = True
        """Whether it is kept which bytes are written."""
        self._boxes = True
        self._remember = False
        self._scratch: np.ndarray | None = None
        super().__init__(allocations, globals)

    def begin(self, sparse: bool, remember: bool) -> None:
        """Begin an operation. One that takes single rows of a box is watched element by element. With `remember`, old
        contents of elements are kept."""
        self.touched = []
        self._boxes = not sparse
        self._remember = remember

    def shadow(self, allocation: Allocation, granule: int) -> Shadow:
        found = self._shadows.get(allocation.base)
        if found is None:
            found = self._shadows[allocation.base] = Shadow(allocation, granule)
        found.refine(granule)
        return found

    def forget(self) -> None:
        """Start with no shadow, as a new launch does; that of the run before is kept aside."""
        self._before, self._shadows = self._shadows, {}
        self.storages = []

    def shadow_before(self, allocation: Allocation) -> Shadow | None:
        """Return the shadow that an allocation had in the run before."""
        return self._before.get(allocation.base)

    def unwritten(self, of: Callable[[Allocation], np.ndarray | None]) -> list[tuple[Allocation, np.ndarray]]:
        """Return the allocations with bytes that nobody has written, by `of`, and masks of these."""
        found = ((one, of(one)) for one in self._sorted if one.writable)
        return [(one, mask) for one, mask in found if mask is not None]

    # ------------------------------------------------------------ alloca

    def allocate(self, size: int, alignment: int, owner: Coordinates | None) -> int:
        base = super().allocate(size, alignment, owner)
        self.storages.append((base, size))
        if size:
            self._shadows.pop(base, None)
            self.shadow(self._storage[base], 1).mark_unwritten()
        return base

    def free(self, base: int) -> None:
        super().free(base)
        self._shadows.pop(base, None)

    # ------------------------------------------------------------ what is touched

    def window(
        self, address: int, shape: Sequence[int], strides: Sequence[int], access: CheckedAccess
    ) -> np.ndarray | None:
        boxed = self._boxes and not self._is_foreign(address)
        found = super().window(address, shape, strides, access) if boxed else None
        if found is not None:
            allocation = self.find(address)
            assert allocation is not None, "a window lies in one allocation"
            shadow = self.shadow(allocation, access.cell.size)
            self._note(TouchedBox(shadow, address - shadow.base, tuple(shape), strides, access.cell.size), access)
        return found

    def resolve(
        self, addresses: np.ndarray, access: CheckedAccess, mask: np.ndarray | None = None
    ) -> list[ResolvedElements]:
        parts = super().resolve(addresses, access, mask)
        flat = np.ravel(addresses)
        chosen = np.arange(flat.size) if mask is None or mask.size == flat.size else np.flatnonzero(mask)
        for part in parts:
            if part.flat is not self._scratch:
                whole = part.lanes is None
                self._touch(flat if whole else flat[part.lanes], chosen if whole else chosen[part.lanes], access)
        return parts

    def _touch(self, addresses: np.ndarray, lanes: np.ndarray, access: CheckedAccess) -> None:
        if addresses.size:
            allocation = self.find(int(addresses[0]))
            assert allocation is not None, "an element found lies in an allocation"
            shadow = self.shadow(allocation, access.cell.size)
            offsets = (addresses - np.uint64(shadow.base)).view(np.int64)
            self._note(TouchedElements(shadow, offsets, lanes, access.cell.size), access)

    def _note(self, touched: Touched, access: CheckedAccess) -> None:
        if access.write and self.covers:
            touched.cover()
        if self._remember:
            touched.before = touched.content().copy()
        self.touched.append(touched)
        name = self.through() if self.lent else None
        lent = None if name is None or name in self.left else self.lent.get(name)
        if name is not None and lent is not None and not lent.holds(touched.addresses()).all():
            self.left.add(name)

    # ------------------------------------------------------------ what is refused

    def _meant(self, candidates: Sequence[Allocation]) -> Sequence[Allocation]:
        name = self.through()
        meant = ([one for one in among if one.name == name] for among in (candidates, self._given))
        return next(filter(None, meant), candidates)

    def _is_foreign(self, address: int) -> bool:
        """Return whether an address lies outside the memory of the array that the running operation accesses, be it in
        a neighbour."""
        name = self.through()
        home = next((one for one in self._given if one.name == name and one.size), None)
        return home is not None and self.find(address) is not self.find(home.base)

    def _usable(self, low: int, high: int, access: CheckedAccess) -> Allocation | None:
        return None if self._is_foreign(low) else super()._usable(low, high, access)

    def _apart(self, tile: np.ndarray, access: CheckedAccess, mask: np.ndarray | None) -> list[ResolvedElements]:
        """Report elements that may not be accessed, and redirect them to unused memory."""
        addresses = tile.ravel()
        given, found = self._found(addresses, access)
        parts = []
        for part in given:
            if part.lanes is None or not part.lanes.size:
                continue
            if self._is_foreign(int(addresses[part.lanes[0]])):
                found[part.lanes] = False
            else:
                parts.append(part)
        bad = np.flatnonzero(~found)
        if bad.size:
            self._report(tile, bad, access, mask)
            self._scratch = np.zeros(bad.size, access.cell.raw)
            parts.append(ResolvedElements(self._scratch, np.arange(bad.size), bad))
        return parts

    def _report(self, tile: np.ndarray, bad: np.ndarray, access: CheckedAccess, mask: np.ndarray | None) -> None:
        addresses = tile.ravel()[bad]
        kinds = np.array([self._kind(int(address), access) for address in addresses])
        for kind in np.unique(kinds).tolist():
            lanes = np.flatnonzero(kinds == kind)
            first = int(lanes[0])
            address = int(addresses[first])
            fault = Fault(*self.fault_at(address, access.described, lane_index(int(bad[first]), tile.shape, mask)))
            self.refuse(Dropped(kind, fault, lanes.size, self.find(address), address))

    def _kind(self, address: int, access: CheckedAccess) -> str:
        found = self.find(address)
        if found is None or self._is_foreign(address) or not found.live or address + access.cell.size > found.end:
            return "out-of-bounds"
        if access.write and not found.writable:
            return "read-only"
        return "misaligned" if address % access.cell.size else "out-of-bounds"


def _ignore(dropped: Dropped) -> None:
    """Ignore the access, as nobody has asked yet."""
