"""f64 arithmetic in the directed rounding modes, over the whole range.

Knows: for each operation the nearest result and what it misses, computed on significands so that nothing underflows or
overflows, and how a result with its exponent is rounded into an f64. Does not know: narrower types
(`cpu.mathlib.rounding`).
"""

from __future__ import annotations

from typing import NamedTuple

from tileir.cpu.emit.algebra import Flag, Int, Real
from tileir.cpu.emit.elements import I64
from tileir.cpu.mathlib.error_free import (
    Pair,
    away_from_zero,
    in_mode,
    ordered_sum_pair,
    outward,
    product_pair,
    signed_zero,
    sum_pair,
)
from tileir.ir.attributes import Rounding

_FRACTION = 52
_BIAS = 1023
_EXPONENT_FIELD = 0x7FF << _FRACTION
_INFINITY = _EXPONENT_FIELD
_LARGEST = _INFINITY - 1
_FAR_BELOW = -5000
"""The exponent given to zero: its multiples and sums stay below that of every product."""
_HIGHEST_SHIFT, _LOWEST_SHIFT = 200, -300
"""An addend shifted further against a product only decides which way the other is rounded."""


class Scaled(NamedTuple):
    """significand * 2^exponent with a significand of magnitude in [1, 2), or zero."""

    significand: Real
    exponent: Int


def scaled(x: Real) -> Scaled:
    """A finite number as significand and exponent."""
    subnormal = abs(x) < 2.0**-1022
    pattern = subnormal.choose(x * 2.0**54, x).pattern()
    exponent = ((pattern >> _FRACTION) & 0x7FF) - _BIAS
    exponent = subnormal.choose(exponent - 54, exponent)
    zero = x.equals(0.0)
    significand = ((pattern & ~_EXPONENT_FIELD) | (_BIAS << _FRACTION)).as_real()
    far = Int(x.builder, exponent.constant(_FAR_BELOW))
    return Scaled(zero.choose(x, significand), zero.choose(far, exponent))


def add(x: Real, y: Real, mode: Rounding) -> Real:
    """The lost part of a sum is exact over the whole range when the larger operand comes first."""
    swap = abs(x) < abs(y)
    pair = ordered_sum_pair(swap.choose(y, x), swap.choose(x, y))
    return signed_zero(mode, x, y, in_mode(pair, mode))


def mul(x: Real, y: Real, mode: Rounding) -> Real:
    plain = x * y
    first, second = scaled(abs(x)), scaled(abs(y))
    pair = product_pair(first.significand, second.significand)
    result = _assembled(pair, first.exponent + second.exponent, plain.is_negative(), mode)
    return (_ordinary(x) & _ordinary(y)).choose(result, plain)


def div(x: Real, y: Real, mode: Rounding) -> Real:
    plain = x / y
    first, second = scaled(abs(x)), scaled(abs(y))
    quotient = first.significand / second.significand
    pair = Pair(quotient, (-quotient).times_plus(second.significand, first.significand))
    result = _assembled(pair, first.exponent - second.exponent, plain.is_negative(), mode)
    return (_ordinary(x) & _ordinary(y)).choose(result, plain)


def sqrt(x: Real, mode: Rounding) -> Real:
    """The root of the significand scaled to [1, 4) by an even power of two."""
    number = scaled(x)
    odd = number.exponent & 1
    source = (number.significand.pattern() + (odd << _FRACTION)).as_real()
    root = source.root()
    pair = Pair(root, (-root).times_plus(root, source))
    result = _assembled(pair, (number.exponent - odd).shifted_signed(1), x < 0.0, mode)
    return (_ordinary(x) & (x > 0.0)).choose(result, x.root())


def fma(x: Real, y: Real, addend: Real, mode: Rounding) -> Real:
    plain = x.times_plus(y, addend)
    first, second, third = scaled(x), scaled(y), scaled(addend)
    exponent = first.exponent + second.exponent
    shift = third.exponent - exponent
    kept = shift.signed_minimum(_HIGHEST_SHIFT).signed_maximum(_LOWEST_SHIFT)
    power = ((kept + _BIAS) << _FRACTION).as_real()
    pair = _fused_pair(first.significand, second.significand, third.significand * power)
    exponent = exponent + (shift - _HIGHEST_SHIFT).signed_maximum(0)
    magnitude = Pair(abs(pair.high), outward(*pair))
    result = _assembled(magnitude, exponent, pair.high.is_negative(), mode)
    if mode is Rounding.NEGATIVE_INF:
        negative = (x.is_negative() ^ y.is_negative()) | addend.is_negative()
        plain = (plain.equals(0.0) & negative).choose(plain.of(-0.0), plain)
    exact_zero = pair.high.equals(0.0)
    return (_finite(x) & _finite(y) & _finite(addend) & ~exact_zero).choose(result, plain)


def _fused_pair(x: Real, y: Real, addend: Real) -> Pair:
    """x * y + addend, and a number with the sign of what that misses (Boldo and Muller, 2005)."""
    total = x.times_plus(y, addend)
    product = product_pair(x, y)
    tail = sum_pair(addend, product.low)
    head = sum_pair(product.high, tail.high)
    return Pair(total, ((head.high - total) + head.low) + tail.low)


def _finite(x: Real) -> Flag:
    return abs(x) < float("inf")


def _ordinary(x: Real) -> Flag:
    """Neither zero nor infinite nor NaN."""
    return _finite(x) & (abs(x) > 0.0)


def _assembled(pair: Pair, exponent: Int, negative: Flag, mode: Rounding) -> Real:
    """`pair`, whose high part is positive, times 2^exponent, rounded in `mode`, with the sign of `negative`."""
    away = away_from_zero(negative, mode)
    binade = (pair.high.pattern() >> _FRACTION) - _BIAS + exponent
    normal = _normal_pattern(pair, exponent, binade, away)
    pattern = (binade < 1 - _BIAS).choose(_subnormal_pattern(pair, exponent, away), normal)
    return (pattern | (negative.as_integer(I64) << 63)).as_real()


def _normal_pattern(pair: Pair, exponent: Int, binade: Int, away: Flag) -> Int:
    """The exponent is added to the pattern's; a step up may overflow as well."""
    up = ((pair.low > 0.0) & away).as_integer(I64)
    down = ((pair.low < 0.0) & ~away).as_integer(I64)
    pattern = pair.high.pattern() + up - down
    fits = (binade < _BIAS + 1) & (pattern + (exponent << _FRACTION)).below_unsigned(_INFINITY)
    limit = away.choose(Int(pattern.builder, pattern.constant(_INFINITY)), _LARGEST)
    return fits.choose(pattern + (exponent << _FRACTION), limit)


def _subnormal_pattern(pair: Pair, exponent: Int, away: Flag) -> Int:
    """The number of smallest steps: adding 2^52 of them, as a float, rounds there and leaves the count in the sum."""
    step = ((-exponent) - 1074).signed_minimum(700).signed_maximum(-900)
    anchor = ((step + (_FRACTION + _BIAS)) << _FRACTION).as_real()
    summed = pair.high + anchor
    rest = pair.high - (summed - anchor)
    missing = rest.equals(0.0).choose(pair.low, rest)
    up = ((missing > 0.0) & away).as_integer(I64)
    down = ((missing < 0.0) & ~away).as_integer(I64)
    return summed.pattern() - anchor.pattern() + up - down
