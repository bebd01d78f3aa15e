"""Native code for the integer and bitwise chapters (specification 8.8, 8.9).

Knows: which formula an operation with its attributes stands for. Division is in `cpu.division`.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from tileir.cpu.algebra import Whole
from tileir.cpu.elements import Num
from tileir.cpu.elementwise import PREDICATES, condition, pointwise, whole, wholes
from tileir.cpu.lowering import Lower, Lowering
from tileir.ir.attributes import Signedness
from tileir.ir.core import Op
from tileir.ir.rules import Rules
from tileir.ops.integer import (
    AbsI,
    AddI,
    AndI,
    CmpI,
    MaxI,
    MinI,
    MulhiI,
    MulI,
    NegI,
    OrI,
    ShlI,
    ShrI,
    SubI,
    XOrI,
)

rules: Rules[Lower] = Rules()


def _absolute(x: Whole) -> Whole:
    """MIN stays MIN."""
    return (x < 0).choose(-x, x)


def _high_product(x: Whole, y: Whole) -> Whole:
    """The upper half of the unsigned product of twice the width; of i64 from products of halves, which vectorise."""
    if x.width == 64:
        return _high_product_i64(x, y)
    double = ir.IntType(2 * x.width)
    return ((x.extended(double) * y.extended(double)) >> x.width).truncated(x.type)


def _high_product_i64(x: Whole, y: Whole) -> Whole:
    low_half = (1 << 32) - 1
    x_high, x_low, y_high, y_low = x >> 32, x & low_half, y >> 32, y & low_half
    middle = x_high * y_low + ((x_low * y_low) >> 32)
    carry = x_low * y_high + (middle & low_half)
    return x_high * y_high + (middle >> 32) + (carry >> 32)


def _shifted_left(x: Whole, amount: Whole) -> Whole:
    """Zero from the width on."""
    shifted = x << (amount & (x.width - 1))
    return amount.below_unsigned(x.width).choose(shifted, 0) if x.width > 1 else x & ~amount


def _shifted_right(x: Whole, amount: Whole) -> Whole:
    shifted = x >> (amount & (x.width - 1))
    return amount.below_unsigned(x.width).choose(shifted, 0) if x.width > 1 else x & ~amount


def _shifted_right_signed(x: Whole, amount: Whole) -> Whole:
    """All sign bits from the width on."""
    return x.shifted_signed(amount.unsigned_minimum(x.width - 1)) if x.width > 1 else x


_PLAIN: dict[type[Op], Callable[..., Whole]] = {
    AbsI: _absolute,
    AddI: Whole.__add__,
    AndI: Whole.__and__,
    MulI: Whole.__mul__,
    MulhiI: _high_product,
    NegI: Whole.__neg__,
    OrI: Whole.__or__,
    ShlI: _shifted_left,
    SubI: Whole.__sub__,
    XOrI: Whole.__xor__,
}
_BY_READING: dict[tuple[type[Op], Signedness], Callable[..., Whole]] = {
    (MaxI, Signedness.SIGNED): Whole.signed_maximum,
    (MaxI, Signedness.UNSIGNED): Whole.unsigned_maximum,
    (MinI, Signedness.SIGNED): Whole.signed_minimum,
    (MinI, Signedness.UNSIGNED): Whole.unsigned_minimum,
    (ShrI, Signedness.SIGNED): _shifted_right_signed,
    (ShrI, Signedness.UNSIGNED): _shifted_right,
}


@rules(AbsI, AddI, AndI, MulI, MulhiI, NegI, OrI, ShlI, SubI, XOrI)
def lower_plain(lowering: Lowering, op: Op) -> None:
    """Modulo 2^width whatever overflow promises (specification, semantics 11)."""
    wholes(lowering, op, _PLAIN[type(op)])


@rules(MaxI, MinI, ShrI)
def lower_by_reading(lowering: Lowering, op: MaxI | MinI | ShrI) -> None:
    wholes(lowering, op, _BY_READING[type(op), op.signedness])


@rules(CmpI)
def lower_cmpi(lowering: Lowering, op: CmpI) -> None:
    predicate, signed = PREDICATES[op.comparison_predicate], op.signedness is Signedness.SIGNED

    def compute(builder: ir.IRBuilder, lhs: Num, rhs: Num) -> Num:
        return condition(whole(builder, lhs).compared(predicate, whole(builder, rhs), signed))

    pointwise(lowering, op, compute)
