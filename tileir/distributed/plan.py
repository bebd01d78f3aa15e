"""Bands of a grid that may run apart, and the bytes that each needs and writes.

Knows: what makes bands independent: no byte that one writes is touched by another, but for sums and the like that can
be put together afterwards; and the reason and the place where that is not so. Does not know: arrays (`boxes`), workers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from tileir.analysis.effects import MemoryAccess, reachable
from tileir.analysis.evaluation import Blocks, Program, Unmapped
from tileir.analysis.extents import Extent, common
from tileir.analysis.footprint import Footprint, op_footprints
from tileir.analysis.reach import TooHard
from tileir.analysis.symbols import StorageKind
from tileir.analysis.uses import Uses
from tileir.distributed.boxes import ByteBox, box_of
from tileir.ir.attributes import AtomicMode, MemoryOrdering
from tileir.ir.core import Op
from tileir.ir.diagnostics import UnsupportedError, place_text
from tileir.ops.atomics import AtomicRedView, AtomicRmw
from tileir.ops.core import GetNumTileBlocks, GetTileBlockId
from tileir.ops.module import Entry

MERGED = (
    AtomicMode.ADD, AtomicMode.AND, AtomicMode.OR, AtomicMode.XOR, AtomicMode.MAX, AtomicMode.MIN, AtomicMode.UMAX,
    AtomicMode.UMIN,
)  # fmt: skip
"""Updates whose order does not matter to the last bit. ADDF rounds, and XCHG keeps the last."""
MOST_BANDS = 1024

Range = tuple[int, int]


@dataclass(frozen=True)
class BandFootprint:
    """The bytes of one band, by parameter: what it must be given, and what it may change."""

    blocks: Range
    reads: dict[int, list[ByteBox]] = field(default_factory=dict)
    writes: dict[int, list[ByteBox]] = field(default_factory=dict)
    extents: list[Extent] = field(default_factory=list, repr=False)

    @property
    def size(self) -> int:
        """Bytes that travel to the worker and back."""
        return sum(box.size for boxes in (*self.reads.values(), *self.writes.values()) for box in boxes)


@dataclass(frozen=True)
class BandPlan:
    """Bands along `axis`; `merged` are the parameters that bands update, with the mode."""

    axis: int
    bands: tuple[BandFootprint, ...]
    merged: dict[int, AtomicMode]


def planned(
    entry: Entry, numbers: Sequence[int | None], sizes: Sequence[int], grid: tuple[int, int, int], count: int
) -> BandPlan:
    """`count` bands, or fewer, along the axis on which the least travels.

    `numbers` are the integer arguments, `sizes` the bytes of each array. Raises UnsupportedError with the reason and
    the place if the tile blocks cannot be taken apart along any axis.
    """
    found = op_footprints(entry)
    merged = _merged(entry, found)
    for footprint, op in found:
        _require_known(footprint, op, merged)
    _require_own_place(entry)
    program = Program([footprint for footprint, _ in found])
    plans: list[BandPlan] = []
    refusals: list[UnsupportedError] = []
    for axis in sorted(range(3), key=lambda axis: -grid[axis]):
        if grid[axis] > 1 or not (plans or refusals):
            try:
                plans.append(_along(axis, found, program, merged, numbers, sizes, grid, count))
            except UnsupportedError as error:
                refusals.append(error)
    if not plans:
        raise refusals[0]
    return min(plans, key=lambda plan: sum(band.size for band in plan.bands))


# ---------------------------------------------------------------- what no launch allows


def refused(op: Op, why: str) -> UnsupportedError:
    return UnsupportedError(f"'{op.spec.name}' {why}", "distributed", op.loc)


def _merged(entry: Entry, found: Sequence[tuple[Footprint, Op]]) -> dict[int, AtomicMode]:
    """The parameters that are accessed by updates of one mode alone whose old values nobody uses."""
    uses, modes = Uses([entry]), {}
    by_parameter: dict[int, list[Op]] = {}
    for footprint, op in found:
        if footprint.storage is not None and footprint.storage.kind is StorageKind.PARAMETER:
            by_parameter.setdefault(footprint.storage.number, []).append(op)
    for parameter, ops in by_parameter.items():
        if all(_is_mergeable(op, uses) for op in ops) and len({op.attributes["mode"] for op in ops}) == 1:
            modes[parameter] = ops[0].attributes["mode"]
    return modes


def _is_mergeable(op: Op, uses: Uses) -> bool:
    if not isinstance(op, AtomicRmw | AtomicRedView) or op.attributes["mode"] not in MERGED:
        return False
    access = MemoryAccess.of(op)
    old = access.result
    return access.ordering is MemoryOrdering.RELAXED and (old is None or not uses.of(old))


def _require_known(footprint: Footprint, op: Op, merged: dict[int, AtomicMode]) -> None:
    """Raise UnsupportedError for an access that may tie tile blocks together, or of which nothing is known."""
    storage = footprint.storage
    if footprint.unknown or storage is None:
        raise refused(op, f"may touch any memory: {footprint.unknown or 'its array is not known'}")
    if storage.kind is StorageKind.OWN:
        return
    if storage.kind is StorageKind.SHARED or (storage.kind is StorageKind.GLOBAL and footprint.writes):
        raise refused(op, "touches memory that all tile blocks share")
    if storage.kind is StorageKind.GLOBAL or storage.number in merged:
        return
    access = MemoryAccess.of(op)
    if access.updates:
        mode = op.attributes.get("mode")
        what = f"of mode {mode.text}" if isinstance(mode, AtomicMode) else "that compares"
        raise refused(op, f"is an update {what} whose result depends on the order of tile blocks")
    if access.is_strong:
        raise refused(op, "is no weak access: tile blocks may communicate by it")


def _require_own_place(entry: Entry) -> None:
    """Raise UnsupportedError where a function asks which tile block it runs in: its program is not changed."""
    inside = set(entry.walk())
    for op in reachable(entry):
        if isinstance(op, GetTileBlockId | GetNumTileBlocks) and op not in inside:
            raise refused(op, "asks for the tile block in a function that is not inlined")


# ---------------------------------------------------------------- one axis


def _along(
    axis: int,
    found: Sequence[tuple[Footprint, Op]],
    program: Program,
    merged: dict[int, AtomicMode],
    numbers: Sequence[int | None],
    sizes: Sequence[int],
    grid: tuple[int, int, int],
    count: int,
) -> BandPlan:
    bands = []
    for blocks in _ranges(grid[axis], count):
        extents = program.extents(numbers, grid, _blocks(grid, axis, blocks))
        for (_, op), extent in zip(found, extents):
            if isinstance(extent, Unmapped):
                raise refused(op, f"may touch any byte: {extent.why}")
        mapped = [extent for extent in extents if isinstance(extent, Extent)]
        bands.append(_band(blocks, found, mapped, merged, sizes))
    _require_apart(bands, found, merged)
    return BandPlan(axis, tuple(bands), merged)


def _ranges(extent: int, count: int) -> Iterator[Range]:
    """The numbers below `extent` in at most `count` runs of about the same length."""
    count = max(1, min(count, extent, MOST_BANDS))
    for at in range(count):
        yield at * extent // count, (at + 1) * extent // count


def _blocks(grid: tuple[int, int, int], axis: int, blocks: Range) -> Blocks:
    x, y, z = (blocks if at == axis else (0, grid[at]) for at in range(3))
    return x, y, z


def _band(
    blocks: Range,
    found: Sequence[tuple[Footprint, Op]],
    extents: Sequence[Extent],
    merged: dict[int, AtomicMode],
    sizes: Sequence[int],
) -> BandFootprint:
    band = BandFootprint(blocks, extents=list(extents))
    for (footprint, _), extent in zip(found, extents):
        storage = footprint.storage
        if storage is None or storage.kind is not StorageKind.PARAMETER or storage.number in merged:
            continue
        box = box_of(extent, sizes[storage.number])
        if box is None:
            continue
        # What may stay as it is must be there, to be given back unchanged.
        if footprint.reads or not extent.exact:
            _note(band.reads, storage.number, box)
        if footprint.writes:
            _note(band.writes, storage.number, box)
    return band


def _note(boxes: dict[int, list[ByteBox]], parameter: int, box: ByteBox) -> None:
    known = boxes.setdefault(parameter, [])
    if box not in known:
        known.append(box)


def _require_apart(
    bands: Sequence[BandFootprint], found: Sequence[tuple[Footprint, Op]], merged: dict[int, AtomicMode]
) -> None:
    """Raise UnsupportedError if a byte that one band writes is touched by another."""
    touching = [
        (at, footprint, op)
        for at, (footprint, op) in enumerate(found)
        if footprint.storage is not None
        and footprint.storage.kind is StorageKind.PARAMETER
        and footprint.storage.number not in merged
    ]
    writes = [one for one in touching if one[1].writes]
    for first, second in combinations(bands, 2):
        for at, footprint, op in writes:
            for other, touched, other_op in touching:
                if footprint.storage == touched.storage:
                    _require_disjoint(first.extents[at], second.extents[other], op, other_op)
                    _require_disjoint(second.extents[at], first.extents[other], op, other_op)


def _require_disjoint(written: Extent, touched: Extent, op: Op, other: Op) -> None:
    if max(written.low, touched.low) >= min(written.high, touched.high):
        return
    try:
        offset = common(written, touched)
    except TooHard:
        offset = written.low
    if offset is not None:
        place = "itself" if other is op else f"'{other.spec.name}' at {place_text(other.loc)}"
        raise refused(op, f"may write byte {offset} of an array that {place} touches in another band of tile blocks")
