"""Bytes that bands of tile blocks touch, by parameter.

Knows: which boxes a band must be given, and which it may change. Does not know: whether bands may run apart
(`independence`), and which bands there are (`plan`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from tileir.analysis.evaluation import Blocks, Program, Unmapped
from tileir.analysis.extents import Extent
from tileir.analysis.footprint import Footprint
from tileir.analysis.symbols import StorageKind
from tileir.distributed.boxes import ByteBox, box_of
from tileir.distributed.cuts import Grid, Range
from tileir.ir.attributes import AtomicMode
from tileir.ir.core import Op
from tileir.ir.diagnostics import UnsupportedError


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

    def memory(self, held: Collection[int] | None = None) -> int:
        """Bytes on a worker, at most, for the parameters `held`, by default all: what travels, and pages of arrays."""
        boxes = [*self.reads.items(), *self.writes.items()]
        return sum(box.size + box.pages for at, each in boxes for box in each if held is None or at in held)


class GridFootprints:
    """What boxes of tile blocks of one launch touch."""

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
        self._axes = [sorted({axis for _, axis in program.block_ids}) for program in self._programs]
        self._known: dict[tuple[int, tuple[Range, ...]], Extent] = {}

    def extent(self, at: int, blocks: Blocks) -> Extent:
        """What an access touches, worked out once for the ranges that it depends on. Raises UnsupportedError."""
        key = at, tuple(blocks[axis] for axis in self._axes[at])
        if key not in self._known:
            (extent,) = self._programs[at].extents(self._numbers, self.grid, blocks)
            if isinstance(extent, Unmapped):
                raise refused(self.found[at][1], f"may touch any byte: {extent.why}")
            self._known[key] = extent
        return self._known[key]

    def band(self, blocks: Blocks) -> BandFootprint:
        """The boxes of one band. Raises UnsupportedError if it may touch any byte."""
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

    def merged_memory(self, held: Collection[int] | None = None) -> int:
        """Bytes on a worker for those of `held` that are merged: the copy that travels, and the one that changes."""
        return sum(2 * self._sizes[at] for at in self.merged if held is None or at in held)

    def parameter(self, at: int) -> int | None:
        """The parameter whose array an access touches, if it is not merged."""
        storage = self.found[at][0].storage
        if storage is None or storage.kind is not StorageKind.PARAMETER or storage.number in self.merged:
            return None
        return storage.number

    def changed(self, at: int, blocks: Blocks) -> Extent:
        """What goes back of what an access writes: what it touches, or all from the first to the last such byte."""
        extent, parameter = self.extent(at, blocks), self.parameter(at)
        box = None if parameter is None else box_of(extent, self._sizes[parameter])
        if box is None or box.dims or not extent.dims:
            return extent
        return Extent(box.start, box.end, box.start, (), box.run, False)


def _note(boxes: dict[int, list[ByteBox]], parameter: int, box: ByteBox) -> None:
    known = boxes.setdefault(parameter, [])
    if box not in known:
        known.append(box)
