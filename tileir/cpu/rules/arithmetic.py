"""Native code for element-wise arithmetic (spec: integer#top, floating#top, functions#top).

Each operation, with its attributes and element type, is a formula on registers, from a table or handed to a helper; the
functions of floats are in `cpu.mathlib`.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from tileir.cpu.emit.algebra import Flag, Int, Real
from tileir.cpu.emit.elements import DOUBLE, I32, Num
from tileir.cpu.emit.tiles import Compute, Formula, condition, held, integer, real, rounded
from tileir.cpu.lowering.elementwise import (
    PREDICATES,
    Offends,
    element_of,
    integers,
    pointwise,
    reals,
    trap_where_elements,
    warn_where_elements,
)
from tileir.cpu.lowering.reports import Broken, any_where, trap_where
from tileir.cpu.lowering.state import Lower, Lowering
from tileir.cpu.mathlib import arithmetic, exponential, trigonometric
from tileir.cpu.mathlib.arithmetic import flushing_if_asked
from tileir.cpu.memory.guards import count_active, note_rising
from tileir.host import undefined
from tileir.ir import types as t
from tileir.ir.attributes import DenseElements, Ordering, Rounding, Signedness
from tileir.ir.core import Op, Value
from tileir.ir.rules import Rules
from tileir.numerics.promises import promised, promised_readings
from tileir.ops.core import Constant
from tileir.ops.division import DivI, RemI
from tileir.ops.floating import AbsF, AddF, Ceil, CmpF, DivF, Floor, Fma, MaxF, MinF, MulF, NegF, RemF, Sqrt, SubF
from tileir.ops.functions import Atan2, Cos, Cosh, Exp, Exp2, FPowF, FPowI, Log, Log2, Rsqrt, Sin, Sinh, Tan, Tanh
from tileir.ops.integer import AbsI, AddI, AndI, CmpI, MaxI, MinI, MulhiI, MulI, NegI, OrI, ShlI, ShrI, SubI, XOrI
from tileir.ops.shapes import Broadcast, Permute, Reshape

# ---------------------------------------------------------------- integers and bits


rules: Rules[Lower] = Rules()
strict: Rules[Lower] = Rules()


def _absolute(x: Int) -> Int:
    """Return the magnitude; MIN stays MIN."""
    return (x < 0).choose(-x, x)


def _high_product(x: Int, y: Int) -> Int:
    """Return the upper half of the unsigned product of twice the width; of i64 from products of halves, which
    vectorise."""
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
    """Shift right; from the width on the result consists of sign bits."""
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
    """Compute modulo 2^width whatever `overflow` promises (spec: undefined#catalogue)."""
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
    count_active(lowering, op)


# ---------------------------------------------------------------- what strict mode looks for


def _sum_overflows(x: Int, y: Int) -> Flag:
    """Return whether the sum has another sign than both operands."""
    total = x + y
    return ((x ^ total) & (y ^ total)) < 0


def _difference_overflows(x: Int, y: Int) -> Flag:
    """Return whether the operands differ in sign and the difference differs from the first."""
    return ((x ^ y) & (x ^ (x - y))) < 0


def _shift_overflows(x: Int, amount: Int) -> Flag:
    """Return whether shifting back does not restore the operand."""
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
    """Check only the signed reading: every negation except that of 0 wraps when unsigned."""
    if promised(op.overflow, Signedness.SIGNED):
        trap_where_elements(lowering, op, lambda x: x.differs(0) & (-x).equals(x), undefined.NEGATION)


@strict(ShlI)
def check_left_shift(lowering: Lowering, op: ShlI) -> None:
    keep_promise(lowering, op)
    check_shift(lowering, op)


@strict(ShrI)
def check_shift(lowering: Lowering, op: ShlI | ShrI) -> None:
    width = op.lhs.tile.number.bits
    warn_where_elements(lowering, op, lambda x, amount: amount.at_least_unsigned(width), undefined.SHIFT)


# ---------------------------------------------------------------- division of integers
#
# A zero divisor stops the launch. It is looked for before anything is divided, in a loop of its own, so that the loop
# that divides stays free of branches; whatever happens, no instruction divides by zero or overflows.


@rules(DivI)
def lower_divi(lowering: Lowering, op: DivI) -> None:
    trap_on_zero(lowering, op, op.rhs)
    signed, single = op.signedness is Signedness.SIGNED, op.result.type.count == 1

    def divided(x: Int, y: Int) -> Int:
        return _divided(x, y, signed, op.rounding, single)

    integers(lowering, op, divided)


@rules(RemI)
def lower_remi(lowering: Lowering, op: RemI) -> None:
    trap_on_zero(lowering, op, op.rhs)
    signed, single = op.signedness is Signedness.SIGNED, op.result.type.count == 1

    def remainder(x: Int, y: Int) -> Int:
        return x - _divided(x, y, signed, Rounding.ZERO, single) * y

    integers(lowering, op, remainder)
    note_rising(lowering, op.result)


@strict(DivI)
def check_quotient(lowering: Lowering, op: DivI) -> None:
    """Look for the smallest integer divided by -1, which does not fit."""
    if op.signedness is Signedness.SIGNED:
        trap_where_elements(lowering, op, lambda x, y: x.differs(0) & (-x).equals(x) & y.equals(-1), undefined.QUOTIENT)


# ---------------------------------------------------------------- zero divisors


def trap_on_zero(lowering: Lowering, op: Op, divisor: Value) -> None:
    """Stop the launch if any element of the divisor, the second operand of `op`, is zero."""
    divisor = _origin(divisor)
    if isinstance(divisor.op, Constant) and not _has_zero(divisor.op.value):
        return
    emit, all_of = lowering.emit, op.operands[1]
    found = any_where(emit, divisor.tile, _is_zero(lowering, divisor))
    with emit.when(found, likely=False), emit.rarely(), emit.region():
        trap_where(lowering, op, all_of.tile, _is_zero(lowering, all_of), undefined.DIVISION_BY_ZERO)


def _is_zero(lowering: Lowering, divisor: Value) -> Broken:
    emit, tile = lowering.emit, lowering.tile(divisor)
    return lambda index: integer(emit.builder, tile.at(emit, index)).equals(0).value


def _origin(value: Value) -> Value:
    """Return the value whose elements these are: shape operations only repeat and move them."""
    while isinstance(value.op, Broadcast | Reshape | Permute):
        value = value.op.operands[0]
    return value


def _has_zero(value: DenseElements) -> bool:
    size = value.element.byte_size
    return any(not any(value.data[at : at + size]) for at in range(0, len(value.data), size))


# ---------------------------------------------------------------- quotients

ABOVE_ONE = 1 + 2.0**-50
"""What is so much more than 1 that no quotient of i32 is rounded to less than it is, and so little that none reaches
the next integer."""


def _divided(x: Int, y: Int, signed: bool, rounding: Rounding, single: bool) -> Int:
    """Return the quotient; of MIN and -1 it is MIN, of zero anything."""
    if x.width < 32:
        wide_x, wide_y = (number.extended(I32, signed) for number in (x, y))
        return _divided(wide_x, wide_y, signed, rounding, single).truncated(x.type)
    quotient = _truncated(x, y, signed, single)
    if rounding is Rounding.ZERO:
        return quotient
    rest = x - quotient * y
    inexact = rest.differs(0)
    if rounding is Rounding.NEGATIVE_INF:
        return quotient - (inexact & ((rest ^ y) < 0)).as_integer(x.type)
    above = ~((rest ^ y) < 0) if signed else inexact
    return quotient + (inexact & above).as_integer(x.type)


def _truncated(x: Int, y: Int, signed: bool, single: bool) -> Int:
    """Return the truncated quotient. LLVM turns a division by a constant into a multiplication; other i32 go through
    f64, which has vectors, by a reciprocal that is the same for all elements of a row if the divisor is."""
    if isinstance(y.value, ir.Constant):
        return -x if signed and y.value.constant in (-1, (1 << x.width) - 1) else _instruction(x, y, signed)
    minus_one = y.equals(-1)
    divisor = y.unsigned_maximum(1)
    if signed:
        x = minus_one.choose(-x, x)
        divisor = minus_one.choose(Int(y.builder, y.constant(1)), divisor)
    if single or x.width == 64:
        return _instruction(x, divisor, signed)
    reciprocal = ABOVE_ONE / divisor.converted(DOUBLE, signed)
    return (x.converted(DOUBLE, signed) * reciprocal).to_integer(x.type, signed)


def _instruction(x: Int, y: Int, signed: bool) -> Int:
    divide = x.builder.sdiv if signed else x.builder.udiv
    return Int(x.builder, divide(x.value, y.value))


# ---------------------------------------------------------------- floats


_ROUNDED: dict[type[Op], arithmetic.ByMode] = {
    AddF: arithmetic.add,
    SubF: arithmetic.sub,
    MulF: arithmetic.mul,
    Fma: arithmetic.fma,
}
_EXACT: dict[type[Op], Formula] = {
    AbsF: abs,
    Ceil: lambda x: x.ceil().with_sign_of(x),
    Floor: lambda x: x.floor().with_sign_of(x),
    NegF: Real.__neg__,
}
"""An integral part has its sign anyway; said, it keeps LLVM from doing f16 without vectors."""
_EXTREMES: dict[type[Op], Formula] = {MaxF: Real.maximum, MinF: Real.minimum}
"""LLVM's functions with `propagate_nan`. Those without it, ``maximumnum`` and ``minimumnum``, give NaN on x86 for some
pairs of a NaN and a known number."""
_APPROX_DIVISOR_LIMIT = 2.0**126


def _bind(lowering: Lowering, op: Op, compute: Compute) -> None:
    """Bind the result, with subnormals flushed if the operation asks for it."""
    pointwise(lowering, op, flushing_if_asked(op, compute))


# ---------------------------------------------------------------- arithmetic


@rules(*_ROUNDED)
def lower_rounded(lowering: Lowering, op: AddF | SubF | MulF | Fma) -> None:
    _bind(lowering, op, _ROUNDED[type(op)](element_of(op), op.rounding_mode))


@rules(DivF)
def lower_divf(lowering: Lowering, op: DivF) -> None:
    """Lower a division; `full` is no less accurate than to nearest even allows."""
    if op.rounding_mode is Rounding.APPROX:
        _bind(lowering, op, _approximate_quotient)
        return
    mode = Rounding.NEAREST_EVEN if op.rounding_mode is Rounding.FULL else op.rounding_mode
    _bind(lowering, op, arithmetic.div(element_of(op), mode))


def _approximate_quotient(builder: ir.IRBuilder, lhs: Num, rhs: Num) -> Num:
    """Return the approximate quotient: above 2^126 the reciprocal of the divisor is flushed to zero."""
    dividend, divisor = real(builder, lhs), real(builder, rhs)
    vanishing = abs(divisor) > _APPROX_DIVISOR_LIMIT
    zero = dividend * divisor.of(0.0).with_sign_of(divisor)
    return held(t.F32, vanishing.choose(zero, dividend / divisor))


@rules(Sqrt)
def lower_sqrt(lowering: Lowering, op: Sqrt) -> None:
    mode = Rounding.NEAREST_EVEN if op.rounding_mode is Rounding.APPROX else op.rounding_mode
    _bind(lowering, op, arithmetic.sqrt(element_of(op), mode))


# ---------------------------------------------------------------- exact operations


@rules(*_EXACT)
def lower_exact(lowering: Lowering, op: Op) -> None:
    reals(lowering, op, _EXACT[type(op)], exact=True)


@rules(RemF)
def lower_remf(lowering: Lowering, op: RemF) -> None:
    formula = arithmetic.remainder_f64 if element_of(op) is t.F64 else arithmetic.remainder_f32
    reals(lowering, op, formula, exact=True)


@rules(*_EXTREMES)
def lower_extreme(lowering: Lowering, op: MaxF | MinF) -> None:
    element, extreme = element_of(op), _EXTREMES[type(op)]

    def compute(builder: ir.IRBuilder, lhs: Num, rhs: Num) -> Num:
        left, right = real(builder, lhs), real(builder, rhs)
        if not op.propagate_nan:
            left, right = left.is_nan().choose(right, left), right.is_nan().choose(left, right)
        return held(element, extreme(left, right))

    _bind(lowering, op, compute)


@rules(CmpF)
def lower_cmpf(lowering: Lowering, op: CmpF) -> None:
    predicate = PREDICATES[op.comparison_predicate]
    compared = Real.compared if op.comparison_ordering is Ordering.ORDERED else Real.compared_or_unordered

    def compute(builder: ir.IRBuilder, lhs: Num, rhs: Num) -> Num:
        return condition(compared(real(builder, lhs), predicate, real(builder, rhs)))

    pointwise(lowering, op, compute)


# ---------------------------------------------------------------- mathematical functions


_FUNCTIONS: dict[type[Op], tuple[Formula, Formula]] = {
    Atan2: (trigonometric.atan2_f32, trigonometric.atan2_f64),
    Cos: (trigonometric.cos_f32, trigonometric.cos_f64),
    Cosh: (exponential.cosh_f32, exponential.cosh_f64),
    Exp: (exponential.exp_f32, exponential.exp_f64),
    Exp2: (exponential.exp2_f32, exponential.exp2_f64),
    Log: (exponential.log_f32, exponential.log_f64),
    Log2: (exponential.log2_f32, exponential.log2_f64),
    Rsqrt: (exponential.rsqrt_f32, exponential.rsqrt_f64),
    Sin: (trigonometric.sin_f32, trigonometric.sin_f64),
    Sinh: (exponential.sinh_f32, exponential.sinh_f64),
    Tan: (trigonometric.tan_f32, trigonometric.tan_f64),
    Tanh: (exponential.tanh_f32, exponential.tanh_f64),
}
"""Formulas for f32 and narrower types, and for f64. `approx` and `full` use the same ones."""


@rules(*_FUNCTIONS)
def lower_function(lowering: Lowering, op: Op) -> None:
    element = element_of(op)
    narrow, wide = _FUNCTIONS[type(op)]
    formula = wide if element is t.F64 else narrow

    def compute(builder: ir.IRBuilder, *numbers: Num) -> Num:
        return rounded(element, formula(*(real(builder, number) for number in numbers)))

    pointwise(lowering, op, flushing_if_asked(op, compute))


MOST_FACTORS = 8
"""Factors of a power that is multiplied out in f64: their roundings do not show in f32. In f64 it is a square."""


@rules(FPowF, FPowI)
def lower_power(lowering: Lowering, op: Op) -> None:
    """Compute a power; with a constant exponent that is small, as a product."""
    element = element_of(op)
    formula = exponential.pow_f64 if element is t.F64 else exponential.pow_f32
    counts = range(1, 3 if element is t.F64 else MOST_FACTORS + 1)
    kind = op.operands[1].tile.number

    def compute(builder: ir.IRBuilder, source: Num, exponent: Num) -> Num:
        x, number = real(builder, source), exponent.wide
        if kind is not t.I1 and isinstance(number, ir.Constant) and number.constant in counts:
            return rounded(element, _multiplied(x, int(number.constant)))
        if kind.is_int:
            return rounded(element, formula(x, integer(builder, exponent).converted(DOUBLE)))
        return rounded(element, formula(x, real(builder, exponent)))

    pointwise(lowering, op, compute)


def _multiplied(x: Real, count: int) -> Real:
    if count <= 2:
        return x * x if count == 2 else x
    product = factor = x.double()
    for _ in range(count - 1):
        product = product * factor
    return product.single()
