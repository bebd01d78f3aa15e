"""Reductions and scans whose body is one well-known operation, as NumPy accumulations.

Knows: which bodies these are, and how each is evaluated with the bits of the sequential fold of the specification
(operations 3.15, 3.17): integer operations, minimum and maximum do not depend on the order; sums and products of floats
are accumulated one by one, starting with the identity.
Does not know: any other body (`reduction`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tileir.interp.numerics.formats import quiet_nan
from tileir.ir import types as t
from tileir.ir.attributes import Overflow, Rounding, Signedness
from tileir.ir.core import Op
from tileir.ops.core import Reduce, Scan
from tileir.ops.floating import AddF, MaxF, MinF, MulF
from tileir.ops.integer import AddI, AndI, MaxI, MinI, MulI, OrI, XOrI

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


def fold_of(op: Reduce | Scan, identities: tuple[Array, ...]) -> Fold | None:
    """The accumulation that `op` is, or None if its body is not one operation of the kinds known here."""
    combine = _only_operation(op)
    if combine is None or len(identities) != 1:
        return None
    (source,), (identity,) = op.sources, identities
    kind, element = type(combine), source.type.element
    if kind in _INTEGERS and _is_plain_integer(combine, element):
        return _integer_fold(op, combine, identity)
    if kind in _SUMS and _is_plain_sum(combine, element):
        return _sum_fold(op, _SUMS[kind], identity)
    if kind in _EXTREMES and not combine.attributes.get("flush_to_zero"):
        return _extreme_fold(op, combine, identity, element)
    return None


def _only_operation(op: Reduce | Scan) -> Op | None:
    """The operation on the two arguments whose result is all that the body yields."""
    body = op.body
    if len(body.ops) != 2 or len(body.args) != 2:
        return None
    combine, end = body.ops
    both = set(combine.operands) == set(body.args) and len(combine.operands) == 2
    return combine if both and end.operands == combine.results else None


def _is_plain_integer(combine: Op, element: t.ElementType) -> bool:
    """Not i1, whose arithmetic is not NumPy's, and without a promise that strict mode checks at every step."""
    promise = combine.attributes.get("overflow", Overflow.NONE)
    return element is not t.I1 and promise is Overflow.NONE


def _is_plain_sum(combine: Op, element: t.ElementType) -> bool:
    """Rounded as NumPy rounds. A product of bf16 can underflow f32, through which ml_dtypes evaluates it."""
    rounding = combine.attributes.get("rounding_mode", Rounding.NEAREST_EVEN)
    plain = rounding is Rounding.NEAREST_EVEN and not combine.attributes.get("flush_to_zero")
    return plain and not (isinstance(combine, MulF) and element is t.BF16)


def _integer_fold(op: Reduce | Scan, combine: Op, identity: Array) -> Fold:
    function = _INTEGERS[type(combine)]
    accumulate = _associative(op, function)
    if combine.attributes.get("signedness") is not Signedness.UNSIGNED:
        return lambda source: function(accumulate(source), identity)
    signed, unsigned = identity.dtype, np.dtype(f"u{identity.dtype.itemsize}")
    start = identity.view(unsigned)
    return lambda source: function(accumulate(source.view(unsigned)), start).view(signed)


def _associative(op: Reduce | Scan, function: np.ufunc) -> Fold:
    """The accumulation, without the identity, of a function whose result does not depend on the order."""
    axis = op.dim
    if isinstance(op, Reduce):
        return lambda source: function.reduce(source, axis, source.dtype)
    return _directed(op, lambda source: function.accumulate(source, axis, source.dtype))


def _directed(op: Reduce | Scan, forward: Fold) -> Fold:
    """`forward`, or the same from the last index if the scan is reversed."""
    axis = op.dim
    if isinstance(op, Scan) and op.reverse:
        return lambda source: np.flip(forward(np.flip(source, axis)), axis)
    return forward


def _sum_fold(op: Reduce | Scan, function: np.ufunc, identity: Array) -> Fold:
    """Strictly one by one: ``accumulate`` does not regroup, as NumPy's ``reduce`` does."""
    axis = op.dim
    first = (slice(None),) * axis + (0,)
    last = (slice(None),) * axis + (-1,)

    def running(source: Array) -> Array:
        started = np.array(source)
        started[first] = function(identity, started[first])
        return function.accumulate(started, axis)

    if isinstance(op, Reduce):
        return lambda source: running(source)[last]
    return _directed(op, running)


def _extreme_fold(op: Reduce | Scan, combine: Op, identity: Array, element: t.ElementType) -> Fold:
    """Minimum and maximum of floats, as those of integers in the same order: -0 below +0, NaN at one of the ends."""
    function = _EXTREMES[type(combine)]
    keys = np.iinfo(f"i{identity.dtype.itemsize}")
    loses = not combine.attributes.get("propagate_nan")
    nan_key = keys.min if loses == (function is np.maximum) else keys.max
    accumulate = _associative(op, function)
    start = _ordered(identity, nan_key)
    nan = quiet_nan(element)

    def fold(source: Array) -> Array:
        found = function(accumulate(_ordered(source, nan_key)), start)
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
    magnitude = np.iinfo(bits.dtype).max
    return bits ^ ((bits >> (8 * bits.dtype.itemsize - 1)) & magnitude)
