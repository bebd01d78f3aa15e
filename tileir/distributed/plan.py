"""Bands of a grid that may run apart, cut so that the least travels.

Knows: the order in which cuts are tried, and what the places of arrays ask of them. Does not know: how a grid is cut
(`cuts`), what bands touch (`footprints`), whether they may run apart (`independence`), workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from tileir.analysis.evaluation import Blocks
from tileir.analysis.footprint import op_footprints
from tileir.distributed.cuts import Boundary, Cut, Grid, bands_of, cuts_of
from tileir.distributed.footprints import BandFootprint, GridFootprints
from tileir.distributed.independence import merged_updates, require_apart, require_known, require_own_place
from tileir.ir.attributes import AtomicMode
from tileir.ir.diagnostics import UnsupportedError
from tileir.ops.module import Entry

MOST_BANDS = 4096


@dataclass(frozen=True)
class BandPlan:
    """Bands of a grid, with the axes along which it is cut; `merged` are the parameters that bands update, with the
    mode."""

    axes: tuple[int, ...]
    bands: tuple[BandFootprint, ...]
    merged: dict[int, AtomicMode]

    @property
    def size(self) -> int:
        """Bytes that travel."""
        return sum(band.size for band in self.bands)


@dataclass(frozen=True)
class PlaceRules:
    """What the places of arrays ask of a plan.

    `accept` raises UnsupportedError for bands that these cannot do; `allowed` says whether a grid may be cut in two
    halves that touch so much. No band may take more than `memory` bytes for the parameters `held`, by default all.
    """

    accept: Callable[[Sequence[BandFootprint]], None] = lambda bands: None
    allowed: Callable[[BandFootprint, BandFootprint], bool] | None = None
    memory: int | None = None
    held: tuple[int, ...] | None = None


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
        """The best plan with so many bands; None if all take too much memory. Raises UnsupportedError."""
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
        """The bands of each cut: those with the most bands first, of these those with which the least travels, and the
        fewest pages are touched."""
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
        """Whether the grid may be cut before a tile block."""
        if (axis, at) not in self._boundaries:
            first, last = (self.footprints.band(half) for half in _halves(self.footprints.grid, axis, at))
            assert self.rules.allowed is not None
            self._boundaries[axis, at] = self.rules.allowed(first, last)
        return self._boundaries[axis, at]

    def _fits(self, bands: Sequence[BandFootprint]) -> bool:
        if self.rules.memory is None:
            return True
        held = self.rules.held
        most = max(band.memory(held) for band in bands) + self.footprints.merged_memory(held)
        self.least_memory = most if self.least_memory is None else min(most, self.least_memory)
        return most <= self.rules.memory

    def too_large(self) -> UnsupportedError:
        what = f"a band takes {self.least_memory} bytes of a worker's memory or more, and may take {self.rules.memory}"
        return UnsupportedError(what, "distributed")


def _cost(bands: Sequence[BandFootprint]) -> tuple[int, int, int]:
    return -len(bands), sum(band.size for band in bands), sum(band.memory() for band in bands)


def _halves(grid: Grid, axis: int, at: int) -> Iterator[Blocks]:
    for half in ((0, at), (at, grid[axis])):
        x, y, z = (half if number == axis else (0, grid[number]) for number in range(3))
        yield x, y, z


def _axes(grid: Grid, bands: Sequence[BandFootprint]) -> tuple[int, ...]:
    """The axes along which there is more than one band; the first, if there is one band."""
    return tuple(axis for axis in range(3) if any(band.blocks[axis] != (0, grid[axis]) for band in bands)) or (0,)
