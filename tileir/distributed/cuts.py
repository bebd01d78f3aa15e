"""Cuts of a grid of tile blocks into bands, along one axis or two.

Knows: which cuts give as many bands as are wanted, and their ranges. Does not know: what bands touch, and which cut is
best (`plan`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, product
from math import prod

from tileir.analysis.evaluation import Blocks

Grid = tuple[int, int, int]
Cut = tuple[int, int, int]
"""Bands along each axis."""
Range = tuple[int, int]
Boundary = Callable[[int, int], bool]
"""Whether the grid may be cut before a tile block: the axis, and the number of the tile block along it."""


def cuts_of(grid: Grid, count: int) -> list[Cut]:
    """The cuts with the most bands that are no more than `count`, along two axes at most; then, with the most bands
    first, those along one axis alone that have fewer. Of those with the same number the first cut most along x."""
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
    """The tile blocks of each band, the first axis changing fastest."""
    ranges = [list(_ranges(axis, grid[axis], cut[axis], allowed)) for axis in range(3)]
    for z, y, x in product(*reversed(ranges)):
        yield x, y, z


def _ranges(axis: int, extent: int, count: int, allowed: Boundary | None) -> Iterator[Range]:
    """The numbers below `extent` in at most `count` runs of about the same length, cut where that is allowed."""
    wanted = [at * extent // count for at in range(1, count)]
    if allowed is not None:
        # Behind the next boundary that is wanted, that one finds it.
        found = (_nearest(axis, at, extent, extent // count + 1, allowed) for at in wanted)
        wanted = sorted({at for at in found if at is not None})
    return zip([0, *wanted], [*wanted, extent])


def _nearest(axis: int, wanted: int, extent: int, within: int, allowed: Boundary) -> int | None:
    """The boundary that is allowed next to one that is wanted; None if there is none."""
    for distance in range(within + 1):
        for at in (wanted - distance, wanted + distance):
            if 0 < at < extent and allowed(axis, at):
                return at
    return None
