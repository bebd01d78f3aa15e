"""Broken promises: integer arithmetic that overflows, floats that do not fit an integer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tileir.ir import types as t
from tileir.ir.attributes import Overflow, Signedness
from tileir.numerics import formats, integers
from tileir.numerics.bits import Array, signed, unsigned
from tileir.numerics.conversion import extended, integer_limits, truncated
from tileir.numerics.integers import read_as

Check = Callable[..., Array]
"""Maps the operands to a mask of the elements that do not fit."""


def promised(overflow: Overflow, signedness: Signedness) -> bool:
    """Return whether `overflow` promises that results fit when read so."""
    wraps = Overflow.NO_SIGNED_WRAP if signedness is Signedness.SIGNED else Overflow.NO_UNSIGNED_WRAP
    return overflow in (wraps, Overflow.NO_WRAP)


def promised_readings(overflow: Overflow) -> list[Signedness]:
    """Return the readings by which `overflow` promises that results fit, in the order in which they are checked."""
    return [reading for reading in (Signedness.SIGNED, Signedness.UNSIGNED) if promised(overflow, reading)]


def sum_overflows(signedness: Signedness) -> Check:
    if signedness is Signedness.UNSIGNED:
        return lambda lhs, rhs: unsigned(integers.add(lhs, rhs)) < unsigned(lhs)
    return _signed_sum_overflows


def _signed_sum_overflows(lhs: Array, rhs: Array) -> Array:
    """Return whether the result has another sign than both operands."""
    total = signed(integers.add(lhs, rhs))
    return ((signed(lhs) ^ total) & (signed(rhs) ^ total)) < 0


def difference_overflows(signedness: Signedness) -> Check:
    if signedness is Signedness.UNSIGNED:
        return lambda lhs, rhs: unsigned(lhs) < unsigned(rhs)
    return _signed_difference_overflows


def _signed_difference_overflows(lhs: Array, rhs: Array) -> Array:
    """Return whether the operands differ in sign and the result differs from the first."""
    difference = signed(integers.subtract(lhs, rhs))
    return ((signed(lhs) ^ signed(rhs)) & (signed(lhs) ^ difference)) < 0


def product_overflows(signedness: Signedness) -> Check:
    """Return a check whether dividing the wrapped product by a factor does not give the other one back."""

    def overflows(lhs: Array, rhs: Array) -> Array:
        x, y = read_as(signedness, lhs), read_as(signedness, rhs)
        product = read_as(signedness, integers.multiply(lhs, rhs))
        divisor = np.where(x == 0, x.dtype.type(1), x)
        differs = (x != 0) & (np.floor_divide(product, divisor) != y)
        return differs | (quotient_overflows(rhs, lhs) if signedness is Signedness.SIGNED else np.False_)

    return overflows


def quotient_overflows(lhs: Array, rhs: Array) -> Array:
    """Return whether this is a signed division of the smallest integer by -1."""
    return smallest(lhs) & (signed(rhs) == -1)


def smallest(x: Array) -> Array:
    """Return whether negating the integers overflows when signed."""
    value = signed(x)
    return (value != 0) & (signed(integers.negate(x)) == value)


def shift_too_far(element: t.ElementType) -> Check:
    """Return a check whether the amount of a shift, which is unsigned, is the width or more."""
    return lambda lhs, rhs: unsigned(rhs) >= element.bits


def shift_overflows(signedness: Signedness) -> Check:
    """Return a check whether shifting back does not restore the operand."""
    back = integers.shift_right(signedness)
    return lambda lhs, rhs: back(integers.shift_left(lhs, rhs), rhs) != lhs


def truncation_overflows(signedness: Signedness, source: t.ElementType, target: t.ElementType) -> Check:
    """Return a check whether extending again does not restore the operand."""
    narrow, wide = truncated(target), extended(signedness, target, source)
    return lambda operand: wide(narrow(operand)) != operand


def conversion_overflows(signedness: Signedness, source: t.ElementType, target: t.ElementType) -> Check:
    """Return a check whether a float, truncated towards zero, is NaN or outside the integer type's range."""
    below, above = integer_limits(signedness, target)

    def overflows(operand: Array) -> Array:
        integral = np.trunc(formats.widened(operand, source))
        return ~((integral >= below) & (integral <= above))

    return overflows
