"""Integer arithmetic of every width equals Python's unbounded integers, wrapped."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from tileir.ir import types as t
from tileir.ir.attributes import Predicate, Rounding, Signedness
from tileir.ir.storage import dtype_of
from tileir.numerics import integers

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
SIGNED, UNSIGNED = Signedness.SIGNED, Signedness.UNSIGNED
ELEMENTS = pytest.mark.parametrize("element", t.INTS, ids=lambda element: element.name)
READINGS = pytest.mark.parametrize("signedness", list(Signedness), ids=lambda signedness: signedness.text)


def patterns(element: t.ElementType, seed: int) -> list[int]:
    """Every pair's half for narrow types, extreme and random patterns for the others; in a fixed order."""
    width = element.bits
    if width <= 8:
        return list(range(1 << width))
    generator = random.Random(seed)
    edges = [0, 1, 2, 3, width - 1, width, width + 1, (1 << width) - 1, 1 << (width - 1), (1 << (width - 1)) - 1]
    return edges + [generator.getrandbits(width) >> generator.randrange(width) for _ in range(40)]


def pairs(element: t.ElementType) -> tuple[list[int], list[int]]:
    grid = [(x, y) for x in patterns(element, 1) for y in patterns(element, 2)]
    return [x for x, _ in grid], [y for _, y in grid]


def held(values: list[int], element: t.ElementType) -> np.ndarray:
    """Patterns as the array that holds them."""
    if element is t.I1:
        return np.array(values, np.bool_)
    return np.array(values, f"u{element.bits // 8}").view(dtype_of(element))


def read(pattern: int, width: int, signedness: Signedness) -> int:
    negative = signedness is SIGNED and pattern >> (width - 1)
    return pattern - (1 << width) if negative else pattern


def check(
    actual: np.ndarray, x: list[int], y: list[int], element: t.ElementType, expected: Callable[[int, int], int]
) -> None:
    wanted = held([expected(a, b) % (1 << element.bits) for a, b in zip(x, y)], element)
    assert actual.dtype == dtype_of(element)
    wrong = np.flatnonzero(actual != wanted)
    assert not wrong.size, (x[wrong[0]], y[wrong[0]], actual[wrong[0]], wanted[wrong[0]])


@ELEMENTS
def test_sums_differences_products_and_bitwise_operations_wrap(element: t.ElementType) -> None:
    x, y = pairs(element)
    for function, expected in (
        (integers.add, lambda a, b: a + b),
        (integers.subtract, lambda a, b: a - b),
        (integers.multiply, lambda a, b: a * b),
        (integers.multiply_high, lambda a, b: (a * b) >> element.bits),
        (integers.shift_left, lambda a, b: a << b if b < element.bits else 0),
    ):
        check(function(held(x, element), held(y, element)), x, y, element, expected)


@ELEMENTS
def test_negation_and_absolute_value_leave_the_smallest_integer(element: t.ElementType) -> None:
    x = patterns(element, 1)
    check(integers.negate(held(x, element)), x, x, element, lambda a, _: -a)
    check(integers.absolute(held(x, element)), x, x, element, lambda a, _: abs(read(a, element.bits, SIGNED)))


@ELEMENTS
@READINGS
def test_right_shift_fills_with_the_sign_and_ends_at_the_width(element: t.ElementType, signedness: Signedness) -> None:
    x, y = pairs(element)
    actual = integers.shift_right(signedness)(held(x, element), held(y, element))
    check(actual, x, y, element, lambda a, b: read(a, element.bits, signedness) >> min(b, 200))


@ELEMENTS
@READINGS
@pytest.mark.parametrize("rounding", [Rounding.ZERO, Rounding.NEGATIVE_INF, Rounding.POSITIVE_INF])
def test_quotients_round_as_asked(element: t.ElementType, signedness: Signedness, rounding: Rounding) -> None:
    x, y = zip(*((a, b) for a, b in zip(*pairs(element)) if b))
    integral = {Rounding.ZERO: math.trunc, Rounding.NEGATIVE_INF: math.floor, Rounding.POSITIVE_INF: math.ceil}
    actual = integers.divide(signedness, rounding)(held(x, element), held(y, element))
    width = element.bits

    def expected(a: int, b: int) -> int:
        return integral[rounding](Fraction(read(a, width, signedness), read(b, width, signedness)))

    check(actual, x, y, element, expected)


@ELEMENTS
@READINGS
def test_remainders_have_the_sign_of_the_dividend(element: t.ElementType, signedness: Signedness) -> None:
    x, y = zip(*((a, b) for a, b in zip(*pairs(element)) if b))
    actual = integers.remainder(signedness)(held(x, element), held(y, element))

    def expected(a: int, b: int) -> int:
        dividend, divisor = read(a, element.bits, signedness), read(b, element.bits, signedness)
        return dividend - divisor * math.trunc(Fraction(dividend, divisor))

    check(actual, x, y, element, expected)


@ELEMENTS
@READINGS
def test_extremes_and_comparisons_follow_the_reading(element: t.ElementType, signedness: Signedness) -> None:
    x, y = pairs(element)
    left, right = held(x, element), held(y, element)

    def value(pattern: int) -> int:
        return read(pattern, element.bits, signedness)

    check(integers.maximum(signedness)(left, right), x, y, element, lambda a, b: max(value(a), value(b)))
    check(integers.minimum(signedness)(left, right), x, y, element, lambda a, b: min(value(a), value(b)))
    for predicate, expected in (
        (Predicate.EQUAL, lambda a, b: value(a) == value(b)),
        (Predicate.NOT_EQUAL, lambda a, b: value(a) != value(b)),
        (Predicate.LESS_THAN, lambda a, b: value(a) < value(b)),
        (Predicate.LESS_THAN_OR_EQUAL, lambda a, b: value(a) <= value(b)),
        (Predicate.GREATER_THAN, lambda a, b: value(a) > value(b)),
        (Predicate.GREATER_THAN_OR_EQUAL, lambda a, b: value(a) >= value(b)),
    ):
        check(integers.compare(predicate, signedness)(left, right), x, y, t.I1, expected)


@pytest.mark.parametrize("function", [integers.divide(SIGNED, Rounding.ZERO), integers.remainder(UNSIGNED)])
def test_a_zero_divisor_is_named_by_the_place_of_the_first(function: integers.Binary) -> None:
    divisor = np.ones((2, 4), np.int32)
    divisor[1, 2:] = 0
    with pytest.raises(integers.DivisionByZero) as error:
        function(np.ones((2, 4), np.int32), divisor)
    assert error.value.index == (1, 2)


@ELEMENTS
def test_scalars_behave_like_arrays_and_broadcast(element: t.ElementType) -> None:
    column = held([1, 0, 1, 1], element)
    one = column[0]
    for function in (
        integers.add,
        integers.multiply_high,
        integers.shift_left,
        integers.shift_right(SIGNED),
        integers.divide(SIGNED, Rounding.POSITIVE_INF),
        integers.maximum(SIGNED),
        integers.compare(Predicate.LESS_THAN, SIGNED),
    ):
        expected = function(column, held([1, 1, 1, 1], element))
        assert np.array_equal(function(column, one), expected)
        assert function(one, one) == expected[0]
        assert function(np.asarray(one), np.asarray(one)).dtype == expected.dtype
    with pytest.raises(integers.DivisionByZero) as error:
        integers.divide(SIGNED, Rounding.ZERO)(one, column[1])
    assert error.value.index == ()
