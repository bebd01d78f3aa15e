"""The bytes that bands of a grid touch, where a grid may be cut, and the pieces of arrays that a band needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from math import prod
from typing import Any

from tileir.analysis.evaluation import Blocks, Program, Unmapped
from tileir.analysis.extents import Extent
from tileir.analysis.footprint import Footprint
from tileir.analysis.symbols import StorageKind
from tileir.distributed.boxes import MAPPED_PAGE, ByteBox, Rectangle, box_of, bytes_of, hull_of, rectangle_around
from tileir.ir.attributes import AtomicMode
from tileir.ir.core import Op
from tileir.ir.diagnostics import UnsupportedError

Grid = tuple[int, int, int]
Cut = tuple[int, int, int]
"""Bands along each axis."""
Range = tuple[int, int]
Boundary = Callable[[int, int], bool]
"""Return whether the grid may be cut before a tile block, given the axis and its number along it."""


def cuts_of(grid: Grid, count: int) -> list[Cut]:
    """Return the cuts with the most bands that are no more than `count`, along two axes at most; then, with the most
    bands first, those along one axis alone that have fewer. Of those with the same number the first cut most along
    x."""
    pairs = {
        _cut({one: first, other: min(count // first, grid[other])})
        for one, other in combinations(range(3), 2)
        for first in range(1, min(count, grid[one]) + 1)
    }
    most = max(map(prod, pairs))
    alone = {_cut({axis: min(count, grid[axis])}) for axis in range(3) if grid[axis] > 1}
    return sorted({cut for cut in pairs if prod(cut) == most} | alone, key=lambda cut: (prod(cut), cut), reverse=True)


def _cut(counts: dict[int, int]) -> Cut:
    x, y, z = (counts.get(axis, 1) for axis in range(3))
    return x, y, z


def bands_of(grid: Grid, cut: Cut, allowed: Boundary | None = None) -> Iterator[Blocks]:
    """Yield the tile blocks of each band, the first axis changing fastest."""
    ranges = [list(_ranges(axis, grid[axis], cut[axis], allowed)) for axis in range(3)]
    for z, y, x in product(*reversed(ranges)):
        yield x, y, z


def _ranges(axis: int, extent: int, count: int, allowed: Boundary | None) -> Iterator[Range]:
    """Yield the numbers below `extent` in at most `count` runs of about the same length, cut where that is allowed."""
    wanted = [at * extent // count for at in range(1, count)]
    if allowed is not None:
        # Behind the next boundary that is wanted, that one finds it.
        found = (_nearest(axis, at, extent, extent // count + 1, allowed) for at in wanted)
        wanted = sorted({at for at in found if at is not None})
    return zip([0, *wanted], [*wanted, extent])


def _nearest(axis: int, wanted: int, extent: int, within: int, allowed: Boundary) -> int | None:
    """Return the boundary that is allowed next to one that is wanted; None if there is none."""
    for distance in range(within + 1):
        for at in (wanted - distance, wanted + distance):
            if 0 < at < extent and allowed(axis, at):
                return at
    return None


def refused(op: Op, why: str) -> UnsupportedError:
    return UnsupportedError(f"'{op.spec.name}' {why}", "distributed", op.loc)


@dataclass(frozen=True)
class BandFootprint:
    """The bytes of one band, by parameter: what it must be given, and what it may change."""

    blocks: Blocks
    reads: dict[int, list[ByteBox]] = field(default_factory=dict)
    writes: dict[int, list[ByteBox]] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Bytes that travel to the worker and back."""
        return sum(box.size for boxes in (*self.reads.values(), *self.writes.values()) for box in boxes)

    def memory(self, mapped: Collection[int] = ()) -> int:
        """Return bytes on a worker, at most: what travels, and pages of arrays; of the parameters `mapped`, which are
        files, the pages that are mapped."""
        boxes = [(at, box) for each in (self.reads, self.writes) for at, found in each.items() for box in found]
        return sum(box.pages(MAPPED_PAGE) if at in mapped else box.size + box.pages() for at, box in boxes)


