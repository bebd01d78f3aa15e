"""pow: 2^(y log2 |x|), with the corner cases of C; and rsqrt.

The exponent of pow is an f64 also where the base is an f32, so that every i32 is one exactly.
"""

from __future__ import annotations

import math

from tileir.cpu.emit.algebra import Real
from tileir.cpu.mathlib.error_free import Pair, ordered_sum_pair, product_pair
from tileir.cpu.mathlib.exponential import exp_minus_one_tail, exp_of, nearest_multiple, scaled, times_ln2
from tileir.cpu.mathlib.logarithm import log2_pair, log2_short
from tileir.cpu.mathlib.polynomials import normalized, power_of_two


def pow_f32(x: Real, y: Real) -> Real:
    """x and y are f32; y may be an f64."""
    base, exponent = x.double(), y.double()
    return _with_corners(base, exponent, _power_short(abs(base), exponent)).single()


def pow_f64(x: Real, y: Real) -> Real:
    return _with_corners(x, y, _power(abs(x), y))


def _power_short(base: Real, exponent: Real) -> Real:
    binary = (exponent * log2_short(base)).at_most(200.0).at_least(-200.0)
    number = nearest_multiple(binary, 1.0).number
    grown = exp_minus_one_tail((binary - number) * math.log(2.0))
    return (grown + 1.0) * power_of_two(number)


def _power(base: Real, exponent: Real) -> Real:
    """2^(y log2 x). Out of range only the sign of the exponent counts; its low part may be NaN there."""
    binary = log2_pair(base)
    high = exponent * binary.high
    low = exponent.times_plus(binary.high, -high) + exponent * binary.low
    bounded = high.at_most(1100.0).at_least(-1100.0)
    low = (abs(high) < 1100.0).choose(low, 0.0)
    split = nearest_multiple(bounded, 1.0)
    rest = normalized(*ordered_sum_pair(bounded - split.number, low))
    return scaled(exp_of(times_ln2(Pair(*rest))), split)


def _with_corners(x: Real, y: Real, power: Real) -> Real:
    """Add what the power of magnitudes leaves open: bases 0, 1 and infinity, negative ones, exponent 0, NaN."""
    magnitude, infinity = abs(x), float("inf")
    limit = (magnitude.equals(0.0) ^ (y < 0.0)).choose(x.of(0.0), infinity)
    result = (magnitude.equals(0.0) | magnitude.equals(infinity)).choose(limit, power)
    result = magnitude.equals(1.0).choose(x.of(1.0), result)
    integral = y.truncated().equals(y)
    half = y * 0.5
    odd = integral & ~half.truncated().equals(half)
    result = (x.is_negative() & odd).choose(-result, result)
    undefined = (x < 0.0) & (magnitude < infinity) & ~integral
    result = (undefined | x.is_nan() | y.is_nan()).choose(x.of(math.nan), result)
    return (y.equals(0.0) | x.equals(1.0)).choose(x.of(1.0), result)


def rsqrt_f32(x: Real) -> Real:
    return 1.0 / x.root()


def rsqrt_f64(x: Real) -> Real:
    """One Newton step with an exact residual behind root and division."""
    near = 1.0 / x.root()
    product = product_pair(x, near)
    residual = (-product.high).times_plus(near, near.of(1.0)) - product.low * near
    better = near.times_plus(residual * 0.5, near)
    return ((x > 0.0) & (x < float("inf"))).choose(better, near)
