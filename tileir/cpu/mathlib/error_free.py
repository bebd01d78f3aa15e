"""Sums and products in floats together with what their rounding lost, and how that decides a directed rounding.

Knows: error-free transformations (Knuth, Dekker; products by fused multiply-add), rounding to odd (Boldo and
Melquiond, 2008), stepping to a neighbour. Does not know: element types, nor ranges: each function says where it holds.
"""

from __future__ import annotations

from typing import NamedTuple

from tileir.cpu.emit.algebra import Flag, Real
from tileir.ir.attributes import Rounding


class Pair(NamedTuple):
    """A number as the sum of a float and what that float misses of it."""

    high: Real
    low: Real


def sum_pair(x: Real, y: Real) -> Pair:
    """x + y, exact unless it overflows (Knuth's TwoSum)."""
    total = x + y
    part = total - x
    return Pair(total, (x - (total - part)) + (y - part))


def ordered_sum_pair(big: Real, small: Real) -> Pair:
    """big + small where the exponent of `big` is no smaller, or `big` is zero (Dekker's Fast2Sum)."""
    total = big + small
    return Pair(total, small - (total - big))


def product_pair(x: Real, y: Real) -> Pair:
    """x * y, exact far from underflow and overflow."""
    product = x * y
    return Pair(product, x.times_plus(y, -product))


def outward(total: Real, error: Real) -> Real:
    """`error` as seen in the direction of `total`: positive where the magnitude of `total` falls short."""
    sign = 1 << (total.width - 1)
    return (error.pattern() ^ (total.pattern() & sign)).as_real()


def stepped(x: Real, up: Flag, down: Flag) -> Real:
    """The float next to `x`: away from zero where `up`, towards zero where `down`, never both.

    The patterns of one sign are ordered like the magnitudes, so the step crosses binades and reaches infinity.
    """
    pattern = x.pattern()
    return (pattern + up.as_integer(pattern.type) - down.as_integer(pattern.type)).as_real()


def to_odd(pair: Pair) -> Real:
    """The exact sum if `high` is it, else the neighbour with an odd pattern: a later, narrower rounding is single."""
    missing = outward(*pair)
    even = (pair.high.pattern() & 1).equals(0)
    return stepped(pair.high, (missing > 0.0) & even, (missing < 0.0) & even)


def in_mode(pair: Pair, mode: Rounding) -> Real:
    """The sum rounded in a directed mode; an overflow to infinity is undone where the mode asks for it."""
    missing = outward(*pair)
    away = away_from_zero(pair.high.is_negative(), mode)
    return stepped(pair.high, (missing > 0.0) & away, (missing < 0.0) & ~away)


def away_from_zero(negative: Flag, mode: Rounding) -> Flag:
    """Whether directed `mode` rounds magnitudes up."""
    if mode is Rounding.ZERO:
        return negative ^ negative
    return negative if mode is Rounding.NEGATIVE_INF else ~negative


def signed_zero(mode: Rounding, x: Real, y: Real, total: Real) -> Real:
    """Under `negative_inf` an exact zero sum is -0 unless both operands are +0."""
    if mode is not Rounding.NEGATIVE_INF:
        return total
    negative = total.equals(0.0) & (x.is_negative() | y.is_negative())
    return negative.choose(total.of(-0.0), total)
