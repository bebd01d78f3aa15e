"""TTIR of element-wise arithmetic (spec: integer#top, division#top, floating#top, functions#top).

Integers are modulo 2^width, whatever `overflow` promises, and no instruction gets an operand for which its result is
undefined (spec: undefined#catalogue).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from tileir.gpu.arch import Vendor
from tileir.gpu.ttir.forms import PREDICATES
from tileir.gpu.ttir.ir.code import TtirValue
from tileir.gpu.ttir.lib.libdevice import library_function, rounded, through_f32, wide_quotient
from tileir.gpu.ttir.lib.words import Word, word_of
from tileir.gpu.ttir.lowering import Lower, TtirLowering
from tileir.ir import types as t
from tileir.ir.attributes import Ordering, Rounding, Signedness
from tileir.ir.core import Op, Value
from tileir.ir.rules import Rules
from tileir.ops import division, floating, functions, integer
from tileir.ops.shapes import Broadcast

Formula = Callable[..., Word]

rules: Rules[Lower] = Rules()
SHARED = 32
"""Elements that share a divisor where its reciprocal in f64 is worth its cost."""
FEW = 32
"""The most elements of a tile of which each thread has one or none."""
_SIGNED, _UNSIGNED = Signedness.SIGNED, Signedness.UNSIGNED


def _applied(lowering: TtirLowering, op: Op, formula: Formula) -> TtirValue:
    """Return `formula` of the operands."""
    return formula(*(Word(lowering.build, lowering.value(value)) for value in op.operands)).value


# ---------------------------------------------------------------- integers


def _absolute(x: Word) -> Word:
    """Return the magnitude; MIN stays MIN."""
    return x.is_negative.choose(-x, x)


def _high_product(x: Word, y: Word) -> Word:
    """Return the upper half of the unsigned product of twice the width."""
    if x.width >= 32:
        return x.high_product(y)
    product = x.resized("i32") * y.resized("i32")
    return (product >> x.width).resized(f"i{x.width}")


def _shifted_left(x: Word, amount: Word) -> Word:
    """Zero from the width on."""
    return _shifted(x, amount, Word.__lshift__)


def _shifted_right(x: Word, amount: Word) -> Word:
    return _shifted(x, amount, Word.__rshift__)


def _shifted(x: Word, amount: Word, shift: Callable[[Word, Word], Word]) -> Word:
    """Shift by amounts below the width alone: instructions differ beyond. A constant amount is looked at here."""
    if amount.known is None:
        return amount.below(x.width).choose(shift(x, amount), 0)
    return shift(x, amount) if amount.known < x.width else x.constant(0)


def _shifted_right_signed(x: Word, amount: Word) -> Word:
    """Shift right; from the width on the result consists of sign bits."""
    if amount.known is None:
        return x.shifted_signed(amount.minimum(x.width - 1, signed=False))
    return x.shifted_signed(min(amount.known, x.width - 1))


def _same(x: Word, *others: Word) -> Word:
    return x


def _without(x: Word, amount: Word) -> Word:
    """Return the bit, or 0 if it is shifted out."""
    return x & ~amount


_FORMULAS: dict[tuple[type[Op], Signedness | None], tuple[Formula, Formula]] = {
    (integer.AbsI, None): (_absolute, _same),
    (integer.AddI, None): (Word.__add__, Word.__xor__),
    (integer.AndI, None): (Word.__and__, Word.__and__),
    (integer.MaxI, _SIGNED): (partial(Word.maximum, signed=True), Word.__and__),
    (integer.MaxI, _UNSIGNED): (partial(Word.maximum, signed=False), Word.__or__),
    (integer.MinI, _SIGNED): (partial(Word.minimum, signed=True), Word.__or__),
    (integer.MinI, _UNSIGNED): (partial(Word.minimum, signed=False), Word.__and__),
    (integer.MulI, None): (Word.__mul__, Word.__and__),
    (integer.MulhiI, None): (_high_product, lambda x, y: x.constant(0)),
    (integer.NegI, None): (Word.__neg__, _same),
    (integer.OrI, None): (Word.__or__, Word.__or__),
    (integer.ShlI, None): (_shifted_left, _without),
    (integer.ShrI, _SIGNED): (_shifted_right_signed, _same),
    (integer.ShrI, _UNSIGNED): (_shifted_right, _without),
    (integer.SubI, None): (Word.__sub__, Word.__xor__),
    (integer.XOrI, None): (Word.__xor__, Word.__xor__),
}
"""The formula for wider integers, and that for i1: 0 and 1, or 0 and -1 when signed."""


@rules(*dict.fromkeys(op for op, _ in _FORMULAS))
def lower_integer(lowering: TtirLowering, op: Op) -> TtirValue:
    signedness = op.signedness if isinstance(op, integer.MaxI | integer.MinI | integer.ShrI) else None
    wider, bit = _FORMULAS[type(op), signedness]
    return _applied(lowering, op, bit if lowering.type_of(op.operands[0]).element == "i1" else wider)


@rules(integer.CmpI)
def lower_cmpi(lowering: TtirLowering, op: integer.CmpI) -> TtirValue:
    """Compare bits as wider integers; this fixes the order of i1, which compilers leave open."""
    signed, predicate = op.signedness is _SIGNED, PREDICATES[op.comparison_predicate]
    if predicate not in ("eq", "ne"):
        predicate = ("s" if signed else "u") + predicate

    def compared(x: Word, y: Word) -> Word:
        if x.width == 1:
            x, y = (bit.resized("i8", signed) for bit in (x, y))
        return x.compared(predicate, y)

    return _applied(lowering, op, compared)


# ---------------------------------------------------------------- integer division


@rules(division.DivI)
def lower_divi(lowering: TtirLowering, op: division.DivI) -> TtirValue:
    return _applied(lowering, op, lambda x, y: _quotient(x, y, op.signedness is _SIGNED, op.rounding))


@rules(division.RemI)
def lower_remi(lowering: TtirLowering, op: division.RemI) -> TtirValue:
    return _applied(lowering, op, lambda x, y: _remainder(x, y, op.signedness is _SIGNED))


def _quotient(x: Word, y: Word, signed: bool, rounding: Rounding) -> Word:
    """Return the quotient: MIN for MIN and -1, anything for a division by 0."""
    if x.width == 1:
        return x
    known = y.known or 0
    if rounding is Rounding.NEGATIVE_INF and known.bit_count() == 1 and not known >> (y.width - 1):
        return x.shifted_signed(known.bit_length() - 1)  # by a positive power of two
    dividend, divisor = _divisible(x, y, signed)
    quotient = dividend.quotient(divisor, signed)
    if rounding is not Rounding.ZERO:
        quotient = _stepped(quotient, dividend - quotient * divisor, divisor, signed, rounding)
    return quotient.resized(f"i{x.width}")


def _stepped(quotient: Word, rest: Word, divisor: Word, signed: bool, rounding: Rounding) -> Word:
    """Return the truncated quotient moved to the integer below or above if it left a rest."""
    inexact, word = rest.differs(0), f"i{quotient.width}"
    if not signed:
        return quotient + inexact.resized(word)
    below = (rest ^ divisor).is_negative
    if rounding is Rounding.NEGATIVE_INF:
        return quotient - (inexact & below).resized(word)
    return quotient + (inexact & ~below).resized(word)


def _remainder(x: Word, y: Word, signed: bool) -> Word:
    """Return the remainder with the sign of the dividend; 0 for MIN and -1."""
    if x.width == 1:
        return x.constant(0)
    dividend, divisor = _divisible(x, y, signed)
    return dividend.remainder(divisor, signed).resized(f"i{x.width}")


def _divisible(x: Word, y: Word, signed: bool) -> tuple[Word, Word]:
    """Return operands of at least 32 bits with the same quotient and remainder, for which the division has a result.

    Of narrower integers no quotient overflows in 32 bits. A division by -1 becomes one of -x by 1.
    """
    if x.width < 32:
        x, y = x.resized("i32", signed), y.resized("i32", signed)
        overflows = False
    else:
        overflows = signed
    if y.known is not None and 0 < y.known < (1 << y.width) - 1:
        return x, y
    if not overflows:
        return x, y.equals(0).choose(y.constant(1), y)
    return y.equals(-1).choose(-x, x), (y + 1).below(2).choose(y.constant(1), y)


# ---------------------------------------------------------------- floating point


_ROUNDED: dict[type[Op], str] = {
    floating.AddF: "add",
    floating.SubF: "sub",
    floating.MulF: "mul",
    floating.DivF: "div",
    floating.Fma: "fma",
    floating.Sqrt: "sqrt",
}
_EXACT: dict[type[Op], str] = {floating.AbsF: "math.absf", floating.Ceil: "math.ceil", floating.Floor: "math.floor"}
_EXTREMES: dict[type[Op], tuple[str, str]] = {
    floating.MaxF: ("arith.maxnumf", "arith.maximumf"),
    floating.MinF: ("arith.minnumf", "arith.minimumf"),
}
"""Without and with `propagate_nan`."""


@rules(*_ROUNDED)
def lower_rounded(
    lowering: TtirLowering,
    op: floating.AddF | floating.SubF | floating.MulF | floating.DivF | floating.Fma | floating.Sqrt,
) -> TtirValue:
    operands = lowering.tiles(op.operands)
    name, mode, flush = _ROUNDED[type(op)], op.rounding_mode, op.flush_to_zero
    if divisor := _wide_divisor(lowering, op):
        return wide_quotient(lowering.build, operands[0], lowering.value(divisor))
    if mode in (Rounding.APPROX, Rounding.FULL):
        return lowering.build.vendor.approximate(f"{name}.{mode.text}", flush, *operands)
    return rounded(lowering.build, name, mode, flush, *operands)


def _wide_divisor(lowering: TtirLowering, op: Op) -> Value | None:
    """Return the divisor of an exact division of f32, before it is repeated, where its reciprocal in f64 pays.

    For few elements it does on NVIDIA's GPUs: the exact division in f32 calls a function in rare cases, and all values
    that live across the call take registers.
    """
    if not isinstance(op, floating.DivF) or op.rounding_mode is not Rounding.NEAREST_EVEN or op.flush_to_zero:
        return None
    owner, tile, arch = op.rhs.owner, op.result.type, lowering.arch
    if tile.element is not t.F32 or not arch.has_fast_f64:
        return None
    if isinstance(owner, Broadcast) and owner.source.tile.count * SHARED <= tile.count:
        return owner.source
    return op.rhs if tile.count <= FEW and arch.vendor is Vendor.NVIDIA else None


@rules(*_EXACT)
def lower_exact(lowering: TtirLowering, op: floating.AbsF | floating.Ceil | floating.Floor) -> TtirValue:
    return lowering.build.op(_EXACT[type(op)], lowering.value(op.source))


@rules(floating.NegF)
def lower_negf(lowering: TtirLowering, op: floating.NegF) -> TtirValue:
    """Flip the sign bit: Triton knows ``arith.negf`` only since 3.9."""
    source = lowering.value(op.source)
    bits = word_of(lowering.build, source)
    return (bits ^ (1 << (bits.width - 1))).as_float(source.type.element)


@rules(*_EXTREMES)
def lower_extreme(lowering: TtirLowering, op: floating.MaxF | floating.MinF) -> TtirValue:
    """Emit ``max`` and ``min`` of PTX, where +0 is above -0 and a NaN loses, or with ``.NaN`` wins: LLVM makes them of
    the instructions of TTIR, and where ``.NaN`` is missing (f64) adds its effect."""
    build, lhs, rhs = lowering.build, lowering.value(op.lhs), lowering.value(op.rhs)
    if op.flush_to_zero:
        name = "max" if isinstance(op, floating.MaxF) else "min"
        return build.vendor.extreme(name, op.propagate_nan, lhs, rhs)
    return build.op(_EXTREMES[type(op)][op.propagate_nan], lhs, rhs)


@rules(floating.CmpF)
def lower_cmpf(lowering: TtirLowering, op: floating.CmpF) -> TtirValue:
    letter = "o" if op.comparison_ordering is Ordering.ORDERED else "u"
    predicate = letter + PREDICATES[op.comparison_predicate]
    return lowering.build.compare_float(predicate, lowering.value(op.lhs), lowering.value(op.rhs))


# ---------------------------------------------------------------- functions


_NAMES: dict[type[Op], str] = {
    functions.Atan2: "atan2",
    functions.Cos: "cos",
    functions.Cosh: "cosh",
    functions.FPowF: "pow",
    floating.RemF: "fmod",
    functions.Log: "log",
    functions.Log2: "log2",
    functions.Sin: "sin",
    functions.Sinh: "sinh",
    functions.Tan: "tan",
}
"""Names in the device library. `atan2` has the ordinate first there too; ``fmod`` is exact, unlike ``arith.remf`` of
large quotients."""

_INSTRUCTIONS: dict[type[Op], tuple[str, str]] = {
    functions.Exp2: ("exp2", "ex2.approx"),
    functions.Rsqrt: ("rsqrt", "rsqrt.approx"),
}
"""The name in the device library, and the instruction for f32."""
_MOST_PARITY = 1 << 23
"""Up to twice this, f32 holds every integer."""


@rules(*_NAMES)
def lower_function(lowering: TtirLowering, op: Op) -> TtirValue:
    return library_function(lowering.build, _NAMES[type(op)], *lowering.tiles(op.operands))


@rules(*_INSTRUCTIONS)
def lower_instruction(lowering: TtirLowering, op: functions.Exp2 | functions.Rsqrt) -> TtirValue:
    """Emit one instruction of at most 2 ulp, the bound, over the whole range of f32 including subnormals."""
    build, source = lowering.build, lowering.value(op.source)
    name, instruction = _INSTRUCTIONS[type(op)]
    if source.type.element == "f64":
        return library_function(build, name, source)
    flush = bool(op.flush_to_zero)
    return through_f32(build, lambda x: build.vendor.approximate(instruction, flush, x), source)


@rules(functions.Exp)
def lower_exp(lowering: TtirLowering, op: functions.Exp) -> TtirValue:
    """Lower the exponential: `approx` is a power of two whose exponent is rounded to f32, so the error grows with the
    argument.

    For f16 and bf16 that serves as well: before the result overflows or vanishes, the exponent is below 2^8 and its
    error below 2^-17, which is a 2^6-th of the last place of f16 (whose exponents end at 25) and a 2^9-th of bf16's.
    """
    build, source = lowering.build, lowering.value(op.source)
    if op.rounding_mode is Rounding.APPROX or source.type.element in ("f16", "bf16"):

        def power(x: TtirValue) -> TtirValue:
            scaled = build.op("arith.mulf", x, build.float(x.type, math.log2(math.e)))
            return build.vendor.approximate("ex2.approx", False, scaled)

        return through_f32(build, power, source)
    return library_function(build, "exp", source)


@rules(functions.Tanh)
def lower_tanh(lowering: TtirLowering, op: functions.Tanh) -> TtirValue:
    build, source = lowering.build, lowering.value(op.source)
    if op.rounding_mode is Rounding.APPROX:
        return build.vendor.approximate("tanh.approx", False, source)
    return library_function(build, "tanh", source)


@rules(functions.FPowI)
def lower_fpowi(lowering: TtirLowering, op: functions.FPowI) -> TtirValue:
    """Call `pow`, where the exponent is exact: the library's own powers of integer exponents round at every factor."""
    build, source = lowering.build, lowering.value(op.source)
    element, long = source.type.element, op.exponent.type.element is t.I32
    exponent = Word(build, build.resized(lowering.value(op.exponent), "i32", signed=True))

    def power(x: TtirValue) -> TtirValue:
        return library_function(build, "pow", x, build.cast("arith.sitofp", exponent.value, x.type.element))

    if element == "f64" or (element == "f32" and long):
        return build.cast("arith.truncf", power(build.cast("arith.extf", source, "f64")), element)
    if long:
        # Any f16 or bf16 but 1 and -1 overflows or vanishes before 2^23; of those two the parity decides.
        limited = exponent.maximum(-_MOST_PARITY, signed=True).minimum(_MOST_PARITY, signed=True)
        exponent = limited | (exponent & 1)
    return through_f32(build, power, source)
