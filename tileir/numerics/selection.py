"""Float operations whose result is exact: signs, integral parts, remainder, minimum, maximum, comparison."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tileir.ir import types as t
from tileir.ir.attributes import Ordering, Predicate
from tileir.numerics.bits import Array, pattern
from tileir.numerics.formats import with_quiet_nan
from tileir.numerics.rounding import Function

Comparison = Callable[[Array, Array], Array]


def negative(x: Array) -> Array:
    """Return the sign bit flipped, also of NaN."""
    bits = pattern(x)
    return (bits ^ _sign_bit(bits)).view(x.dtype)


def absolute(x: Array) -> Array:
    """Return the sign bit cleared, also of NaN."""
    bits = pattern(x)
    return (bits & ~_sign_bit(bits)).view(x.dtype)


def _sign_bit(bits: Array) -> Array:
    return bits.dtype.type(1 << (8 * bits.dtype.itemsize - 1))


def exactly(function: Callable[..., Array]) -> Callable[[t.ElementType], Function]:
    """Return `function`, whose results need no more bits than its operands, with f16 and bf16 evaluated in f32."""

    def for_element(element: t.ElementType) -> Function:
        if element in (t.F32, t.F64):
            return function
        return lambda *operands: function(*(x.astype(np.float32) for x in operands)).astype(operands[0].dtype)

    return for_element


ceil = exactly(np.ceil)
floor = exactly(np.floor)
remainder = exactly(np.fmod)


def maximum(element: t.ElementType, propagate_nan: bool) -> Function:
    """Return the larger element, +0 above -0; a NaN loses against a number unless `propagate_nan`."""
    function = np.maximum if propagate_nan else np.fmax
    return _extreme(function, np.bitwise_and, element)


def minimum(element: t.ElementType, propagate_nan: bool) -> Function:
    """Return the smaller element, -0 below +0; a NaN loses against a number unless `propagate_nan`."""
    function = np.minimum if propagate_nan else np.fmin
    return _extreme(function, np.bitwise_or, element)


def _extreme(function: Function, of_zeros: Function, element: t.ElementType) -> Function:
    """Return a minimum or maximum; `of_zeros` joins the patterns of operands that are both zero: only the sign bits can
    differ."""

    def evaluate(lhs: Array, rhs: Array) -> Array:
        result = function(lhs, rhs)
        zeros = (lhs == 0) & (rhs == 0)
        if zeros.any():
            result = np.where(zeros, of_zeros(pattern(lhs), pattern(rhs)).view(lhs.dtype), result)
        return result

    exact = exactly(evaluate)(element)

    def quiet(lhs: Array, rhs: Array) -> Array:
        result = exact(lhs, rhs)
        return with_quiet_nan(result, result, element)

    return quiet


def compare(predicate: Predicate, ordering: Ordering) -> Comparison:
    """Return the comparison on arrays of a float type; with a NaN it is false when ordered, true when unordered."""
    return (_ORDERED if ordering is Ordering.ORDERED else _UNORDERED)[predicate]


def _negated(function: Comparison) -> Comparison:
    return lambda lhs, rhs: np.logical_not(function(lhs, rhs))


def _less_or_greater(lhs: Array, rhs: Array) -> Array:
    differ: Array = (lhs < rhs) | (lhs > rhs)
    return differ


_ORDERED: dict[Predicate, Comparison] = {
    Predicate.EQUAL: np.equal,
    Predicate.NOT_EQUAL: _less_or_greater,
    Predicate.LESS_THAN: np.less,
    Predicate.LESS_THAN_OR_EQUAL: np.less_equal,
    Predicate.GREATER_THAN: np.greater,
    Predicate.GREATER_THAN_OR_EQUAL: np.greater_equal,
}
_UNORDERED: dict[Predicate, Comparison] = {
    Predicate.EQUAL: _negated(_less_or_greater),
    Predicate.NOT_EQUAL: np.not_equal,
    Predicate.LESS_THAN: _negated(np.greater_equal),
    Predicate.LESS_THAN_OR_EQUAL: _negated(np.greater),
    Predicate.GREATER_THAN: _negated(np.less_equal),
    Predicate.GREATER_THAN_OR_EQUAL: _negated(np.less),
}
