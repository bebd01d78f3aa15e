"""AMD: instructions and rounding modes that Triton has no operation for, quotients and roots among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tileir.gpu.ttir.ir.builder import Builder, MemoryOrder, VendorInstructions
from tileir.gpu.ttir.ir.code import I32, TtirValue
from tileir.gpu.ttir.lib.narrow import odd_f32
from tileir.gpu.ttir.lib.words import Word, word_of
from tileir.ir.attributes import AtomicMode, MemoryOrdering, MemoryScope, Rounding

_FRACTION, _BIAS = 52, 1023
_SIGN, _INFINITY = 1 << 63, 0x7FF << _FRACTION
_LIFT = 54
"""The exponent of a factor that makes a subnormal normal."""

Multiply = Callable[[TtirValue, TtirValue], TtirValue]


@dataclass(frozen=True)
class _Unit:
    """A magnitude from 1 to below 2 and the exponent of a number; anything for one that is not `plain`: 0, infinite or
    NaN."""

    magnitude: Word
    exponent: Word
    plain: Word


def _unit(build: Builder, number: TtirValue) -> _Unit:
    bits = word_of(build, number) & ~_SIGN
    subnormal = bits.below(1 << _FRACTION)
    lifted = build.op("arith.mulf", bits.as_float("f64"), build.float(number.type, 2.0**_LIFT))
    normal = subnormal.choose(word_of(build, lifted), bits)
    correction = subnormal.choose(bits.constant(_BIAS + _LIFT), _BIAS)
    exponent = (normal >> _FRACTION) - correction
    magnitude = (normal & ((1 << _FRACTION) - 1)) | (_BIAS << _FRACTION)
    return _Unit(magnitude, exponent, (bits - 1).below(_INFINITY - 1))


def quotient(build: Builder, mode: Rounding, multiply: Multiply, x: TtirValue, y: TtirValue) -> TtirValue:
    """Return ``x / y``; `multiply` rounds products of f64 in the same mode."""
    first, second = _unit(build, x), _unit(build, y)
    dividend, divisor = (unit.magnitude.as_float("f64") for unit in (first, second))
    near = build.op("arith.divf", dividend, divisor)
    rest = build.op("math.fma", _negated(build, near), divisor, dividend)
    sign = (word_of(build, x) ^ word_of(build, y)) & _SIGN
    found = _moved(build, mode, near, rest, sign) | sign
    result = found.as_float("f64")
    for power in _powers(build, first.exponent - second.exponent):
        result = multiply(result, power)
    plain = (first.plain & second.plain).value
    return build.select(plain, result, build.op("arith.divf", x, y))


def root(build: Builder, mode: Rounding, x: TtirValue) -> TtirValue:
    """Return the square root, which is never subnormal."""
    unit = _unit(build, x)
    odd = unit.exponent & 1
    radicand = (unit.magnitude + (odd << _FRACTION)).as_float("f64")
    near = build.op("math.sqrt", radicand)
    rest = build.op("math.fma", _negated(build, near), near, radicand)
    magnitude = _moved(build, mode, near, rest, odd.constant(0))
    found = magnitude + ((unit.exponent - odd).shifted_signed(1) << _FRACTION)
    positive = Word(build, build.compare_float("ogt", x, build.float(x.type, 0.0)))
    return build.select((unit.plain & positive).value, found.as_float("f64"), build.op("math.sqrt", x))


def _moved(build: Builder, mode: Rounding, near: TtirValue, rest: TtirValue, sign: Word) -> Word:
    """Return a magnitude moved by a step if the remainder says that it lies on the wrong side."""
    word, zero = word_of(build, near), build.float(rest.type, 0.0)
    too_large, too_small = (Word(build, build.compare_float(which, rest, zero)) for which in ("olt", "ogt"))
    down, up = too_large.choose(word - 1, word), too_small.choose(word + 1, word)
    if mode is Rounding.ZERO:
        return down
    first, second = (down, up) if mode is Rounding.POSITIVE_INF else (up, down)
    return sign.is_negative.choose(first, second)


def _powers(build: Builder, exponent: Word) -> list[TtirValue]:
    """Return three powers of two with about a third of the exponent each, which is more than one has."""
    third = exponent.quotient(exponent.constant(3), signed=True)
    parts = (third, third, exponent - (third + third))
    return [((part + _BIAS) << _FRACTION).as_float("f64") for part in parts]


def _negated(build: Builder, number: TtirValue) -> TtirValue:
    return (word_of(build, number) ^ _SIGN).as_float("f64")


_NEAREST = {
    "add": "arith.addf", "sub": "arith.subf", "mul": "arith.mulf", "div": "arith.divf", "fma": "math.fma",
    "sqrt": "math.sqrt", "max": "arith.maxnumf", "min": "arith.minnumf",
}  # fmt: skip
_NAN_WINS = {"max": "arith.maximumf", "min": "arith.minimumf"}
_PRECISE = {"div": "tt.precise_divf", "sqrt": "tt.precise_sqrt"}
_LIBRARY_NAMES = {"ex2.approx": "exp2", "rsqrt.approx": "rsqrt", "tanh.approx": "tanh"}
_ROUND = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), {}"
"""The rounding of f64 and f16, for all instructions that follow."""
_MODES = {Rounding.POSITIVE_INF: 1, Rounding.NEGATIVE_INF: 2, Rounding.ZERO: 3}
_OF_F64 = {
    "add": "v_add_f64 $0, $1, $2",
    "sub": "v_add_f64 $0, $1, -$2",
    "mul": "v_mul_f64 $0, $1, $2",
    "fma": "v_fma_f64 $0, $1, $2, $3",
}

_APPROXIMATE_DIVISOR_LIMIT = 2.0**126
_TO_ODD = 11
"""Bits by which an i64 is longer than the fraction of f64."""


class AmdInstructions(VendorInstructions):
    """See `ir.builder.VendorInstructions`."""

    library_prefix = "__ocml_"

    def library(self, name: str, *operands: TtirValue) -> TtirValue:
        return self.build.library(f"{self.library_prefix}{name}_{operands[0].type.element}", *operands)

    def rounded(self, name: str, mode: Rounding, flush: bool, *operands: TtirValue) -> TtirValue:
        if flush:
            flushed = (_flushed(self.build, operand) for operand in operands)
            return _flushed(self.build, self.rounded(name, mode, False, *flushed))
        if mode is Rounding.NEAREST_EVEN:
            return self.build.op(_PRECISE.get(name, _NEAREST[name]), *operands)
        if operands[0].type.element == "f64":
            return _directed_f64(self.build, name, mode, *operands)
        wide = [self.build.cast("arith.extf", operand, "f64") for operand in operands]
        return self.directed(_wide_result(self.build, name, mode, *wide), "f32", mode)

    def approximate(self, name: str, flush: bool, *operands: TtirValue) -> TtirValue:
        build = self.build
        if flush and name == "ex2.approx":
            return build.op("math.exp2", *operands)  # one instruction, with subnormals as zeros
        given = [_flushed(build, operand) if flush else operand for operand in operands]
        if name in _LIBRARY_NAMES:
            result = self.library(_LIBRARY_NAMES[name], *given)
        else:
            result = build.op(_PRECISE[name.partition(".")[0]], *given)
        if name == "div.approx":
            result = _vanishing(build, result, *given)
        return _flushed(build, result) if flush else result

    def extreme(self, name: str, propagate_nan: bool, *operands: TtirValue) -> TtirValue:
        table = _NAN_WINS if propagate_nan else _NEAREST
        return self.build.op(table[name], *(_flushed(self.build, operand) for operand in operands))

    def reciprocal(self, number: TtirValue) -> TtirValue:
        return self.build.op("arith.divf", self.build.float(number.type, 1.0), number)

    def truncated(self, number: TtirValue, bits: int, signed: bool) -> TtirValue:
        """Return the conversion of TTIR within the range of the type, which is where it is defined."""
        build = self.build
        low, high = (-(1 << bits - 1), 1 << bits - 1) if signed else (0, 1 << bits)
        below = build.compare_float("ole", number, build.float(number.type, float(low if signed else -1)))
        above = build.compare_float("oge", number, build.float(number.type, float(high)))
        inside = build.compare_float("ord", number, number)
        for outside in (below, above):
            inside = build.op("arith.andi", inside, build.inverted(outside))
        kept = build.select(inside, number, build.float(number.type, 0.0))
        whole = Word(build, build.cast("arith.fptosi" if signed else "arith.fptoui", kept, f"i{bits}"))
        whole = Word(build, below).choose(whole.constant(low), whole)
        return Word(build, above).choose(whole.constant(high - 1), whole).value

    def odd_f32(self, source: TtirValue, signed: bool) -> TtirValue:
        return odd_f32(self.build, _odd_f64(Word(self.build, source), signed))

    def directed(self, number: TtirValue, element: str, mode: Rounding) -> TtirValue:
        """Return the nearest, moved by a step if it is on the wrong side."""
        build = self.build
        near = build.cast("arith.truncf", number, element)
        back = build.cast("arith.extf", near, number.type.element)
        word = word_of(build, near)
        if mode is Rounding.ZERO:
            beyond = build.compare_float("ogt", *(build.op("math.absf", value) for value in (back, number)))
            return Word(build, beyond).choose(word - 1, word).as_float(element)
        upwards = mode is Rounding.POSITIVE_INF
        wrong = build.compare_float("olt" if upwards else "ogt", back, number)
        away, closer = (word - 1, word + 1) if upwards else (word + 1, word - 1)
        return Word(build, wrong).choose(word.is_negative.choose(away, closer), word).as_float(element)

    def nearest_tf32(self, number: TtirValue) -> TtirValue:
        raise AssertionError("no architecture of AMD rounds to tf32")

    def opaque(self, value: TtirValue) -> TtirValue:
        return self.build.asm("; $0", "=v,0", [value], value.type, pure=False)

    def unforeseen(self, value: TtirValue) -> TtirValue:
        return value

    def fence_aliases(self, word: Callable[[], TtirValue]) -> None:
        """Emit an atomic operation with the fences of an acquire and a release: memory has no other order here."""
        nothing, all_set = self.build.integer(I32, 0), self.build.truth(True)
        order = MemoryOrder(MemoryOrdering.ACQ_REL, MemoryScope.DEVICE)
        self.build.atomic(AtomicMode.OR, word(), nothing, all_set, order)


# ---------------------------------------------------------------- subnormals


def _flushed(build: Builder, number: TtirValue) -> TtirValue:
    """Return an f32 with zeros of the same sign for subnormals."""
    word = word_of(build, number)
    normal = (word & 0x7F800000).differs(0)
    return normal.choose(word, word & 0x80000000).as_float("f32")


def _vanishing(build: Builder, quotient: TtirValue, lhs: TtirValue, rhs: TtirValue) -> TtirValue:
    """Return the quotient of an approximate division, whose reciprocal vanishes for large divisors."""
    word = word_of(build, rhs)
    limit = build.float(rhs.type, _APPROXIMATE_DIVISOR_LIMIT)
    large = build.compare_float("ogt", build.op("math.absf", rhs), limit)
    zero = (word & 0x80000000).as_float("f32")
    return build.select(large, build.op("arith.mulf", lhs, zero), quotient)


# ---------------------------------------------------------------- directions


def _directed_f64(build: Builder, name: str, mode: Rounding, *operands: TtirValue) -> TtirValue:
    """Emit one instruction with the mode set and restored; quotients and roots have none."""
    if name == "sqrt":
        return root(build, mode, *operands)
    if name == "div":
        return quotient(build, mode, partial(_directed_f64, build, "mul", mode), *operands)
    text = f"{_ROUND.format(_MODES[mode])}\n{_OF_F64[name]}\n{_ROUND.format(0)}"
    return build.asm(text, "=&v" + ",v" * len(operands), operands, operands[0].type)


def _wide_result(build: Builder, name: str, mode: Rounding, *wide: TtirValue) -> TtirValue:
    """Return the f64 result of f32 operands, made odd if it is not exact, so that rounding to f32 rounds once.

    Products are exact. Quotients and roots that f32 does not hold are further from its values than the rounding of f64.
    """
    if name == "fma":
        wide = build.op("arith.mulf", *wide[:2]), wide[2]
        name = "add"
    if name == "sub":
        wide = wide[0], (word_of(build, wide[1]) ^ (1 << 63)).as_float("f64")
        name = "add"
    result = build.op(_NEAREST[name], *wide)
    return _odd_sum(build, mode, result, *wide) if name == "add" else result


def _odd_sum(build: Builder, mode: Rounding, total: TtirValue, x: TtirValue, y: TtirValue) -> TtirValue:
    """Return a sum of f64, odd where it is not exact, with the sign that a zero has in the mode."""

    def minus(first: TtirValue, second: TtirValue) -> TtirValue:
        return build.op("arith.subf", first, second)

    part = minus(total, x)
    error = build.op("arith.addf", minus(x, minus(total, part)), minus(y, part))  # exact (Knuth)
    word, rest = word_of(build, total), word_of(build, error)
    inexact = Word(build, build.compare_float("one", error, build.float(error.type, 0.0)))
    towards_zero = (word ^ rest).is_negative
    odd = towards_zero.choose(word - 1, word) | 1
    found = inexact.choose(odd, word)
    if mode is Rounding.NEGATIVE_INF:
        signs = (word_of(build, x) | word_of(build, y)) & (1 << 63)
        found = (found << 1).equals(0).choose(signs, found)
    return found.as_float("f64")


# ---------------------------------------------------------------- integers


def _odd_f64(source: Word, signed: bool) -> TtirValue:
    """Return an integer as an f64, its last bit set if it is not exact."""
    build, convert = source.build, "arith.sitofp" if signed else "arith.uitofp"
    exact = build.cast(convert, source.value, "f64")
    if source.width < 64:
        return exact
    half = 1 << (63 - _TO_ODD + 1)
    small = (source + half).below(2 * half) if signed else source.below(half)
    shifted = source.shifted_signed(_TO_ODD) if signed else source >> _TO_ODD
    sticky = (source & ((1 << _TO_ODD) - 1)).differs(0).resized("i64")
    odd = build.cast(convert, (shifted | sticky).value, "f64")
    scaled = build.op("arith.mulf", odd, build.float(odd.type, float(1 << _TO_ODD)))
    return build.select(small.value, exact, scaled)
