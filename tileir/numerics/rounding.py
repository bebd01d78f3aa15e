"""Float arithmetic rounded once: add, sub, mul, fma, div and sqrt of f16, bf16, f32 and f64 in the four IEEE modes.

Each function takes the element type and the mode and returns the function on arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from tileir.ir import types as t
from tileir.ir.attributes import Rounding
from tileir.ir.storage import dtype_of
from tileir.numerics import error_free, wide
from tileir.numerics.bits import Array, pattern

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
        return lambda lhs, rhs: wide.multiply(lhs, rhs, mode)
    return _narrowed(np.multiply, element, mode)


def div(element: t.ElementType, mode: Rounding) -> Function:
    """Return a quotient: that of two bf16 can be subnormal in f32, where a second rounding would show."""
    if mode is Rounding.NEAREST_EVEN:
        return _nearest(np.divide, element, np.float64 if element is t.BF16 else np.float32)
    if element is t.F64:
        return lambda lhs, rhs: wide.divide(lhs, rhs, mode)
    return _narrowed(lambda lhs, rhs: error_free.to_odd(*error_free.narrow_quotient(lhs, rhs)), element, mode)


def sqrt(element: t.ElementType, mode: Rounding) -> Function:
    if mode is Rounding.NEAREST_EVEN:
        return _nearest(np.sqrt, element, np.float32)
    if element is t.F64:
        return partial(_root_f64, mode)
    return _narrowed(lambda source: error_free.to_odd(*error_free.narrow_root(source)), element, mode)


def fma(element: t.ElementType, mode: Rounding) -> Function:
    if element is t.F64:
        return lambda lhs, rhs, acc: wide.multiply_add(lhs, rhs, acc, mode)
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
    return error_free.in_mode(near, error_free.difference(x, near.astype(x.dtype)), mode)


def nearest_bf16(x: Array) -> Array:
    """Round to bf16, to nearest even. The cast from f64 goes through f32, which must not make up a tie."""
    near = x.astype(np.float32)
    if x.dtype == np.float64 and ((pattern(near) & 0xFFFF) == 0x8000).any():
        near = error_free.to_odd(near, error_free.difference(x, near.astype(np.float64)))
    return near.astype(dtype_of(t.BF16))


def _odd_sum(mode: Rounding, x: Array, y: Array) -> Array:
    """Return x + y of narrow numbers in f64, rounded to odd."""
    return _signed_zero(mode, x, y, error_free.to_odd(*error_free.narrow_sum(x, y)))


def _sum_f64(mode: Rounding, x: Array, y: Array) -> Array:
    return _signed_zero(mode, x, y, error_free.in_mode(*error_free.full_sum(x, y), mode))


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
    root = error_free.in_mode(*error_free.narrow_root(np.ldexp(fraction, odd)), mode)
    return np.ldexp(root, (exponent - odd) >> 1)


def flushed(x: Array) -> Array:
    """Return f32 with subnormals replaced by zeros of the same sign."""
    tiny = np.abs(x) < _SMALLEST_NORMAL_F32
    return np.where(tiny, np.copysign(np.float32(0), x), x) if tiny.any() else x


def flushing(function: Function) -> Function:
    """Return `function` on f32 with subnormal operands and results flushed."""
    return lambda *operands: flushed(function(*map(flushed, operands)))
