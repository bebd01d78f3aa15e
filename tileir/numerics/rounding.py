"""Float arithmetic rounded once: add, sub, mul, fma, div and sqrt of f16, bf16, f32 and f64 in the four IEEE modes.

Each function takes the element type and the mode and returns the function on arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from tileir.ir import types as t
from tileir.ir.attributes import Rounding
from tileir.ir.storage import dtype_of
from tileir.ir.types import F64
from tileir.numerics.bits import Array, bit_length, is_odd, pattern, stepped, wide_product
from tileir.numerics.formats import normalized, rounded_magnitude, significand, with_sign

Function = Callable[..., Array]
Sum = Callable[[Array, Array], tuple[Array, Array]]

_SMALLEST_NORMAL_F32 = np.float32(2.0**-126)


def add(element: t.ElementType, mode: Rounding) -> Function:
    if mode is Rounding.NEAREST_EVEN:
        return _nearest(np.add, element, np.float32)
    if element is t.F64:
        return partial(_sum_f64, mode)
    return _narrowed(partial(_odd_sum, mode), element, mode)


def sub(element: t.ElementType, mode: Rounding) -> Function:
    if mode is Rounding.NEAREST_EVEN:
        return _nearest(np.subtract, element, np.float32)
    plus = add(element, mode)
    return lambda lhs, rhs: plus(lhs, np.negative(rhs))


def mul(element: t.ElementType, mode: Rounding) -> Function:
    """Return a product: of two narrow numbers it is exact in f64; that of two bf16 can underflow f32."""
    if mode is Rounding.NEAREST_EVEN:
        return _nearest(np.multiply, element, np.float64 if element is t.BF16 else np.float32)
    if element is t.F64:
        return lambda lhs, rhs: multiply(lhs, rhs, mode)
    return _narrowed(np.multiply, element, mode)


def div(element: t.ElementType, mode: Rounding) -> Function:
    """Return a quotient: that of two bf16 can be subnormal in f32, where a second rounding would show."""
    if mode is Rounding.NEAREST_EVEN:
        return _nearest(np.divide, element, np.float64 if element is t.BF16 else np.float32)
    if element is t.F64:
        return lambda lhs, rhs: divide(lhs, rhs, mode)
    return _narrowed(lambda lhs, rhs: to_odd(*narrow_quotient(lhs, rhs)), element, mode)


def sqrt(element: t.ElementType, mode: Rounding) -> Function:
    if mode is Rounding.NEAREST_EVEN:
        return _nearest(np.sqrt, element, np.float32)
    if element is t.F64:
        return partial(_root_f64, mode)
    return _narrowed(lambda source: to_odd(*narrow_root(source)), element, mode)


def fma(element: t.ElementType, mode: Rounding) -> Function:
    if element is t.F64:
        return lambda lhs, rhs, acc: multiply_add(lhs, rhs, acc, mode)
    return _narrowed(lambda lhs, rhs, acc: _odd_sum(mode, lhs * rhs, acc), element, mode)


def _nearest(function: Function, element: t.ElementType, working: type[np.floating]) -> Function:
    """Return `function` to nearest even: f32 and f64 at once, narrower types through `working`."""
    if element in (t.F32, t.F64):
        return function

    def evaluate(*operands: Array) -> Array:
        return narrowed(function(*(operand.astype(working) for operand in operands)), element, Rounding.NEAREST_EVEN)

    return evaluate


def _narrowed(function: Function, element: t.ElementType, mode: Rounding) -> Function:
    """Return `function`, which is exact or rounds to odd in f64, then rounded to `element`."""

    def evaluate(*operands: Array) -> Array:
        return narrowed(function(*(operand.astype(np.float64) for operand in operands)), element, mode)

    return evaluate


def narrowed(x: Array, element: t.ElementType, mode: Rounding) -> Array:
    """Return f32 or f64 values rounded once to f16, bf16, f32 or f64, in one of the IEEE modes."""
    if mode is Rounding.NEAREST_EVEN:
        return nearest_bf16(x) if element is t.BF16 else x.astype(dtype_of(element))
    near = x.astype(dtype_of(element))
    return in_mode(near, difference(x, near.astype(x.dtype)), mode)


def nearest_bf16(x: Array) -> Array:
    """Round to bf16, to nearest even. The cast from f64 goes through f32, which must not make up a tie."""
    near = x.astype(np.float32)
    if x.dtype == np.float64 and ((pattern(near) & 0xFFFF) == 0x8000).any():
        near = to_odd(near, difference(x, near.astype(np.float64)))
    return near.astype(dtype_of(t.BF16))


def _odd_sum(mode: Rounding, x: Array, y: Array) -> Array:
    """Return x + y of narrow numbers in f64, rounded to odd."""
    return _signed_zero(mode, x, y, to_odd(*narrow_sum(x, y)))


def _sum_f64(mode: Rounding, x: Array, y: Array) -> Array:
    return _signed_zero(mode, x, y, in_mode(*full_sum(x, y), mode))


def _signed_zero(mode: Rounding, x: Array, y: Array, total: Array) -> Array:
    """Return the sum with the sign of zero corrected: under `negative_inf` an exact zero sum is -0 unless both operands
    are +0."""
    if mode is not Rounding.NEGATIVE_INF:
        return total
    return np.where((total == 0) & (np.signbit(x) | np.signbit(y)), -0.0, total)


def _root_f64(mode: Rounding, x: Array) -> Array:
    """Return the root of the significand scaled to [0.5, 2) by an even power of two; the result is never subnormal."""
    fraction, exponent = np.frexp(x)
    odd = exponent & 1
    root = in_mode(*narrow_root(np.ldexp(fraction, odd)), mode)
    return np.ldexp(root, (exponent - odd) >> 1)


def flushed(x: Array) -> Array:
    """Return f32 with subnormals replaced by zeros of the same sign."""
    tiny = np.abs(x) < _SMALLEST_NORMAL_F32
    return np.where(tiny, np.copysign(np.float32(0), x), x) if tiny.any() else x


def flushing(function: Function) -> Function:
    """Return `function` on f32 with subnormal operands and results flushed."""
    return lambda *operands: flushed(function(*map(flushed, operands)))


# ---------------------------------------------------------------- error-free transformations


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


# ---------------------------------------------------------------- f64 in 128-bit integers


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
