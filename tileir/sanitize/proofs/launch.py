"""The facts about launches that a proof may use.

KnownLaunch(parameters)                                 any arguments
KnownLaunch(parameters, numbers, arrays, (8, 1, 1))     one launch
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Protocol, TypeVar

import numpy as np

from tileir.analysis.effects import reachable
from tileir.analysis.extents import Extent
from tileir.analysis.narrowing import Grid
from tileir.host.allocation import Allocation
from tileir.ir.core import Op
from tileir.ops.core import GetTileBlockId
from tileir.ops.module import Entry

T = TypeVar("T")


class Keep(Protocol):
    """Gives what is kept under a key; made on first use."""

    def __call__(self, key: Hashable, make: Callable[[], T]) -> T: ...


MOST_BYTES = 1 << 24
"""Bytes of an array with gaps that are looked at one by one."""


@dataclass(frozen=True)
class KnownArray:
    """An array of a launch: `memory` that it may use, in which its element 0 lies at `address`."""

    address: int
    memory: Allocation

    @property
    def low(self) -> int:
        """The first byte, counted from element 0."""
        return self.memory.base - self.address

    @property
    def high(self) -> int:
        """Return the end, one past the last byte, counted from element 0."""
        return self.memory.end - self.address

    def holds(self, extent: Extent) -> bool:
        """Return whether all bytes of an extent, which count from element 0, belong to the array."""
        if extent.empty:
            return True
        if extent.low < self.low or extent.high > self.high:
            return False
        return self.memory.dense or self._holds_each(extent)

    def _holds_each(self, extent: Extent) -> bool:
        if extent.high - extent.low > MOST_BYTES:
            return False
        offsets = np.flatnonzero(extent.mask(extent.low, extent.high)) + (extent.low - self.low)
        return bool(self.memory.covers(offsets, 1).all())

    def overlaps(self, other: KnownArray) -> bool:
        return self.memory.overlaps(other.memory)

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for arrays that lie in the same way around their element 0."""
        return self.low, tuple(self.memory.runs), self.memory.name


@dataclass(frozen=True)
class KnownLaunch:
    """Launches of a kernel with these `parameters`.

    `numbers` are the integer arguments by position, None where one may be any; `arrays` those of pointer parameters;
    `flags` what memory holds where stores set flags. `grid` has None along the axes that may have any extent.
    """

    parameters: Sequence[str]
    numbers: Sequence[int | None]
    grid: Grid
    arrays: Mapping[int, KnownArray] = field(default_factory=dict)
    flags: Mapping[Op, bytes] = field(default_factory=dict)
    given: bool = False

    @property
    def extents(self) -> tuple[int, int, int] | None:
        """The grid, if it is known."""
        x, y, z = self.grid
        return None if x is None or y is None or z is None else (x, y, z)

    @property
    def key(self) -> tuple[object, ...]:
        """Return a key that is equal for launches with the same known facts: the address of an array does not matter,
        but its position relative to others that share its memory does."""
        arrays = tuple((index, array.key) for index, array in self.arrays.items())
        shared = tuple(
            (one, other, self.arrays[other].address - self.arrays[one].address)
            for one, other in combinations(self.arrays, 2)
            if self.arrays[one].overlaps(self.arrays[other])
        )
        return tuple(self.numbers), self.grid, self.given, arrays, shared, tuple(self.flags.items())

    def on(self, grid: Grid) -> KnownLaunch:
        return replace(self, grid=grid)

    def without_arguments(self) -> KnownLaunch:
        return replace(self, numbers=(None,) * len(self.numbers), arrays={}, flags={}, given=False)


def open_grid(entry: Entry, launched: Grid | None) -> Grid:
    """Return every grid that the kernel is meant for: any extent along the axes whose tile block id it reads, and those
    on which it is launched."""
    axes = axes_read(entry)
    if launched is not None:
        axes |= {axis for axis, extent in enumerate(launched) if extent != 1}
    axes = axes or {0}
    x, y, z = (None if axis in axes else 1 for axis in range(3))
    return x, y, z


def axes_read(entry: Entry) -> set[int]:
    """Return the axes of the grid along which the kernel asks for the coordinate of its tile block."""
    ops = list(reachable(entry))
    used = {value for op in ops for value in op.operands}
    ids = [op for op in ops if isinstance(op, GetTileBlockId)]
    return {axis for op in ids for axis, result in enumerate(op.results) if result in used}
