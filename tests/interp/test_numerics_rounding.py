"""Float arithmetic in every mode equals the exact result rounded once."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from exact_rounding import (
    BASE_FLOATS,
    IEEE_MODES,
    as_float,
    from_patterns,
    near,
    quantum,
    random_patterns,
    rounded,
    same,
)

from tileir.ir import types as t
from tileir.ir.attributes import Rounding
from tileir.numerics import rounding

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
COUNT = 500

ELEMENTS = pytest.mark.parametrize("element", BASE_FLOATS, ids=lambda element: element.name)
MODES = pytest.mark.parametrize("mode", IEEE_MODES, ids=lambda mode: mode.text)


def check(actual: np.ndarray, expected: list[float], *operands: np.ndarray) -> None:
    wrong = np.flatnonzero(~same(actual, expected))
    first = wrong[0] if wrong.size else 0
    case = [float(operand[first]).hex() for operand in operands]
    assert not wrong.size, (
        f"{wrong.size} wrong, first {case}: got {float(actual[first]).hex()}, want {expected[first].hex()}"
    )


def exact_sum(terms: tuple[float, ...], element: t.ElementType, mode: Rounding, exact: Fraction) -> float:
    """An exact sum rounded; the sign of a zero sum follows from its terms."""
    if exact == 0:
        signs = {math.copysign(1, term) for term in terms}
        return as_float(0, signs == {-1} or (len(signs) == 2 and mode is Rounding.NEGATIVE_INF))
    return as_float(rounded(exact, element, mode), exact < 0)


def reference_add(x: float, y: float, element: t.ElementType, mode: Rounding) -> float:
    if not (math.isfinite(x) and math.isfinite(y)):
        return x + y
    return exact_sum((x, y), element, mode, Fraction(x) + Fraction(y))


def reference_mul(x: float, y: float, element: t.ElementType, mode: Rounding) -> float:
    if not (math.isfinite(x) and math.isfinite(y)):
        return x * y
    negative = math.copysign(1, x) != math.copysign(1, y)
    exact = Fraction(x) * Fraction(y)
    return as_float(rounded(exact, element, mode) if exact else 0, negative)


def reference_div(x: float, y: float, element: t.ElementType, mode: Rounding) -> float:
    if not (math.isfinite(x) and math.isfinite(y) and x and y):
        return float(np.float64(x) / np.float64(y))
    return as_float(rounded(Fraction(x) / Fraction(y), element, mode), (x < 0) != (y < 0))


def reference_fma(x: float, y: float, z: float, element: t.ElementType, mode: Rounding) -> float:
    if not (math.isfinite(x) and math.isfinite(y)):
        return x * y + z
    if not math.isfinite(z):
        return z
    product_sign = math.copysign(1, x) * math.copysign(1, y)
    return exact_sum((product_sign, z), element, mode, Fraction(x) * Fraction(y) + Fraction(z))


def reference_sqrt(x: float, element: t.ElementType, mode: Rounding) -> float:
    if not (math.isfinite(x) and x > 0):
        return float(np.sqrt(np.float64(x)))
    scale = 2400
    root = Fraction(math.isqrt(int(Fraction(x) * 4**scale)), 2**scale)
    inexact = root * root != Fraction(x)
    sticky = quantum(root, element) / 2**60 if inexact else 0
    return as_float(rounded(root + sticky, element, mode), False)


def operands(element: t.ElementType, count: int) -> list[np.ndarray]:
    """Independent and related operands, as patterns."""
    first = random_patterns(element, COUNT, 1)
    related = near(first, element, 2)
    independent = random_patterns(element, COUNT, 3)
    columns = [np.concatenate([first, first]), np.concatenate([related, independent])]
    third = np.concatenate([random_patterns(element, COUNT, 4), near(independent, element, 5)])
    return [from_patterns(bits, element) for bits in [*columns, third][:count]]


def run_binary(
    build: Callable[[t.ElementType, Rounding], rounding.Function],
    reference: Callable[[float, float, t.ElementType, Rounding], float],
    element: t.ElementType,
    mode: Rounding,
) -> None:
    x, y = operands(element, 2)
    expected = [reference(float(a), float(b), element, mode) for a, b in zip(x, y)]
    actual = build(element, mode)(x, y)
    assert actual.dtype == x.dtype
    check(actual, expected, x, y)


@ELEMENTS
@MODES
def test_add_rounds_the_exact_sum_once(element: t.ElementType, mode: Rounding) -> None:
    run_binary(rounding.add, reference_add, element, mode)


@ELEMENTS
@MODES
def test_sub_rounds_the_exact_difference_once(element: t.ElementType, mode: Rounding) -> None:
    run_binary(rounding.sub, lambda x, y, *rest: reference_add(x, -y, *rest), element, mode)


@ELEMENTS
@MODES
def test_mul_rounds_the_exact_product_once(element: t.ElementType, mode: Rounding) -> None:
    run_binary(rounding.mul, reference_mul, element, mode)


@ELEMENTS
@MODES
def test_div_rounds_the_exact_quotient_once(element: t.ElementType, mode: Rounding) -> None:
    run_binary(rounding.div, reference_div, element, mode)


@ELEMENTS
@MODES
def test_sqrt_rounds_the_exact_root_once(element: t.ElementType, mode: Rounding) -> None:
    (x,) = operands(element, 1)
    expected = [reference_sqrt(float(value), element, mode) for value in x]
    check(rounding.sqrt(element, mode)(x), expected, x)


def cancelling_acc(x: np.ndarray, y: np.ndarray, element: t.ElementType) -> np.ndarray:
    """The negated rounded products: the sum is then what the rounding lost."""
    return np.negative(rounding.mul(element, Rounding.NEAREST_EVEN)(x, y))


@ELEMENTS
@MODES
def test_fma_rounds_once(element: t.ElementType, mode: Rounding) -> None:
    x, y, z = operands(element, 3)
    z[::3] = cancelling_acc(x[::3], y[::3], element)
    expected = [reference_fma(float(a), float(b), float(c), element, mode) for a, b, c in zip(x, y, z)]
    check(rounding.fma(element, mode)(x, y, z), expected, x, y, z)


@ELEMENTS
@MODES
def test_fma_of_products_and_addends_whose_distance_hits_ties(element: t.ElementType, mode: Rounding) -> None:
    bits = element.format.precision
    one = np.array(1, from_patterns(np.zeros(1, np.uint64), element).dtype)
    half_ulp = (one.astype(np.float64) * 2.0**-bits).astype(one.dtype)
    tiny = (one.astype(np.float64) * 2.0 ** -(element.format.bias // 2)).astype(one.dtype)
    x = np.array([one, one, half_ulp, half_ulp, half_ulp, tiny, tiny], one.dtype)
    y = np.array([half_ulp, -half_ulp, one, -one, one, tiny, -tiny], one.dtype)
    z = np.array([one, one, one, -one, -one, one, one], one.dtype)
    expected = [reference_fma(float(a), float(b), float(c), element, mode) for a, b, c in zip(x, y, z)]
    check(rounding.fma(element, mode)(x, y, z), expected, x, y, z)


def test_overflow_in_directed_modes_stops_at_the_largest_finite_number() -> None:
    for element in BASE_FLOATS:
        largest = np.array([element.format.max_finite, -element.format.max_finite]).astype(
            from_patterns(np.zeros(1, np.uint64), element).dtype
        )
        total = rounding.add(element, Rounding.ZERO)(largest, largest)
        assert same(total, [element.format.max_finite, -element.format.max_finite]).all()
        total = rounding.add(element, Rounding.POSITIVE_INF)(largest, largest)
        assert same(total, [math.inf, -element.format.max_finite]).all()


def test_fma_with_an_infinite_addend_ignores_an_overflowing_product() -> None:
    big = np.array([1e308])
    result = rounding.fma(t.F64, Rounding.NEAREST_EVEN)(big, big, np.array([-np.inf]))
    assert result.tolist() == [-math.inf]


def test_bf16_products_below_the_smallest_f32_round_once() -> None:
    bf16 = from_patterns(np.zeros(1, np.uint64), t.BF16).dtype
    x = np.array([1.5 * 2.0**-70]).astype(bf16)
    y = np.array([(1 + 2.0**-7) * 2.0**-64]).astype(bf16)
    want = as_float(rounded(Fraction(float(x[0])) * Fraction(float(y[0])), t.BF16, Rounding.NEAREST_EVEN), False)
    assert float(rounding.mul(t.BF16, Rounding.NEAREST_EVEN)(x, y)[0]) == want


def test_flush_to_zero_keeps_the_sign_of_subnormal_operands_and_results() -> None:
    tiny = np.float32(2.0**-130)
    x = np.array([tiny, -tiny, 2.0**-126, -(2.0**-126), 1.0], np.float32)
    y = np.array([-0.0, -0.0, 0.5, 0.5, tiny], np.float32)
    product = rounding.flushing(rounding.mul(t.F32, Rounding.NEAREST_EVEN))(x, y)
    assert same(product, [-0.0, 0.0, 0.0, -0.0, 0.0]).all()
    total = rounding.flushing(rounding.add(t.F32, Rounding.NEAREST_EVEN))(x, np.full(5, tiny))
    assert same(total, [0.0, 0.0, 2.0**-126, -(2.0**-126), 1.0]).all()


def test_operands_are_left_alone() -> None:
    x = np.array([1.5, 2.0**-130], np.float32)
    x.flags.writeable = False
    rounding.flushing(rounding.fma(t.F32, Rounding.ZERO))(x, x, x)
    assert x.tolist() == [1.5, 2.0**-130]
