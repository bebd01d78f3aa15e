"""Mathematical functions keep the corner cases of C and the accuracy of the element type; selection is exact."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from exact_rounding import BASE_FLOATS, random_patterns, same

from tileir.ir import types as t
from tileir.ir.attributes import Ordering, Predicate, Rounding
from tileir.ir.storage import bits_dtype, dtype_of
from tileir.numerics import formats, functions, selection
from tileir.numerics.rounding import Function, narrowed

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
ELEMENTS = pytest.mark.parametrize("element", BASE_FLOATS, ids=lambda element: element.name)
INF, NAN = math.inf, math.nan
SPECIAL = [0.0, -0.0, 1.0, -1.0, INF, -INF, NAN, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0]


def array(values: list[float], element: t.ElementType) -> np.ndarray:
    return np.array(values, np.float64).astype(dtype_of(element))


def c_value(function: Callable[..., float], *operands: float) -> float:
    """A function of `math` with C's results where Python raises."""
    try:
        return function(*operands)
    except OverflowError:
        return INF
    except ValueError:
        return NAN


def rsqrt(x: float) -> float:
    return float(1 / np.sqrt(np.float64(x)))


def logarithm(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda x: -INF if x == 0 else function(x)


UNARY = [
    (functions.exp, math.exp),
    (functions.exp2, lambda x: 2.0**x),
    (functions.log, logarithm(math.log)),
    (functions.log2, logarithm(math.log2)),
    (functions.sin, math.sin),
    (functions.cos, math.cos),
    (functions.tan, math.tan),
    (functions.sinh, lambda x: math.copysign(c_value(math.sinh, abs(x)), x)),
    (functions.cosh, math.cosh),
    (functions.tanh, math.tanh),
    (functions.rsqrt, rsqrt),
]
NAMES = ["exp", "exp2", "log", "log2", "sin", "cos", "tan", "sinh", "cosh", "tanh", "rsqrt"]


def ulps(actual: np.ndarray, expected: np.ndarray, element: t.ElementType) -> np.ndarray:
    """Distance in patterns between finite numbers of the same sign; 0 for equal or both NaN, huge otherwise."""
    left, right = actual.view(bits_dtype(element)), expected.view(bits_dtype(element))
    apart = np.maximum(left, right) - np.minimum(left, right)
    return np.where(same(actual, expected.astype(np.float64).tolist()), 0, apart)


@ELEMENTS
@pytest.mark.parametrize(("build", "reference"), UNARY, ids=NAMES)
def test_functions_of_one_operand_stay_within_two_ulp_of_the_c_library(
    build: Callable[[t.ElementType], Function], reference: Callable[[float], float], element: t.ElementType
) -> None:
    x = np.concatenate(
        [
            array(SPECIAL, element),
            formats.stored(random_patterns(element, 300, 21), element),
            array(np.linspace(-12, 12, 300).tolist(), element),
        ]
    )
    actual = build(element)(x)
    assert actual.dtype == x.dtype
    exact = np.array([c_value(reference, float(value)) for value in x])
    expected = narrowed(exact, element, Rounding.NEAREST_EVEN)
    allowed = 2 if element is t.F64 else 1
    wrong = np.flatnonzero(ulps(actual, expected, element) > allowed)
    assert not wrong.size, [(float(x[i]), float(actual[i]), float(expected[i])) for i in wrong[:4]]


def test_f32_functions_are_rounded_from_f64() -> None:
    x = np.linspace(-20, 20, 4001).astype(np.float32)
    for (build, reference), name in zip(UNARY, NAMES):
        exact = np.array([c_value(reference, float(value)) for value in x])
        assert np.mean(~same(build(t.F32)(x), exact.astype(np.float32).tolist())) < 1e-3, name


@ELEMENTS
def test_exp2_of_integers_is_exact(element: t.ElementType) -> None:
    lowest = 2 - element.format.bias - element.format.fraction
    powers = np.arange(max(lowest, -256), min(element.format.bias, 256) + 1)
    actual = functions.exp2(element)(array(powers.tolist(), element))
    assert actual.astype(np.float64).tolist() == np.ldexp(1.0, powers).tolist()


def c_pow(x: float, y: float) -> float:
    odd = math.isfinite(y) and y == int(y) and int(y) % 2 == 1
    try:
        return math.pow(x, y)
    except OverflowError:
        return -INF if x < 0 and odd else INF
    except ValueError:
        if x == 0:
            return math.copysign(INF, x) if odd else INF
        return NAN


@ELEMENTS
def test_pow_has_the_corner_cases_of_c(element: t.ElementType) -> None:
    x, y = (array(list(column), element) for column in zip(*itertools.product(SPECIAL, SPECIAL)))
    expected = narrowed(np.array([c_pow(float(a), float(b)) for a, b in zip(x, y)]), element, Rounding.NEAREST_EVEN)
    assert (ulps(functions.power(element)(x, y), expected, element) <= 1).all()


@ELEMENTS
def test_atan2_has_the_corner_cases_of_c(element: t.ElementType) -> None:
    x, y = (array(list(column), element) for column in zip(*itertools.product(SPECIAL, SPECIAL)))
    exact = np.array([math.atan2(float(a), float(b)) for a, b in zip(x, y)])
    assert same(functions.atan2(element)(x, y), narrowed(exact, element, Rounding.NEAREST_EVEN).tolist()).all()


@ELEMENTS
def test_integer_powers_read_the_exponent_as_signed(element: t.ElementType) -> None:
    power = functions.integer_power(element)
    base = array([2.0, -2.0, 0.0, -0.0, NAN, -0.0, 1.5, 1.0], element)
    exponent = np.array([-1, 3, 0, -3, 0, -2, -(2**31), 2**31 - 1], np.int32)
    assert same(power(base, exponent), [0.5, -8.0, 1.0, -INF, 1.0, INF, 0.0, 1.0]).all()
    assert same(power(base[:2], np.array([True, False])), [0.5, 1.0]).all()


def test_approximate_quotient_vanishes_for_huge_divisors() -> None:
    lhs = np.array([1.0, -1.0, INF, -INF, NAN, 6.0, 3e38, 1.0, INF, 1.0], np.float32)
    rhs = np.array([2.0**127, 2.0**127, 2.0**127, -(2.0**127), 2.0**127, 2.0, 2.0**126, INF, INF, 0.0], np.float32)
    expected = [0.0, -0.0, NAN, NAN, NAN, 3.0, float(np.float32(3e38) / np.float32(2.0**126)), 0.0, NAN, INF]
    assert same(functions.approximate_quotient(lhs, rhs), expected).all()


@ELEMENTS
def test_signs_are_bits_also_of_nan(element: t.ElementType) -> None:
    bits = random_patterns(element, 400, 13)
    x = formats.stored(bits, element)
    sign = np.uint64(1 << (element.bits - 1))
    assert np.array_equal(selection.negative(x).view(bits_dtype(element)), bits ^ sign)
    assert np.array_equal(selection.absolute(x).view(bits_dtype(element)), bits & ~sign)
    assert selection.negative(x).dtype == x.dtype


@ELEMENTS
def test_floor_ceil_and_remainder_are_exact(element: t.ElementType) -> None:
    x = np.concatenate([array(SPECIAL, element), formats.stored(random_patterns(element, 400, 17), element)])
    y = formats.stored(random_patterns(element, len(x), 18), element)
    integral = np.where(np.isfinite(x.astype(np.float64)), x, x.dtype.type(0)).astype(np.float64).tolist()
    floors = [math.copysign(math.floor(value), value) if value else value for value in integral]
    finite = np.isfinite(x.astype(np.float64))
    assert same(selection.floor(element)(x)[finite], np.array(floors)[finite].tolist()).all()
    ceils = [math.copysign(math.ceil(value), value) if value else value for value in integral]
    assert same(selection.ceil(element)(x)[finite], np.array(ceils)[finite].tolist()).all()
    expected = [c_value(math.fmod, float(a), float(b)) for a, b in zip(x, y)]
    assert same(selection.remainder(element)(x, y), expected).all()


def test_remainder_keeps_the_sign_of_the_dividend() -> None:
    x = np.array([-4.0, 4.0, 5.0, INF, 5.0, -0.0], np.float32)
    y = np.array([2.0, -2.0, INF, 2.0, 0.0, 3.0], np.float32)
    assert same(selection.remainder(t.F32)(x, y), [-0.0, 0.0, 5.0, NAN, NAN, -0.0]).all()


@ELEMENTS
@pytest.mark.parametrize("propagate", [False, True])
def test_extremes_order_zeros_and_treat_nan_as_asked(element: t.ElementType, propagate: bool) -> None:
    def expected(pick: Callable[..., float], x: float, y: float) -> float:
        if math.isnan(x) or math.isnan(y):
            return NAN if propagate or (math.isnan(x) and math.isnan(y)) else (y if math.isnan(x) else x)
        return pick((x, y), key=lambda value: (value, math.copysign(1, value)))

    x, y = (array(list(column), element) for column in zip(*itertools.product(SPECIAL, SPECIAL)))
    for build, pick in ((selection.maximum, max), (selection.minimum, min)):
        actual = build(element, propagate)(x, y)
        assert actual.dtype == x.dtype
        assert same(actual, [expected(pick, float(a), float(b)) for a, b in zip(x, y)]).all()
        nan = np.isnan(actual.astype(np.float64))
        assert (actual.view(bits_dtype(element))[nan] == formats.patterns(element).nan).all()


@ELEMENTS
@pytest.mark.parametrize("ordering", list(Ordering), ids=lambda ordering: ordering.text)
def test_comparisons_with_nan_follow_the_ordering(element: t.ElementType, ordering: Ordering) -> None:
    operators = {
        Predicate.EQUAL: lambda a, b: a == b,
        Predicate.NOT_EQUAL: lambda a, b: a != b,
        Predicate.LESS_THAN: lambda a, b: a < b,
        Predicate.LESS_THAN_OR_EQUAL: lambda a, b: a <= b,
        Predicate.GREATER_THAN: lambda a, b: a > b,
        Predicate.GREATER_THAN_OR_EQUAL: lambda a, b: a >= b,
    }
    x, y = (array(list(column), element) for column in zip(*itertools.product(SPECIAL, SPECIAL)))
    for predicate, operator in operators.items():
        actual = selection.compare(predicate, ordering)(x, y)
        assert actual.dtype == np.bool_
        for a, b, got in zip(x.tolist(), y.tolist(), actual.tolist()):
            unordered = math.isnan(a) or math.isnan(b)
            assert got == (ordering is Ordering.UNORDERED if unordered else operator(a, b)), (predicate, a, b)
