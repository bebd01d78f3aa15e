"""Accesses through pointers to rows of memory: each row lies anywhere, its elements side by side.

    %chosen = load ... : tile<16x1xi64>                          a row of the table for each row of the tile
    %at = offset %table, %chosen * 256 + %lanes : tile<16x256xptr<f32>>

A mask may leave out whole rows, and the end of all rows alike.

Knows: which tiles of pointers and which masks are such. Does not know: LLVM, boxes of memory, whose rows are evenly
apart (`cpu.analysis.cuts`), nor how rows are read and written (`cpu.memory.regions`).
"""

from __future__ import annotations

from dataclasses import dataclass

from tileir.analysis import affine
from tileir.analysis.affine import Affines
from tileir.analysis.effects import MemoryAccess
from tileir.cpu.analysis.cuts import DEEPEST, WHOLE, Cut, Cuts
from tileir.ir.core import Value
from tileir.ops import integer

LEAST = 64
"""Bytes of the shortest row that is moved as one."""
_LOGIC = (integer.CmpI, integer.AndI, integer.OrI, integer.XOrI)


@dataclass(frozen=True)
class RowAccess:
    """An access to rows along `dim`. The comparisons of `ends` say where all rows end; besides, the mask is the same
    all along a row."""

    dim: int
    ends: Cut


def row_access(known: Affines, cuts: Cuts, access: MemoryAccess) -> RowAccess | None:
    """How a weak access through pointers moves rows; None if it is not seen to."""
    pointers = access.address.tile
    pointee = pointers.pointer.pointee
    found, size = known.of(access.address), pointee.byte_size
    dim = affine.unit_dimension(found, pointers.shape, size)
    if dim is None or pointers.shape[dim] * size < LEAST or not affine.is_even_along(found, dim, pointers.shape):
        return None
    if access.writes and any(extent > 1 for extent in pointers.shape[dim + 1 :]):
        return None  # elements that share a place are written in row-major order
    ends = WHOLE if access.mask is None else _ends(known, cuts, access.mask, dim, DEEPEST)
    if ends is None:
        return None
    cuts.compare(ends)
    return RowAccess(dim, ends)


def _ends(known: Affines, cuts: Cuts, mask: Value, dim: int, depth: int) -> Cut | None:
    """The comparisons that cut the rows of a mask at one place."""
    if _is_uniform(known, mask, dim, depth):
        return WHOLE
    cut = cuts.of_mask(mask)
    if cut is not None and all(term.dim == dim for term in cut):
        return cut
    if not isinstance(mask.op, integer.AndI) or not depth:
        return None
    left, right = (_ends(known, cuts, side, dim, depth - 1) for side in (mask.op.lhs, mask.op.rhs))
    return None if left is None or right is None else left | right


def _is_uniform(known: Affines, value: Value, dim: int, depth: int) -> bool:
    """Whether the elements of a tile of integers are equal along a dimension."""
    if affine.is_uniform_along(known.of(value), dim, value.tile.shape):
        return True
    op = value.op
    return (
        isinstance(op, _LOGIC) and depth > 0 and all(_is_uniform(known, side, dim, depth - 1) for side in op.operands)
    )
