"""f64 multiplication, fused multiply-add and division in any IEEE rounding mode, in 128-bit integers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tileir.ir.attributes import Rounding
from tileir.ir.types import F64
from tileir.numerics.bits import Array, bit_length, wide_product
from tileir.numerics.formats import normalized, rounded_magnitude, significand, with_sign

_ZERO = np.uint64(0)
_WIDTH = np.uint64(64)
_FAR_BELOW = -100_000
"""The exponent of a zero: smaller than that of any product, so that aligning to it never shifts the other operand."""
_QUOTIENT_STEPS = 5
_STEP_BITS = np.uint64(11)


class Wide(NamedTuple):
    """(high * 2^64 + low) * 2^exponent, negative where `sign`; the last bit may stand for lost ones."""

    sign: Array
    high: Array
    low: Array
    exponent: Array


def multiply(x: Array, y: Array, mode: Rounding) -> Array:
    """Return x * y: a fused multiply-add of a zero that has the sign of the product."""
    return multiply_add(x, y, np.copysign(0.0, np.copysign(1.0, x) * np.copysign(1.0, y)), mode)


def multiply_add(x: Array, y: Array, acc: Array, mode: Rounding) -> Array:
    """Return x * y + acc rounded once."""
    finite_factors = np.isfinite(x) & np.isfinite(y)
    finite = finite_factors & np.isfinite(acc)
    x_in, y_in, acc_in = (np.where(finite, operand, 0.0) for operand in (x, y, acc))
    total = _sum(_product(x_in, y_in), _addend(acc_in), mode)
    return np.where(finite, _packed(total, mode), np.where(finite_factors, acc, x * y + acc))


def divide(x: Array, y: Array, mode: Rounding) -> Array:
    """Return x / y rounded once."""
    ordinary = np.isfinite(x) & np.isfinite(y) & (x != 0) & (y != 0)
    x_in, y_in = np.where(ordinary, x, 1.0), np.where(ordinary, y, 1.0)
    sign = np.signbit(x_in) != np.signbit(y_in)
    return np.where(ordinary, _assembled(sign, *normalized(*_quotient(x_in, y_in)), mode), x / y)


def _quotient(x: Array, y: Array) -> tuple[Array, Array]:
    """Return the magnitude of x / y as q * 2^e with at least 56 bits in q, the last one sticky (long division)."""
    dividend, x_exponent = significand(x)
    divisor, y_exponent = significand(y)
    divisor = divisor >> _STEP_BITS
    quotient, rest = np.divmod(dividend >> _STEP_BITS, divisor)
    for _ in range(_QUOTIENT_STEPS):
        digit, rest = np.divmod(rest << _STEP_BITS, divisor)
        quotient = (quotient << _STEP_BITS) | digit
    bits = (quotient << np.uint64(1)) | (rest != 0)
    return bits, x_exponent - y_exponent - (_QUOTIENT_STEPS * int(_STEP_BITS) + 1)


def _product(x: Array, y: Array) -> Wide:
    """Return x * y below 2^126 times its power of two."""
    x_bits, x_exponent = significand(x)
    y_bits, y_exponent = significand(y)
    high, low = wide_product(x_bits >> np.uint64(1), y_bits >> np.uint64(1))
    exponent = np.where((high | low) == 0, _FAR_BELOW, x_exponent + y_exponent + 2)
    return Wide(np.signbit(x) != np.signbit(y), high, low, exponent)


def _addend(x: Array) -> Wide:
    """Return x below 2^126 times its power of two."""
    bits, exponent = significand(x)
    aligned = np.where(bits == 0, _FAR_BELOW, exponent - 62)
    return Wide(np.signbit(x), bits >> np.uint64(2), np.zeros_like(bits), aligned)


def _sum(x: Wide, y: Wide, mode: Rounding) -> Wide:
    """Return x + y. A shifted-out part leaves a sticky bit; both operands have enough zero bits below for that to be
    exact."""
    exponent = np.maximum(x.exponent, y.exponent)
    x_high, x_low = _shifted_right(x.high, x.low, exponent - x.exponent)
    y_high, y_low = _shifted_right(y.high, y.low, exponent - y.exponent)
    same_sign = x.sign == y.sign
    swap = (x_high < y_high) | ((x_high == y_high) & (x_low < y_low))
    big_high, big_low = np.where(swap, y_high, x_high), np.where(swap, y_low, x_low)
    small_high, small_low = np.where(swap, x_high, y_high), np.where(swap, x_low, y_low)
    low = np.where(same_sign, big_low + small_low, big_low - small_low)
    high_sum = big_high + small_high + (low < big_low)
    high = np.where(same_sign, high_sum, big_high - small_high - (big_low < small_low))
    cancelled = ~same_sign & ((high | low) == 0)
    sign = np.where(cancelled, mode is Rounding.NEGATIVE_INF, np.where(swap, y.sign, x.sign))
    return Wide(sign, high, low, exponent)


def _shifted_right(high: Array, low: Array, distance: Array) -> tuple[Array, Array]:
    """Return a 128-bit integer shifted right; its last bit is set if any bit was lost."""
    capped = np.minimum(distance, 127).astype(np.uint64)
    far = capped >= _WIDTH
    first, second = np.where(far, _ZERO, high), np.where(far, high, low)
    lost_half = np.where(far, low, _ZERO)
    shift = capped & np.uint64(63)
    shifted = (second >> shift) | (first << (_WIDTH - shift))
    lost = lost_half | (second << (_WIDTH - shift))
    return first >> shift, shifted | (lost != 0)


def _packed(x: Wide, mode: Rounding) -> Array:
    """Return the f64 nearest to x in `mode`."""
    short = x.high == 0
    high, low = np.where(short, x.low, x.high), np.where(short, _ZERO, x.low)
    shift = (64 - bit_length(high)).astype(np.uint64)
    bits = (high << shift) | (low >> (_WIDTH - shift)) | ((low << shift) != 0)
    exponent = x.exponent + np.where(short, 0, 64) - shift.astype(np.int64)
    return _assembled(x.sign, bits, exponent, mode)


def _assembled(sign: Array, bits: Array, exponent: Array, mode: Rounding) -> Array:
    magnitude = rounded_magnitude(sign, bits, exponent, F64, mode)
    return with_sign(magnitude, sign, F64).view(np.float64)
