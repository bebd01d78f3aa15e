"""Two's complement arithmetic of every width, i1 included (spec: integer#semantics).

Integers are held as `ir.storage` says. Each function takes arrays of one type, and returns an array of that type
(comparisons: i1).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tileir.ir.attributes import Predicate, Rounding, Signedness
from tileir.numerics.bits import Array, first_index, signed, unsigned, wide_product, wrapped

Binary = Callable[[Array, Array], Array]


class DivisionByZero(ArithmeticError):
    """A divisor is zero; `index` is the place of the first one in row-major order."""

    def __init__(self, index: tuple[int, ...]) -> None:
        super().__init__(f"division by zero at element {list(index)}")
        self.index = index


def _modular(function: Binary) -> Binary:
    """Return `function`, which wraps in NumPy as it should, also for i1."""

    def evaluate(lhs: Array, rhs: Array) -> Array:
        if lhs.dtype != np.bool_:
            return function(lhs, rhs)
        return wrapped(function(unsigned(lhs), unsigned(rhs)), lhs.dtype)

    return evaluate


add = _modular(np.add)
subtract = _modular(np.subtract)
multiply = _modular(np.multiply)


def negate(source: Array) -> Array:
    return wrapped(~unsigned(source) + np.uint8(1), source.dtype)


def absolute(source: Array) -> Array:
    """Return the magnitude, to be read as unsigned: MIN stays MIN."""
    return wrapped(np.abs(signed(source)), source.dtype)


def multiply_high(lhs: Array, rhs: Array) -> Array:
    """Return the upper half of the unsigned product of twice the width."""
    width = 1 if lhs.dtype == np.bool_ else 8 * lhs.dtype.itemsize
    x, y = unsigned(lhs).astype(np.uint64), unsigned(rhs).astype(np.uint64)
    high = wide_product(x, y)[0] if width == 64 else (x * y) >> np.uint64(width)
    return wrapped(high, lhs.dtype)


def shift_left(lhs: Array, rhs: Array) -> Array:
    """Zero from the width on, which is how NumPy defines it too."""
    return wrapped(np.left_shift(unsigned(lhs), unsigned(rhs)), lhs.dtype)


def shift_right(signedness: Signedness) -> Binary:
    """Zero from the width on when unsigned, all sign bits when signed."""
    if signedness is Signedness.UNSIGNED:
        return lambda lhs, rhs: wrapped(np.right_shift(unsigned(lhs), unsigned(rhs)), lhs.dtype)
    return _arithmetic_shift


def _arithmetic_shift(lhs: Array, rhs: Array) -> Array:
    """Shift right arithmetically: NumPy takes a shift that is negative when signed as a very large one."""
    value = signed(lhs)
    return wrapped(np.right_shift(value, unsigned(rhs).view(value.dtype)), lhs.dtype)


def divide(signedness: Signedness, rounding: Rounding) -> Binary:
    """Return the quotient truncated (zero), floored (negative_inf) or ceiled (positive_inf); MIN / -1 is MIN.

    Raises `DivisionByZero`.
    """

    def evaluate(lhs: Array, rhs: Array) -> Array:
        _check_divisor(rhs)
        x, y = read_as(signedness, lhs), read_as(signedness, rhs)
        quotient = np.floor_divide(x, y)
        if rounding is Rounding.POSITIVE_INF:
            quotient = quotient + (quotient * y != x)
        elif rounding is Rounding.ZERO and signedness is Signedness.SIGNED:
            quotient = quotient + (((x ^ y) < 0) & (quotient * y != x))
        return wrapped(quotient, lhs.dtype)

    return evaluate


def remainder(signedness: Signedness) -> Binary:
    """Return remainder of the truncated quotient, with the sign of the dividend; MIN rem -1 is 0. Raises
    `DivisionByZero`."""
    quotient = divide(signedness, Rounding.ZERO)
    return lambda lhs, rhs: subtract(lhs, multiply(quotient(lhs, rhs), rhs))


def _check_divisor(divisor: Array) -> None:
    if not np.all(divisor):
        raise DivisionByZero(first_index(divisor == 0))


def read_as(signedness: Signedness, x: Array) -> Array:
    return signed(x) if signedness is Signedness.SIGNED else unsigned(x)


def maximum(signedness: Signedness) -> Binary:
    return lambda lhs, rhs: wrapped(np.maximum(read_as(signedness, lhs), read_as(signedness, rhs)), lhs.dtype)


def minimum(signedness: Signedness) -> Binary:
    return lambda lhs, rhs: wrapped(np.minimum(read_as(signedness, lhs), read_as(signedness, rhs)), lhs.dtype)


def compare(predicate: Predicate, signedness: Signedness) -> Binary:
    function = _COMPARISONS[predicate]
    return lambda lhs, rhs: function(read_as(signedness, lhs), read_as(signedness, rhs))


_COMPARISONS: dict[Predicate, Binary] = {
    Predicate.EQUAL: np.equal,
    Predicate.NOT_EQUAL: np.not_equal,
    Predicate.LESS_THAN: np.less,
    Predicate.LESS_THAN_OR_EQUAL: np.less_equal,
    Predicate.GREATER_THAN: np.greater,
    Predicate.GREATER_THAN_OR_EQUAL: np.greater_equal,
}
