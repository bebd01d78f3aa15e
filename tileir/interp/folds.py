"""Reductions and scans whose body is one well-known operation, as NumPy accumulations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tileir.interp import trees
from tileir.ir import types as t
from tileir.ir.attributes import Overflow, Rounding, Signedness
from tileir.ir.core import Op
from tileir.numerics.formats import quiet_nan
from tileir.ops.floating import AddF, MaxF, MinF, MulF
from tileir.ops.integer import AddI, AndI, MaxI, MinI, MulI, OrI, XOrI
from tileir.ops.reduction import Reduce, Scan

Array = np.ndarray
Fold = Callable[[Array], Array]
"""From the operand of a `reduce` or `scan` to its result."""

_INTEGERS: dict[type[Op], np.ufunc] = {
    AddI: np.add,
    MulI: np.multiply,
    AndI: np.bitwise_and,
    OrI: np.bitwise_or,
    XOrI: np.bitwise_xor,
    MaxI: np.maximum,
    MinI: np.minimum,
}
_SUMS: dict[type[Op], np.ufunc] = {AddF: np.add, MulF: np.multiply}
_EXTREMES: dict[type[Op], np.ufunc] = {MaxF: np.maximum, MinF: np.minimum}


def fold_of(op: Reduce | Scan) -> Fold | None:
    """The accumulation that `op` is, or None if its body is not one operation of the kinds known here."""
    combine = _only_operation(op)
    if combine is None or len(op.sources) != 1:
        return None
    kind, element = type(combine), op.sources[0].type.element
    if kind in _INTEGERS and _is_plain_integer(combine, element):
        return _integer_fold(op, combine)
    if kind in _SUMS and _is_plain_sum(combine, element):
        return _sum_fold(op, _SUMS[kind])
    if kind in _EXTREMES and not combine.attributes.get("flush_to_zero"):
        return _extreme_fold(op, combine, op.sources[0].type.number)
    return None


def _only_operation(op: Reduce | Scan) -> Op | None:
    """The operation on the two arguments whose result is all that the body yields."""
    body = op.body
    if len(body.ops) != 2 or len(body.args) != 2:
        return None
    combine, end = body.ops
    both = set(combine.operands) == set(body.args) and len(combine.operands) == 2
    return combine if both and end.operands == combine.results else None


def _is_plain_integer(combine: Op, element: t.Type) -> bool:
    """Not i1, whose arithmetic is not NumPy's, and without a promise that strict mode checks at every step."""
    promise = combine.attributes.get("overflow", Overflow.NONE)
    return element is not t.I1 and promise is Overflow.NONE


def _is_plain_sum(combine: Op, element: t.Type) -> bool:
    """Rounded as NumPy rounds. A product of bf16 can underflow f32, through which ml_dtypes evaluates it."""
    rounding = combine.attributes.get("rounding_mode", Rounding.NEAREST_EVEN)
    plain = rounding is Rounding.NEAREST_EVEN and not combine.attributes.get("flush_to_zero")
    return plain and not (isinstance(combine, MulF) and element is t.BF16)


def _integer_fold(op: Reduce | Scan, combine: Op) -> Fold:
    accumulate = _in_any_order(op, _INTEGERS[type(combine)])
    if combine.attributes.get("signedness") is not Signedness.UNSIGNED:
        return accumulate
    return lambda source: accumulate(source.view(f"u{source.dtype.itemsize}")).view(source.dtype)


def _in_any_order(op: Reduce | Scan, function: np.ufunc) -> Fold:
    """The accumulation of a function whose result does not depend on the order."""
    axis = op.dim
    if isinstance(op, Reduce):
        return lambda source: function.reduce(source, axis, source.dtype)
    accumulated: Fold = lambda source: function.accumulate(source, axis, source.dtype)  # noqa: E731
    return _backward(accumulated, axis) if op.reverse else accumulated


def _backward(forward: Fold, axis: int) -> Fold:
    return lambda source: np.flip(forward(np.flip(source, axis)), axis)


def _sum_fold(op: Reduce | Scan, function: np.ufunc) -> Fold:
    join: trees.Join = lambda left, right: (function(left[0], right[0]),)  # noqa: E731

    def fold(source: Array) -> Array:
        (result,) = trees.folded(op, (source,), join)
        return result

    return fold


def _extreme_fold(op: Reduce | Scan, combine: Op, element: t.ElementType) -> Fold:
    """Minimum and maximum of floats, as those of integers in the same order: -0 below +0, NaN at one of the ends."""
    function = _EXTREMES[type(combine)]
    loses = not combine.attributes.get("propagate_nan")
    accumulate = _in_any_order(op, function)
    nan = quiet_nan(element)

    def fold(source: Array) -> Array:
        keys = np.iinfo(f"i{source.dtype.itemsize}")
        nan_key = keys.min if loses == (function is np.maximum) else keys.max
        found = accumulate(_ordered(source, nan_key))
        result = _flipped(found).view(source.dtype)
        is_nan = found == nan_key
        return np.where(is_nan, nan, result) if is_nan.any() else result

    return fold


def _ordered(x: Array, nan_key: int) -> Array:
    """Integers in the order of the floats `x`; NaN becomes `nan_key`, which no number does."""
    keys = _flipped(x.view(f"i{x.dtype.itemsize}"))
    is_nan = x != x
    return np.where(is_nan, keys.dtype.type(nan_key), keys) if is_nan.any() else keys


def _flipped(bits: Array) -> Array:
    """Patterns with all but the sign inverted where the sign is set; its own inverse."""
    # Numbers of the same type: NumPy 1 makes the bits of a single float wider for Python's.
    width, magnitude = map(bits.dtype.type, (8 * bits.dtype.itemsize - 1, np.iinfo(bits.dtype).max))
    return bits ^ ((bits >> width) & magnitude)
