"""The number of floating-point operations in one execution of an operation.

Arithmetic counts if its result is a new float: an addition, multiplication, division, remainder, root or elementary
function is one for each element of the result, a fused multiply-add two, a matrix product two for each product in it.
Signs, comparisons, maxima, rounding to integers, conversions and moves are none.
"""

from __future__ import annotations

from math import prod

from tileir.ir import types as t
from tileir.ir.attributes import AtomicMode
from tileir.ir.core import Op
from tileir.ops import atomics, extension, floating, functions, matmul, reduction

ONE: frozenset[type[Op]] = frozenset(
    (
        floating.AddF,
        floating.SubF,
        floating.MulF,
        floating.DivF,
        floating.RemF,
        floating.Sqrt,
        functions.Rsqrt,
        functions.Exp,
        functions.Exp2,
        functions.Log,
        functions.Log2,
        functions.FPowF,
        functions.FPowI,
        functions.Sin,
        functions.Cos,
        functions.Tan,
        functions.Sinh,
        functions.Cosh,
        functions.Tanh,
        functions.Atan2,
        extension.Asin,
    )
)
"""Operations with one for each element of the result."""
NONE: frozenset[type[Op]] = frozenset(
    (
        floating.AbsF,
        floating.NegF,
        floating.Ceil,
        floating.Floor,
        floating.MaxF,
        floating.MinF,
        floating.CmpF,
    )
)
"""Operations on floats that have none."""


def flops_of(op: Op) -> int:
    """Return the number of floating-point operations in one execution; operations in bodies of reductions, scans and
    generators have their own."""
    if type(op) in ONE:
        return op.results[0].tile.count
    if isinstance(op, floating.Fma):
        return 2 * op.result.type.count
    if isinstance(op, matmul.MmaF | matmul.MmaFScaled):
        return 2 * op.result.type.count * op.lhs.type.shape[-1]
    return 0


def flops_of_update(op: Op, elements: int) -> int:
    """Return the number of floating-point operations in an update of `elements` elements of memory."""
    adds = isinstance(op, atomics.AtomicRmw | atomics.AtomicRedView) and op.mode is AtomicMode.ADDF
    return elements if adds else 0


def applications(op: Op) -> int | None:
    """Return how often the body of a reduction, scan or generator is applied to scalars; None for another operation.

    Combining a row takes one application fewer than it has elements.
    """
    if isinstance(op, extension.Generate):
        return op.result.type.count
    if not isinstance(op, reduction.Reduce | reduction.Scan):
        return None
    shape = t.checked_cast(op.sources[0].type, t.TileType).shape
    return prod(shape) - prod(shape[: op.dim] + shape[op.dim + 1 :])
