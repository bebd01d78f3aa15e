"""The grid of a launch (spec: launch#grid)."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import SupportsIndex

from tileir.ir.escaping import shown

Grid = tuple[int, int, int]
GridLike = SupportsIndex | Iterable[SupportsIndex]

MAX_EXTENT = (1 << 24) - 1
"""Tile blocks along one axis."""


def checked_grid(grid: GridLike, kernel: str) -> Grid:
    """Return the extents along x, y and z; those left out are 1.

    Raises TypeError for what is not 1 to 3 integers, ValueError for an extent that is not in [1, 2^24 - 1].
    """
    if type(grid) is int and 0 < grid <= MAX_EXTENT:
        return grid, 1, 1
    if type(grid) is tuple and (usual := usual_grid(grid)) is not None:
        return usual
    short = getattr(grid, "shape", (1,)) in ((1,), (2,), (3,))
    entries = grid if short and isinstance(grid, Iterable) and not isinstance(grid, str | bytes) else [grid]
    extents = [_extent(entry, kernel, grid) for entry in entries]
    if not 1 <= len(extents) <= 3:
        raise ValueError(
            f"kernel @{shown(kernel)}, grid: expected 1 to 3 positive integers, got {len(extents)} of them"
        )
    x, y, z = [*extents, 1, 1][:3]
    return x, y, z


def usual_grid(grid: tuple[object, ...]) -> Grid | None:
    """Return the extents of a tuple of 1 to 3 of Python's integers in range; None for another."""
    if not 1 <= len(grid) <= 3:
        return None
    x, y, z = (*grid, 1, 1)[:3]
    if type(x) is int and type(y) is int and type(z) is int and 0 < x <= MAX_EXTENT >= y > 0 < z <= MAX_EXTENT:
        return x, y, z
    return None


def _extent(entry: object, kernel: str, grid: GridLike) -> int:
    if isinstance(entry, bool) or not hasattr(entry, "__index__") or getattr(entry, "shape", None):
        short = grid is None or isinstance(grid, str | bytes | float | bool | tuple | list)
        otherwise = f"an object of type {type(grid).__name__}; the grid comes before the kernel's arguments"
        got = f"{grid!r:.60}" if short else otherwise
        raise TypeError(f"kernel @{shown(kernel)}, grid: expected 1 to 3 positive integers, got {got}")
    extent = operator.index(entry)
    if not 1 <= extent <= MAX_EXTENT:
        raise ValueError(f"kernel @{shown(kernel)}, grid: expected extents in [1, {MAX_EXTENT}], got {extent}")
    return extent
