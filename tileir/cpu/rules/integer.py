"""Native code for the integer and bitwise chapters (spec: integer#top).

Knows: which formula an operation with its attributes stands for. Division is in `cpu.rules.division`.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from tileir.cpu.emit.algebra import Int
from tileir.cpu.emit.elements import Num
from tileir.cpu.emit.formulas import condition, integer
from tileir.cpu.lowering.elementwise import PREDICATES, integers, pointwise
from tileir.cpu.lowering.state import Lower, Lowering
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


def _absolute(x: Int) -> Int:
    """MIN stays MIN."""
    return (x < 0).choose(-x, x)


def _high_product(x: Int, y: Int) -> Int:
    """The upper half of the unsigned product of twice the width; of i64 from products of halves, which vectorise."""
    if x.width == 64:
        return _high_product_i64(x, y)
    double = ir.IntType(2 * x.width)
    return ((x.extended(double) * y.extended(double)) >> x.width).truncated(x.type)


def _high_product_i64(x: Int, y: Int) -> Int:
    low_half = (1 << 32) - 1
    x_high, x_low, y_high, y_low = x >> 32, x & low_half, y >> 32, y & low_half
    middle = x_high * y_low + ((x_low * y_low) >> 32)
    carry = x_low * y_high + (middle & low_half)
    return x_high * y_high + (middle >> 32) + (carry >> 32)


def _shifted_left(x: Int, amount: Int) -> Int:
    """Zero from the width on."""
    shifted = x << (amount & (x.width - 1))
    return amount.below_unsigned(x.width).choose(shifted, 0) if x.width > 1 else x & ~amount


def _shifted_right(x: Int, amount: Int) -> Int:
    shifted = x >> (amount & (x.width - 1))
    return amount.below_unsigned(x.width).choose(shifted, 0) if x.width > 1 else x & ~amount


def _shifted_right_signed(x: Int, amount: Int) -> Int:
    """All sign bits from the width on."""
    return x.shifted_signed(amount.unsigned_minimum(x.width - 1)) if x.width > 1 else x


_PLAIN: dict[type[Op], Callable[..., Int]] = {
    AbsI: _absolute,
    AddI: Int.__add__,
    AndI: Int.__and__,
    MulI: Int.__mul__,
    MulhiI: _high_product,
    NegI: Int.__neg__,
    OrI: Int.__or__,
    ShlI: _shifted_left,
    SubI: Int.__sub__,
    XOrI: Int.__xor__,
}
_BY_READING: dict[type[Op], dict[Signedness, Callable[..., Int]]] = {
    MaxI: {Signedness.SIGNED: Int.signed_maximum, Signedness.UNSIGNED: Int.unsigned_maximum},
    MinI: {Signedness.SIGNED: Int.signed_minimum, Signedness.UNSIGNED: Int.unsigned_minimum},
    ShrI: {Signedness.SIGNED: _shifted_right_signed, Signedness.UNSIGNED: _shifted_right},
}


@rules(*_PLAIN)
def lower_plain(lowering: Lowering, op: Op) -> None:
    """Modulo 2^width whatever overflow promises (spec: undefined#catalogue)."""
    integers(lowering, op, _PLAIN[type(op)])


@rules(*_BY_READING)
def lower_by_reading(lowering: Lowering, op: MaxI | MinI | ShrI) -> None:
    integers(lowering, op, _BY_READING[type(op)][op.signedness])


@rules(CmpI)
def lower_cmpi(lowering: Lowering, op: CmpI) -> None:
    predicate, signed = PREDICATES[op.comparison_predicate], op.signedness is Signedness.SIGNED

    def compute(builder: ir.IRBuilder, lhs: Num, rhs: Num) -> Num:
        return condition(integer(builder, lhs).compared(predicate, integer(builder, rhs), signed))

    pointwise(lowering, op, compute)
