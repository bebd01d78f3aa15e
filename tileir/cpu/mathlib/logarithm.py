"""log and log2.

A number is split into 2^e * m with m around 1. log m is a polynomial of m - 1 in f32, and in f64 the series of the area
tangent of (m - 1) / (m + 1).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from tileir.cpu.emit.algebra import Real
from tileir.cpu.mathlib.error_free import Pair, ordered_sum_pair, product_pair, sum_pair
from tileir.cpu.mathlib.polynomials import (
    add_pairs,
    constant_pair,
    divide_pairs,
    multiply_pairs,
    polynomial,
    value,
)

_LOG_F32 = (0.3333321511745453, -0.24999797344207764, 0.20010405778884888, -0.16680492460727692, 0.1400587260723114,
            -0.12184199690818787, 0.13984429836273193, -0.12891924381256104)  # fmt: skip
"""(log(1 + f) - f + f^2/2) / f^3."""
_LOG_F64 = (0.4, 0.2857142857142689, 0.2222222222271627, 0.18181818106104608, 0.15384622173494397, 0.13332960795711413,
            0.11777232030625871, 0.10279701643041766, 0.1202266091409258)  # fmt: skip
"""((log m - 2s) / s^3 - 2/3) / s^2 of s^2, with s = (m - 1) / (m + 1)."""
_LOG_SHORT = (0.6666666667589268, 0.3999999558687401, 0.2857211322835008, 0.2217600454011895, 0.195869917206919)
"""(log m - 2s) / s^3 of s^2 to 44 bits."""

_LN2_HIGH_F32, _LN2_LOW_F32 = 0.693145751953125, 1.4286068203094173e-06
"""The high part times an exponent is exact."""
_LN2_HIGH, _LN2_LOW = 0.6931471805598903, 5.497923018708371e-14
_LOG2_E = math.log2(math.e)
_LOG2_E_LOW_F32 = 1.9259629911266175e-08
_LOG2_E_LOW = 2.0355273740931033e-17
_TWO_THIRDS_LOW = 3.700743415417188e-17

_LOWEST_F32, _LOWEST_F64 = 2.0 / 3.0, math.sqrt(0.5)
"""The least m."""


class Parts(NamedTuple):
    """2^exponent * significand; the exponent is integral."""

    exponent: Real
    significand: Real


def parts(x: Real, lowest: float) -> Parts:
    """A positive finite number with a significand in [lowest, 2 * lowest)."""
    subnormal = x < 2.0 ** (1 - x.bias)
    moved = x.fraction + 1
    pattern = subnormal.choose(x * 2.0**moved, x).pattern()
    mask = -1 << x.fraction
    exponent = (pattern - x.of(lowest).pattern()) & mask
    number = exponent.shifted_signed(x.fraction).converted(x.type)
    return Parts(subnormal.choose(number - float(moved), number), (pattern - exponent).as_real())


def with_corners(x: Real, result: Real) -> Real:
    """-inf at zero, NaN below; infinity and NaN stay."""
    result = (x < float("inf")).choose(result, x)
    corner = x.equals(0.0).choose(x.of(-math.inf), math.nan)
    return (x <= 0.0).choose(corner, result)


# ---------------------------------------------------------------- f32


def log_f32(x: Real) -> Real:
    exponent, significand = parts(x, _LOWEST_F32)
    natural = _log_of_f32(significand)
    total = ordered_sum_pair(exponent * _LN2_HIGH_F32, natural.high)
    low = exponent.times_plus(_LN2_LOW_F32, natural.low)
    return with_corners(x, total.high + (total.low + low))


def log2_f32(x: Real) -> Real:
    exponent, significand = parts(x, _LOWEST_F32)
    natural = _log_of_f32(significand)
    product = product_pair(natural.high, x.of(_LOG2_E))
    low = natural.low.times_plus(_LOG2_E, natural.high.times_plus(_LOG2_E_LOW_F32, product.low))
    total = ordered_sum_pair(exponent, product.high)
    return with_corners(x, total.high + (total.low + low))


def _log_of_f32(significand: Real) -> Pair:
    """f - f^2/2 + f^3 P(f), of which the first two terms are exact."""
    near = significand - 1.0
    square = product_pair(near, near * -0.5)
    head = ordered_sum_pair(near, square.high)
    tail = (near * (near * near)).times_plus(polynomial(near, _LOG_F32), square.low)
    return Pair(head.high, head.low + tail)


# ---------------------------------------------------------------- f32 by f64


def log2_short(x: Real) -> Real:
    """log2 of a positive finite f64 that is no subnormal, to 44 bits."""
    exponent, significand = parts(x, _LOWEST_F64)
    near = (significand - 1.0) / (significand + 1.0)
    square = near * near
    natural = (near * square).times_plus(polynomial(square, _LOG_SHORT), near + near)
    return natural.times_plus(_LOG2_E, exponent)


# ---------------------------------------------------------------- f64


def log_f64(x: Real) -> Real:
    exponent, significand = parts(x, _LOWEST_F64)
    natural = _log_of(significand)
    whole = Pair(exponent * _LN2_HIGH, exponent * _LN2_LOW)
    return with_corners(x, value(add_pairs(whole, natural)))


def log2_f64(x: Real) -> Real:
    return with_corners(x, value(log2_pair(x)))


def log2_pair(x: Real) -> Pair:
    """log2 of a positive finite f64, to about 66 bits."""
    exponent, significand = parts(x, _LOWEST_F64)
    binary = multiply_pairs(_log_of(significand), constant_pair(x, _LOG2_E, _LOG2_E_LOW))
    return add_pairs(Pair(exponent, x.of(0.0)), binary)


def _log_of(significand: Real) -> Pair:
    """2s + s^3 (2/3 + s^2 P(s^2))."""
    zero = significand.of(0.0)
    near = divide_pairs(Pair(significand - 1.0, zero), sum_pair(significand, significand.of(1.0)))
    square = multiply_pairs(near, near)
    rest = square.high * polynomial(square.high, _LOG_F64)
    factor = ordered_sum_pair(zero + 2.0 / 3.0, rest)
    factor = Pair(factor.high, factor.low + _TWO_THIRDS_LOW)
    tail = multiply_pairs(multiply_pairs(near, square), factor)
    return add_pairs(Pair(near.high + near.high, near.low + near.low), tail)
