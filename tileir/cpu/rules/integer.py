"""Native code for the integer and bitwise chapters (spec: integer#top).

Knows: which formula an operation with its attributes stands for. Division is in `cpu.rules.division`.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from tileir.cpu.emit.algebra import Flag, Int
from tileir.cpu.emit.elements import Num
from tileir.cpu.emit.tiles import condition, integer
from tileir.cpu.lowering.elementwise import (
    PREDICATES,
    Offends,
    integers,
    pointwise,
    trap_where_elements,
    warn_where_elements,
)
from tileir.cpu.lowering.state import Lower, Lowering
from tileir.host import undefined
from tileir.ir.attributes import Signedness
from tileir.ir.core import Op
from tileir.ir.rules import Rules
from tileir.numerics.promises import promised, promised_readings
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
strict: Rules[Lower] = Rules()


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


# ---------------------------------------------------------------- what strict mode looks for


def _sum_overflows(x: Int, y: Int) -> Flag:
    """The sum has another sign than both operands."""
    total = x + y
    return ((x ^ total) & (y ^ total)) < 0


def _difference_overflows(x: Int, y: Int) -> Flag:
    """The operands differ in sign and the difference differs from the first."""
    return ((x ^ y) & (x ^ (x - y))) < 0


def _shift_overflows(x: Int, amount: Int) -> Flag:
    """Shifting back does not restore the operand."""
    return _shifted_right(_shifted_left(x, amount), amount).differs(x)


def _signed_shift_overflows(x: Int, amount: Int) -> Flag:
    return _shifted_right_signed(_shifted_left(x, amount), amount).differs(x)


_OVERFLOWS: dict[type[Op], dict[Signedness, Offends]] = {
    AddI: {Signedness.SIGNED: _sum_overflows, Signedness.UNSIGNED: lambda x, y: (x + y).below_unsigned(x)},
    MulI: {Signedness.SIGNED: Int.signed_product_overflows, Signedness.UNSIGNED: Int.unsigned_product_overflows},
    ShlI: {Signedness.SIGNED: _signed_shift_overflows, Signedness.UNSIGNED: _shift_overflows},
    SubI: {Signedness.SIGNED: _difference_overflows, Signedness.UNSIGNED: Int.below_unsigned},
}


@strict(AddI, MulI, SubI)
def keep_promise(lowering: Lowering, op: AddI | MulI | ShlI | SubI) -> None:
    for reading in promised_readings(op.overflow):
        trap_where_elements(lowering, op, _OVERFLOWS[type(op)][reading], undefined.overflow(op.overflow, reading))


@strict(NegI)
def keep_negation(lowering: Lowering, op: NegI) -> None:
    """Only the signed reading is concerned: every negation but that of 0 wraps when unsigned."""
    if promised(op.overflow, Signedness.SIGNED):
        trap_where_elements(lowering, op, lambda x: x.differs(0) & (-x).equals(x), undefined.NEGATION)


@strict(ShlI)
def look_at_left_shift(lowering: Lowering, op: ShlI) -> None:
    keep_promise(lowering, op)
    look_at_shift(lowering, op)


@strict(ShrI)
def look_at_shift(lowering: Lowering, op: ShlI | ShrI) -> None:
    width = op.lhs.tile.number.bits
    warn_where_elements(lowering, op, lambda x, amount: amount.at_least_unsigned(width), undefined.SHIFT)
