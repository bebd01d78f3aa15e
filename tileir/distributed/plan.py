"""The plan of a distributed launch: bands of tile blocks that are proved independent, and the data sent to each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import gcd, prod

from tileir.analysis.effects import MemoryAccess, reachable
from tileir.analysis.evaluation import Blocks
from tileir.analysis.extents import Extent, TooHard, common
from tileir.analysis.footprint import Footprint, op_footprints
from tileir.analysis.structure import Uses
from tileir.analysis.symbols import StorageKind
from tileir.distributed.footprints import BandFootprint, Boundary, Cut, Grid, GridFootprints, bands_of, cuts_of, refused
from tileir.ir.attributes import AtomicMode, MemoryOrdering
from tileir.ir.core import Op
from tileir.ir.diagnostics import UnsupportedError, place_text
from tileir.ops.atomics import AtomicRedView, AtomicRmw
from tileir.ops.core import GetNumTileBlocks, GetTileBlockId
from tileir.ops.module import Entry

MOST_BANDS = 4096


@dataclass(frozen=True)
class BandPlan:
    """Bands of a grid, with the axes along which it is cut; `merged` are the parameters that bands update, with the
    mode."""

    axes: tuple[int, ...]
    bands: tuple[BandFootprint, ...]
    merged: dict[int, AtomicMode]


@dataclass(frozen=True)
class PlaceRules:
    """The demands of the arrays' storage on a plan.

    `accept` raises UnsupportedError for bands that it cannot serve; `allowed` says whether a grid may be cut in two
    halves that touch so much. No band may take more than `memory` bytes, which `why` explains; the parameters `mapped`
    are files.
    """

    accept: Callable[[Sequence[BandFootprint]], None] = lambda bands: None
    allowed: Callable[[BandFootprint, BandFootprint], bool] | None = None
    memory: int | None = None
    why: str = ""
    mapped: tuple[int, ...] = ()


def planned(
    entry: Entry,
    numbers: Sequence[int | None],
    sizes: Sequence[int],
    grid: Grid,
    count: int,
    rules: PlaceRules = PlaceRules(),
) -> BandPlan:
    """`count` bands, or the next smaller number that the grid can be cut into, so that the least travels.

    `numbers` are the integer arguments, `sizes` the bytes of each array. There are more bands where these take too much
    memory. Raises UnsupportedError with the reason and the place if the tile blocks cannot be taken apart along any
    axis, or not within the memory.
    """
    found = op_footprints(entry)
    merged = merged_updates(entry, found)
    for footprint, op in found:
        require_known(footprint, op, merged)
    require_own_place(entry)
    planning = _Planning(GridFootprints(found, merged, numbers, sizes, grid), rules)
    count = max(1, min(count, MOST_BANDS))
    while (plan := planning.best(count)) is None:
        if count >= min(MOST_BANDS, prod(grid)):
            raise planning.too_large()
        count = min(2 * count, MOST_BANDS)
    return plan


# ---------------------------------------------------------------- the best cut


class _Planning:
    """The search for the cut by which the least travels."""

    def __init__(self, footprints: GridFootprints, rules: PlaceRules) -> None:
        self.footprints = footprints
        self.rules = rules
        self.least_memory: int | None = None
        self._boundaries: dict[tuple[int, int], bool] = {}

    def best(self, count: int) -> BandPlan | None:
        """Return the best plan with so many bands; None if all take too much memory. Raises UnsupportedError."""
        refusals: list[UnsupportedError] = []
        too_large = False
        for bands in self._ordered(count, refusals):
            if not self._fits(bands):
                too_large = True
                continue
            try:
                require_apart(self.footprints, bands)
                self.rules.accept(bands)
            except UnsupportedError as error:
                refusals.append(error)
                continue
            return BandPlan(_axes(self.footprints.grid, bands), tuple(bands), self.footprints.merged)
        if too_large:
            return None
        raise refusals[0]

    def _ordered(self, count: int, refusals: list[UnsupportedError]) -> list[list[BandFootprint]]:
        """Return the bands of each cut: those with the most bands first, of these those with which the least travels,
        and the fewest pages are touched."""
        found: dict[Cut, list[BandFootprint]] = {}
        for cut in cuts_of(self.footprints.grid, count):
            try:
                found[cut] = [*map(self.footprints.band, bands_of(self.footprints.grid, cut, self._boundary()))]
            except UnsupportedError as error:
                refusals.append(error)
        return sorted(found.values(), key=_cost)

    def _boundary(self) -> Boundary | None:
        return None if self.rules.allowed is None else self._allows

    def _allows(self, axis: int, at: int) -> bool:
        """Return whether the grid may be cut before a tile block."""
        if (axis, at) not in self._boundaries:
            first, last = (self.footprints.band(half) for half in _halves(self.footprints.grid, axis, at))
            assert self.rules.allowed is not None
            self._boundaries[axis, at] = self.rules.allowed(first, last)
        return self._boundaries[axis, at]

    def _fits(self, bands: Sequence[BandFootprint]) -> bool:
        if self.rules.memory is None:
            return True
        most = max(band.memory(self.rules.mapped) for band in bands) + self.footprints.merged_memory()
        self.least_memory = most if self.least_memory is None else min(most, self.least_memory)
        return most <= self.rules.memory

    def too_large(self) -> UnsupportedError:
        what = f"a band takes {self.least_memory} bytes of a worker's memory or more, and may take {self.rules.memory}"
        return UnsupportedError(what + self.rules.why, "distributed")


def _cost(bands: Sequence[BandFootprint]) -> tuple[int, int, int]:
    return -len(bands), sum(band.size for band in bands), sum(band.memory() for band in bands)


def _halves(grid: Grid, axis: int, at: int) -> Iterator[Blocks]:
    for half in ((0, at), (at, grid[axis])):
        x, y, z = (half if number == axis else (0, grid[number]) for number in range(3))
        yield x, y, z


def _axes(grid: Grid, bands: Sequence[BandFootprint]) -> tuple[int, ...]:
    """Return the axes along which there is more than one band; the first, if there is one band."""
    return tuple(axis for axis in range(3) if any(band.blocks[axis] != (0, grid[axis]) for band in bands)) or (0,)


MERGED = (
    AtomicMode.ADD, AtomicMode.AND, AtomicMode.OR, AtomicMode.XOR, AtomicMode.MAX, AtomicMode.MIN, AtomicMode.UMAX,
    AtomicMode.UMIN,
)  # fmt: skip
"""Updates whose order does not matter to the last bit. ADDF rounds, and XCHG keeps the last."""


def merged_updates(entry: Entry, found: Sequence[tuple[Footprint, Op]]) -> dict[int, AtomicMode]:
    """Return the parameters that are accessed by updates of one mode alone whose old values nobody uses."""
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


def require_known(footprint: Footprint, op: Op, merged: dict[int, AtomicMode]) -> None:
    """Raise UnsupportedError for an access that may tie tile blocks together, or about which nothing is known."""
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


def require_own_place(entry: Entry) -> None:
    """Raise UnsupportedError where a function asks which tile block it runs in: its program is not changed."""
    inside = set(entry.walk())
    for op in reachable(entry):
        if isinstance(op, GetTileBlockId | GetNumTileBlocks) and op not in inside:
            raise refused(op, "asks for the tile block in a function that is not inlined")


# ---------------------------------------------------------------- bands


@dataclass(frozen=True, slots=True)
class _Touch:
    """The memory that one access of one band touches; `wide`: the part that goes back.

    All bytes of both are `place` to ``place + run - 1`` behind a multiple of `step`; 0
    if that says nothing.
    """

    band: int
    at: int
    extent: Extent
    wide: Extent
    writes: bool
    step: int
    place: int

    @classmethod
    def of(cls, band: int, at: int, extent: Extent, wide: Extent, writes: bool) -> _Touch:
        step = gcd(*(distance for _, distance in extent.dims)) if wide is extent else 0
        return cls(band, at, extent, wide, writes, step, extent.start % step if step else 0)

    def is_beside(self, other: _Touch) -> bool:
        """Return whether the other touches none of these bytes because it is in other columns, as most bands are."""
        if self.step != other.step or not self.step:
            return False
        apart: int = (other.place - self.place) % self.step
        return self.extent.run <= apart <= self.step - other.extent.run


def require_apart(footprints: GridFootprints, bands: Sequence[BandFootprint]) -> None:
    """Raise UnsupportedError if a byte that one band writes is touched by another."""
    by_parameter: dict[int, list[_Touch]] = {}
    for at, (footprint, _) in enumerate(footprints.found):
        parameter = footprints.parameter(at)
        if parameter is not None:
            for number, band in enumerate(bands):
                extent = footprints.extent(at, band.blocks)
                wide = footprints.changed(at, band.blocks) if footprint.writes else extent
                if not extent.empty:
                    touch = _Touch.of(number, at, extent, wide, footprint.writes)
                    by_parameter.setdefault(parameter, []).append(touch)
    for touches in by_parameter.values():
        if any(touch.writes for touch in touches):
            _require_touches_apart(
                footprints, sorted(touches, key=lambda touch: (touch.wide.low, touch.band, touch.at))
            )


def _require_touches_apart(footprints: GridFootprints, touches: Sequence[_Touch]) -> None:
    """Compare those that overlap from their first to their last byte; they come by their first."""
    active: list[_Touch] = []
    for touch in touches:
        active = [one for one in active if one.wide.high > touch.wide.low]
        for one in active:
            if one.band != touch.band and (one.writes or touch.writes) and not one.is_beside(touch):
                _require_disjoint(footprints, one, touch)
        active.append(touch)


def _require_disjoint(footprints: GridFootprints, one: _Touch, other: _Touch) -> None:
    both = one.writes and other.writes
    first, second = (one.wide, other.wide) if both else (one.extent, other.extent)
    if max(first.low, second.low) >= min(first.high, second.high):
        return
    try:
        offset = common(first, second)
    except TooHard:
        offset = max(first.low, second.low)
    if offset is not None:
        writing, touching = (one, other) if one.writes else (other, one)
        op, touched = footprints.found[writing.at][1], footprints.found[touching.at][1]
        place = "itself" if touched is op else f"'{touched.spec.name}' at {place_text(touched.loc)}"
        raise refused(op, f"may write byte {offset} of an array that {place} touches in another band of tile blocks")
