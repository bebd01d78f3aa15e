"""Bounds and divisors of integers: facts about a number whose value is unknown.

A block id times 128 is ``Range(128, 0, 128 * MAX_BLOCK)``: a multiple of 128 between these bounds. Adding an index of
0..127 gives ``Range(1, 0, 128 * MAX_BLOCK + 127)``, which i32 holds, so that nothing wraps around.

Arithmetic of ranges is that of mathematical integers; a result may then be cut to a number of bits.

A range is only ever too wide. Bounds are those of the signed reading.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tileir.ir.attributes import Rounding

MAX_DIVISOR = 1 << 62
"""The divisor of 0."""

MAX_GRID = (1 << 24) - 1
"""The most blocks along one axis of a grid (spec: launch#grid)."""


@dataclass(frozen=True)
class Range:
    """A number is a multiple of `divisor`, a power of two, and lies in [`low`, `high`]; none does if `high` < `low`."""

    divisor: int
    low: int
    high: int

    @property
    def constant(self) -> int | None:
        return self.low if self.low == self.high else None

    def within(self, other: Range) -> bool:
        """Return whether the bounds lie in those of `other`."""
        return other.low <= self.low and self.high <= other.high


BLOCK_ID = Range(1, 0, MAX_GRID)
GRID_EXTENT = Range(1, 1, MAX_GRID)


def power_in(number: int) -> int:
    """Return the largest power of two that divides `number`."""
    return min(number & -number, MAX_DIVISOR) if number else MAX_DIVISOR


def constant(value: int) -> Range:
    return Range(power_in(value), value, value)


def signed(bits: int) -> Range:
    """Every number of `bits` bits, read as signed."""
    return Range(1, -1 << (bits - 1), (1 << (bits - 1)) - 1)


def unsigned(bits: int) -> Range:
    """Every number of `bits` bits, read as unsigned."""
    return Range(1, 0, (1 << bits) - 1)


def union(a: Range, b: Range) -> Range:
    """Return the range of a number that is one of two."""
    return Range(min(a.divisor, b.divisor), min(a.low, b.low), max(a.high, b.high))


def intersection(a: Range, b: Range) -> Range:
    """Return the range of a number that lies in both."""
    return Range(max(a.divisor, b.divisor), max(a.low, b.low), min(a.high, b.high))


# ---------------------------------------------------------------- numbers that are kept in some bits


def wrapped(exact: Range, bits: int) -> Range:
    """Return the low bits of a number, read as signed."""
    limits = signed(bits)
    if exact.within(limits):
        return exact
    return Range(min(exact.divisor, 1 << (bits - 1)), limits.low, limits.high)


def zero_extended(a: Range, bits: int) -> Range:
    """Return the unsigned reading of a number of `bits` bits, from its signed one."""
    if a.low >= 0:
        return a
    if a.high < 0:
        return Range(min(a.divisor, 1 << bits), a.low + (1 << bits), a.high + (1 << bits))
    return Range(min(a.divisor, 1 << bits), 0, (1 << bits) - 1)


# ---------------------------------------------------------------- exact arithmetic


def add(a: Range, b: Range) -> Range:
    return Range(min(a.divisor, b.divisor), a.low + b.low, a.high + b.high)


def subtract(a: Range, b: Range) -> Range:
    return Range(min(a.divisor, b.divisor), a.low - b.high, a.high - b.low)


def multiply(a: Range, b: Range) -> Range:
    corners = _corners(a, b, lambda x, y: x * y)
    return Range(min(a.divisor * b.divisor, MAX_DIVISOR), min(corners), max(corners))


def minimum(a: Range, b: Range) -> Range:
    return Range(min(a.divisor, b.divisor), min(a.low, b.low), min(a.high, b.high))


def maximum(a: Range, b: Range) -> Range:
    return Range(min(a.divisor, b.divisor), max(a.low, b.low), max(a.high, b.high))


def _corners(a: Range, b: Range, function: Callable[[int, int], int]) -> list[int]:
    """Return the values of a function that is monotonic in each operand where the bounds meet."""
    return [function(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]


# ---------------------------------------------------------------- division by positive numbers


def divided(dividend: int, divisor: int, rounding: Rounding) -> int:
    """Return the quotient truncated (zero), floored (negative_inf) or ceiled (positive_inf)."""
    if rounding is Rounding.ZERO and dividend < 0:
        return -(-dividend // divisor)
    return -(-dividend // divisor) if rounding is Rounding.POSITIVE_INF else dividend // divisor


def quotient(a: Range, b: Range, rounding: Rounding) -> Range | None:
    """Return the quotient of a number and a positive one; None if the divisor may not be positive."""
    if b.low <= 0:
        return None
    corners = _corners(a, b, lambda x, y: divided(x, y, rounding))
    by = b.constant
    exact = by is not None and by == power_in(by) and a.divisor % by == 0
    return Range(a.divisor // by if exact and by else 1, min(corners), max(corners))


def remainder(a: Range, b: Range) -> Range | None:
    """Return the rest of a truncated quotient, with the sign of the dividend; None if the divisor may not be
    positive."""
    if b.low <= 0:
        return None
    if -b.low < a.low and a.high < b.low:
        return a
    low = 0 if a.low >= 0 else max(a.low, 1 - b.high)
    high = 0 if a.high <= 0 else min(a.high, b.high - 1)
    return Range(min(a.divisor, b.divisor), low, high)


def modulo(a: Range, b: Range) -> Range | None:
    """Return the rest of a floored quotient, which is never negative; None if the divisor may not be positive."""
    if a.low >= 0 or b.low <= 0:
        return remainder(a, b)
    return Range(min(a.divisor, b.divisor), 0, b.high - 1)


# ---------------------------------------------------------------- bits


def shift_left(a: Range, amount: Range, bits: int) -> Range | None:
    """Return the exact product with a power of two; None if the amount may be `bits` or more."""
    if not amount.within(Range(1, 0, bits - 1)):
        return None
    return multiply(a, _power(amount))


def shift_right(a: Range, amount: Range, bits: int) -> Range | None:
    """Return the floored quotient by a power of two; None if the amount may be `bits` or more."""
    if not amount.within(Range(1, 0, bits - 1)):
        return None
    return quotient(a, _power(amount), Rounding.NEGATIVE_INF)


def _power(amount: Range) -> Range:
    return Range(1 << amount.low, 1 << amount.low, 1 << amount.high)


def bitwise_and(a: Range, b: Range, bits: int) -> Range:
    divisor = max(a.divisor, b.divisor)
    limits = [operand.high for operand in (a, b) if operand.low >= 0]
    if limits:
        return Range(divisor, 0, min(limits))
    return Range(divisor, signed(bits).low, max(a.high, b.high))


def bitwise_or(a: Range, b: Range, bits: int) -> Range:
    return _without_sign(a, b, max(a.low, b.low), bits)


def bitwise_xor(a: Range, b: Range, bits: int) -> Range:
    return _without_sign(a, b, 0, bits)


def _without_sign(a: Range, b: Range, low: int, bits: int) -> Range:
    """Return the range from `low` on of a number that has bits of either operand, if neither is negative."""
    limits = Range(1, low, _ones(a, b)) if a.low >= 0 and b.low >= 0 else signed(bits)
    return Range(min(a.divisor, b.divisor), limits.low, limits.high)


def _ones(a: Range, b: Range) -> int:
    """Return the largest number with no more bits than the larger of two that are not negative."""
    return (1 << max(a.high, b.high).bit_length()) - 1
