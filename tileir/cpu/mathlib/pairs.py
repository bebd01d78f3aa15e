"""Sums and products of floats together with what their rounding lost; polynomials; arithmetic on such pairs.

Error-free transformations (Knuth, Dekker; products by fused multiply-add) and rounding to odd (Boldo and Melquiond,
2008) decide directed roundings. Ranges are not checked: each function says where it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tileir.cpu.emit.algebra import Flag, Int, Real
from tileir.ir.attributes import Rounding


class Pair(NamedTuple):
    """A number as the sum of a float and what that float misses of it."""

    high: Real
    low: Real


def sum_pair(x: Real, y: Real) -> Pair:
    """Return x + y, exact unless it overflows (Knuth's TwoSum)."""
    total = x + y
    part = total - x
    return Pair(total, (x - (total - part)) + (y - part))


def ordered_sum_pair(big: Real, small: Real) -> Pair:
    """Return big + small where the exponent of `big` is no smaller, or `big` is zero (Dekker's Fast2Sum)."""
    total = big + small
    return Pair(total, small - (total - big))


def product_pair(x: Real, y: Real) -> Pair:
    """Return x * y, exact far from underflow and overflow."""
    product = x * y
    return Pair(product, x.times_plus(y, -product))


def outward(total: Real, error: Real) -> Real:
    """Return `error` as seen in the direction of `total`: positive where the magnitude of `total` falls short."""
    sign = 1 << (total.width - 1)
    return (error.pattern() ^ (total.pattern() & sign)).as_real()


def stepped(x: Real, up: Flag, down: Flag) -> Real:
    """Return the float next to `x`: away from zero where `up`, towards zero where `down`, never both.

    The patterns of one sign are ordered like the magnitudes, so the step crosses binades and reaches infinity.
    """
    pattern = x.pattern()
    return (pattern + up.as_integer(pattern.type) - down.as_integer(pattern.type)).as_real()


def to_odd(pair: Pair) -> Real:
    """Return the exact sum if `high` is it, else the neighbour with an odd pattern: a later, narrower rounding is
    single."""
    missing = outward(*pair)
    even = (pair.high.pattern() & 1).equals(0)
    return stepped(pair.high, (missing > 0.0) & even, (missing < 0.0) & even)


def in_mode(pair: Pair, mode: Rounding) -> Real:
    """Return the sum rounded in a directed mode; an overflow to infinity is undone where the mode asks for it."""
    return moved(pair.high, outward(*pair), away_from_zero(pair.high.is_negative(), mode))


def moved(x: Real, missing: Real, away: Flag) -> Real:
    """Return `x`, of whose magnitude `missing` was rounded off, rounded away from zero or, where not `away`, to it."""
    return stepped(x, (missing > 0.0) & away, (missing < 0.0) & ~away)


def away_from_zero(negative: Flag, mode: Rounding) -> Flag:
    """Return a flag that is set where directed `mode` rounds magnitudes up."""
    if mode is Rounding.ZERO:
        return negative ^ negative
    return negative if mode is Rounding.NEGATIVE_INF else ~negative


def signed_zero(mode: Rounding, x: Real, y: Real, total: Real) -> Real:
    """Return the sum with the sign of zero corrected: under `negative_inf` an exact zero sum is -0 unless both operands
    are +0."""
    if mode is not Rounding.NEGATIVE_INF:
        return total
    negative = total.equals(0.0) & (x.is_negative() | y.is_negative())
    return negative.choose(total.of(-0.0), total)


# ---------------------------------------------------------------- polynomials, and arithmetic on pairs


def polynomial(x: Real, coefficients: Sequence[float]) -> Real:
    """Return the value at x; the constant coefficient comes first."""
    *rest, last = coefficients
    result = x.of(last)
    for coefficient in reversed(rest):
        result = result.times_plus(x, coefficient)
    return result


def normalized(high: Real, low: Real) -> Pair:
    """Return the same sum with a low part below the last bit of the high one; |high| >= |low|."""
    return ordered_sum_pair(high, low)


def add_pairs(x: Pair, y: Pair) -> Pair:
    total = sum_pair(x.high, y.high)
    return normalized(total.high, total.low + (x.low + y.low))


def multiply_pairs(x: Pair, y: Pair) -> Pair:
    product = product_pair(x.high, y.high)
    return normalized(product.high, product.low + (x.high * y.low + x.low * y.high))


def divide_pairs(x: Pair, y: Pair) -> Pair:
    quotient = x.high / y.high
    rest = (-quotient).times_plus(y.high, x.high) + (x.low - quotient * y.low)
    return normalized(quotient, rest / y.high)


def constant_pair(like: Real, high: float, low: float) -> Pair:
    return Pair(like.of(high), like.of(low))


def value(pair: Pair) -> Real:
    return pair.high + pair.low


class Multiple(NamedTuple):
    """An integral number, and a register that has it in its low bits."""

    number: Real
    register: Int


def nearest_multiple(x: Real, factor: float, plus: int = 0) -> Multiple:
    """Return the integer nearest to x * factor; in the register, with `plus` added.

    Adding 1.5 times the weight of the first bit above the significand brings it into the low bits.
    """
    shift = 1.5 * 2.0**x.fraction + plus
    shifted = x.times_plus(factor, shift)
    return Multiple(shifted - shift, shifted.pattern())


def power_of_two(exponent: Real) -> Real:
    """Return 2^n of an integral f64 within the exponents of normal numbers: adding 2^52 * 1.5 brings n into the low
    bits."""
    biased = (exponent + (1.5 * 2.0**52 + exponent.bias)).pattern()
    return (biased << exponent.fraction).as_real()
