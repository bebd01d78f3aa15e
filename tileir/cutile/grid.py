"""The grid of a launch, as `cuda.tile.launch` checks it.

Errors have the same types and messages as cuTile's.
"""

from __future__ import annotations

from tileir.cutile.errors import type_name, worded
from tileir.runtime.grid import MAX_EXTENT, Grid, checked_grid, usual_grid

_C_UNSIGNED, _C_UNSIGNED_LONG = 1 << 32, 1 << 64


def cutile_grid(grid: object, kernel: str) -> Grid:
    """Return the extents along x, y and z; those left out are 1.

    Raises TypeError for what is no tuple of Python's integers, ValueError and OverflowError for extents out of range.
    """
    if type(grid) is tuple and (usual := usual_grid(grid)) is not None:
        return usual
    if not isinstance(grid, tuple):
        ours = f"kernel '{kernel}': expected a tuple as the grid, got {type_name(grid)}"
        raise worded(TypeError, "Grid must be a tuple", ours)
    if len(grid) > 3:
        ours = f"kernel '{kernel}', grid: expected 1 to 3 integers"
        raise worded(ValueError, f"Grid dimensions must be at most 3, got length {len(grid)}", ours)
    for axis, extent in enumerate(grid):
        if type(extent) is not int or not 0 < extent <= MAX_EXTENT:
            _check_extent(axis, extent, kernel)
    return checked_grid(tuple(map(int, grid)) or (1,), kernel)


def _check_extent(axis: int, extent: object, kernel: str) -> None:
    ours = f"kernel '{kernel}', grid[{axis}]: expected an integer in [1, {MAX_EXTENT}], got "
    if not isinstance(extent, int):
        raise worded(TypeError, "an integer is required", ours + type_name(extent))
    if extent < 0:
        raise worded(OverflowError, "can't convert negative value to unsigned int", ours + str(int(extent)))
    if extent >= _C_UNSIGNED_LONG:
        raise worded(OverflowError, "Python int too large to convert to C unsigned long", ours + hex(extent))
    if extent >= _C_UNSIGNED:
        raise worded(ValueError, f"Grid[{axis}] value too big: {extent}", ours + str(extent))
    if extent > MAX_EXTENT:
        limit = f"Grid[{axis}] exceeds 24-bit limit: max={MAX_EXTENT}, got={extent}."
        raise worded(ValueError, f"{limit} Use multiple kernel launches for larger workloads.", ours + str(extent))
