"""Quotients and roots of f64 rounded in a direction, where no instruction does that.

Knows: how the remainder of the nearest result tells on which side of the exact one it lies. Operands are brought to a
range where that remainder is exact (Markstein, 2000), so the exponent comes back at the end. Does not know: how a
product is rounded in a direction, which the caller does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import TtirValue
from tileir.gpu.ttir.lib.words import Word, word_of
from tileir.ir.attributes import Rounding

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
    """``x / y``; `multiply` rounds products of f64 in the same mode."""
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
    """The square root, which is never subnormal."""
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
    """A magnitude moved by a step if the remainder says that it lies on the wrong side."""
    word, zero = word_of(build, near), build.float(rest.type, 0.0)
    too_large, too_small = (Word(build, build.compare_float(which, rest, zero)) for which in ("olt", "ogt"))
    down, up = too_large.choose(word - 1, word), too_small.choose(word + 1, word)
    if mode is Rounding.ZERO:
        return down
    first, second = (down, up) if mode is Rounding.POSITIVE_INF else (up, down)
    return sign.is_negative.choose(first, second)


def _powers(build: Builder, exponent: Word) -> list[TtirValue]:
    """Three powers of two with about a third of the exponent each, which is more than one has."""
    third = exponent.quotient(exponent.constant(3), signed=True)
    parts = (third, third, exponent - (third + third))
    return [((part + _BIAS) << _FRACTION).as_float("f64") for part in parts]


def _negated(build: Builder, number: TtirValue) -> TtirValue:
    return (word_of(build, number) ^ _SIGN).as_float("f64")