class GridFootprints:
    """The memory that boxes of tile blocks of one launch touch."""

    def __init__(
        self,
        found: Sequence[tuple[Footprint, Op]],
        merged: dict[int, AtomicMode],
        numbers: Sequence[int | None],
        sizes: Sequence[int],
        grid: Grid,
    ) -> None:
        self.found = found
        self.merged = merged
        self.grid = grid
        self._numbers = numbers
        self._sizes = sizes
        self._programs = [Program([footprint]) for footprint, _ in found]
        self._axes = [program.axes for program in self._programs]
        self._known: dict[tuple[int, tuple[Range, ...]], Extent] = {}

    def extent(self, at: int, blocks: Blocks) -> Extent:
        """Return the extent of an access, computed once for the ranges that it depends on. Raises UnsupportedError."""
        key = at, tuple(blocks[axis] for axis in self._axes[at])
        if key not in self._known:
            (extent,) = self._programs[at].extents(self._numbers, self.grid, blocks)
            if isinstance(extent, Unmapped):
                raise refused(self.found[at][1], f"may touch any byte: {extent.why}")
            self._known[key] = extent
        return self._known[key]

    def band(self, blocks: Blocks) -> BandFootprint:
        """Return the boxes of one band. Raises UnsupportedError if it may touch any byte."""
        band = BandFootprint(blocks)
        for at, (footprint, _) in enumerate(self.found):
            extent, parameter = self.extent(at, blocks), self.parameter(at)
            box = None if parameter is None else box_of(extent, self._sizes[parameter])
            if parameter is None or box is None:
                continue
            # What may stay as it is must be there, to be given back unchanged.
            if footprint.reads or not extent.exact:
                _note(band.reads, parameter, box)
            if footprint.writes:
                _note(band.writes, parameter, box)
        return band

    def merged_memory(self) -> int:
        """Return bytes on a worker for those that are merged: the copy that travels, and the one that changes."""
        return sum(2 * self._sizes[at] for at in self.merged)

    def parameter(self, at: int) -> int | None:
        """Return the parameter whose array an access touches, if it is not merged."""
        storage = self.found[at][0].storage
        if storage is None or storage.kind is not StorageKind.PARAMETER or storage.number in self.merged:
            return None
        return storage.number

    def changed(self, at: int, blocks: Blocks) -> Extent:
        """Return the part of a write that goes back: the touched bytes, or all from the first to the last of them."""
        extent, parameter = self.extent(at, blocks), self.parameter(at)
        box = None if parameter is None else box_of(extent, self._sizes[parameter])
        if box is None or box.dims or not extent.dims:
            return extent
        return Extent(box.start, box.end, box.start, (), box.run, False)


def _note(boxes: dict[int, list[ByteBox]], parameter: int, box: ByteBox) -> None:
    known = boxes.setdefault(parameter, [])
    if box not in known:
        known.append(box)


@dataclass(frozen=True)
class BandPiece:
    """The part of an array that one band is given, and the part it gives back; None for nothing."""

    given: Rectangle | None
    written: Rectangle | None


def pieces_of(array: Any, at: int, bands: Sequence[BandFootprint]) -> list[BandPiece]:
    """Return the pieces of each band of the array of parameter `at`."""
    return [_piece(array, at, band) for band in bands]


def _piece(array: Any, at: int, band: BandFootprint) -> BandPiece:
    shape, size = array.shape, array.dtype.itemsize
    reads, writes = (
        [rectangle_around(box, shape, size) for box in boxes.get(at, ())] for boxes in (band.reads, band.writes)
    )
    written = hull_of(writes)
    if written is not None and not (len(writes) == 1 and band.writes[at][0] == bytes_of(written, shape, size)):
        # What lies between is given back unchanged.
        reads.append(written)
    return BandPiece(hull_of(reads), written)
