"""Polynomials, and arithmetic on unevaluated sums of two floats.

Knows: Horner's scheme, products, sums and quotients of pairs to about twice the precision of the type.
Does not know: any function.
"""

from __future__ import annotations

from collections.abc import Sequence

from tileir.cpu.emit.algebra import Real
from tileir.cpu.mathlib.error_free import Pair, ordered_sum_pair, product_pair, sum_pair


def polynomial(x: Real, coefficients: Sequence[float]) -> Real:
    """The value at x; the constant coefficient comes first."""
    *rest, last = coefficients
    result = x.of(last)
    for coefficient in reversed(rest):
        result = result.times_plus(x, coefficient)
    return result


def normalized(high: Real, low: Real) -> Pair:
    """The same sum with a low part below the last bit of the high one; |high| >= |low|."""
    return ordered_sum_pair(high, low)


def add_pairs(x: Pair, y: Pair) -> Pair:
    total = sum_pair(x.high, y.high)
    return normalized(total.high, total.low + (x.low + y.low))


def multiply_pairs(x: Pair, y: Pair) -> Pair:
    product = product_pair(x.high, y.high)
    return normalized(product.high, product.low + (x.high * y.low + x.low * y.high))


def divide_pairs(x: Pair, y: Pair) -> Pair:
    quotient = x.high / y.high
    rest = (-quotient).times_plus(y.high, x.high) + (x.low - quotient * y.low)
    return normalized(quotient, rest / y.high)


def constant_pair(like: Real, high: float, low: float) -> Pair:
    return Pair(like.of(high), like.of(low))


def value(pair: Pair) -> Real:
    return pair.high + pair.low


def power_of_two(exponent: Real) -> Real:
    """2^n of an integral f64 within the exponents of normal numbers: adding 2^52 * 1.5 brings n into the low bits."""
    biased = (exponent + (1.5 * 2.0**52 + exponent.bias)).pattern()
    return (biased << exponent.fraction).as_real()
