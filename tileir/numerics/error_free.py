"""Sums, products, quotients and roots in f64 together with what their rounding lost.

Errors are called `missing`: positive where the magnitude of the rounded result falls short of the exact one, negative
where it is beyond, zero or NaN where there is nothing to correct.
"""

from __future__ import annotations

import numpy as np

from tileir.ir.attributes import Rounding
from tileir.numerics.bits import Array, is_odd, pattern, stepped

_SPLITTER = 2.0**27 + 1


def in_mode(nearest: Array, missing: Array, mode: Rounding) -> Array:
    """Return `nearest` moved to the neighbour that directed `mode` asks for; overflow to infinity is undone where it
    must."""
    away = _away_from_zero(nearest, mode)
    return stepped(nearest, (missing > 0) & away, (missing < 0) & ~away)


def _away_from_zero(x: Array, mode: Rounding) -> Array:
    """Mask of the elements whose magnitude `mode` rounds up."""
    if mode is Rounding.ZERO:
        return np.zeros(x.shape, np.bool_)
    negative = np.signbit(x)
    return negative if mode is Rounding.NEGATIVE_INF else ~negative


def to_odd(nearest: Array, missing: Array) -> Array:
    """Return `nearest` where it is exact or odd, else the other neighbour of the exact value, which is odd."""
    even = ~is_odd(pattern(nearest))
    return stepped(nearest, (missing > 0) & even, (missing < 0) & even)


def difference(exact: Array, rounded: Array) -> Array:
    """Return the difference of `exact` and `rounded` (both f64, of the same sign)."""
    missing: Array = np.abs(exact) - np.abs(rounded)
    return missing


def narrow_sum(x: Array, y: Array) -> tuple[Array, Array]:
    """Return x + y and what it misses, for magnitudes far from overflow (Knuth's TwoSum)."""
    total = x + y
    part = total - x
    return total, _signed_as(total, (x - (total - part)) + (y - part))


def full_sum(x: Array, y: Array) -> tuple[Array, Array]:
    """Return x + y and what it misses, over the whole range (Dekker's Fast2Sum on sorted operands)."""
    swap = np.abs(x) < np.abs(y)
    big, small = np.where(swap, y, x), np.where(swap, x, y)
    total = x + y
    return total, _signed_as(total, small - (total - big))


def narrow_quotient(x: Array, y: Array) -> tuple[Array, Array]:
    """Return x / y and what it misses, for magnitudes far from overflow and underflow."""
    quotient = x / y
    product, error = exact_product(quotient, y)
    return quotient, _signed_as(quotient, _signed_as(y, (x - product) - error))


def narrow_root(x: Array) -> tuple[Array, Array]:
    """Return the square root of x and what it misses, for magnitudes far from overflow and underflow."""
    root = np.sqrt(x)
    square, error = exact_product(root, root)
    return root, (x - square) - error


def exact_product(x: Array, y: Array) -> tuple[Array, Array]:
    """Return p and e with p + e = x * y exactly and p the rounded product, far from overflow and underflow."""
    product = x * y
    x_high, x_low = _halves(x)
    y_high, y_low = _halves(y)
    error = ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low
    return product, error


def _halves(x: Array) -> tuple[Array, Array]:
    """Return two numbers of at most 26 bits whose sum is x (Veltkamp)."""
    scaled = x * _SPLITTER
    high = scaled - (scaled - x)
    return high, x - high


def _signed_as(reference: Array, error: Array) -> Array:
    """Return `error` as seen in the direction of `reference`: positive where it makes its magnitude larger."""
    oriented: Array = np.copysign(1.0, reference) * error
    return oriented
