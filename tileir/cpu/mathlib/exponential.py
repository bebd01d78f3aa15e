"""exp, exp2, sinh, cosh and tanh; log and log2; pow and rsqrt."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tileir.cpu.emit.algebra import Int, Real
from tileir.cpu.emit.elements import FLOAT
from tileir.cpu.mathlib.pairs import (
    Multiple,
    Pair,
    add_pairs,
    constant_pair,
    divide_pairs,
    multiply_pairs,
    nearest_multiple,
    normalized,
    ordered_sum_pair,
    polynomial,
    power_of_two,
    product_pair,
    sum_pair,
    value,
)

# ---------------------------------------------------------------- exponentials
#
# An argument is split into n * ln 2 + r with an integer n and a small r; e^r - 1 is a polynomial.


_LOG2_E = math.log2(math.e)
_LN2_HIGH_F32, _LN2_LOW_F32 = 0.6931471824645996, -1.904654299957768e-09
_LN2_HIGH, _LN2_LOW = math.log(2.0), 2.3190468138462996e-17

_EXP_F32 = (1.0, 1.0, 0.4999999403953552, 0.16666516661643982, 0.041668105870485306, 0.008369090035557747,
            0.001383508089929819)  # fmt: skip
_EXP2_F32 = (1.0, 0.6931471824645996, 0.24022594094276428, 0.055503662675619125, 0.009625460021197796,
             0.0013386692153289914, 0.00013254178338684142)  # fmt: skip
_EXP_F64 = (0.16666666666666685, 0.04166666666666673, 0.0083333333333167, 0.0013888888888849472,
            0.00019841269897267986, 2.4801587399417168e-05, 2.7557233950416723e-06, 2.755720737315477e-07,
            2.5112359547535794e-08, 2.093586114065677e-09)  # fmt: skip
"""(e^r - 1 - r - r^2/2) / r^3."""
_EXP_SHORT = (0.16666666785869524, 0.041666666969893636, 0.008333281334517181, 0.0013888794820687254,
              0.00019909263514552948, 2.4892630987931726e-05)  # fmt: skip
"""Coefficients of the same polynomial to 40 bits."""
_TANH_F32 = (-0.33333319425582886, 0.13332636654376984, -0.05385684221982956, 0.021088240668177605,
             -0.006295512896031141)  # fmt: skip
"""(tanh x - x) / x^3 of x^2, below `_TANH_SPLIT`."""
_TANH_SPLIT = 0.55
_SHIFT_PATTERN = 0x4B400000
"""The register of `nearest_multiple` for the f32 0."""


def split(x: Real, factor: float) -> Multiple:
    """Return the integer nearest to x * factor; its register has twice the bias of the exponent added."""
    return nearest_multiple(x, factor, 2 * x.bias)


def scaled(x: Real, biased: Int) -> Real:
    """Return x * 2^n for any n that makes sense, rounded once also where the result is subnormal; `biased` is that of
    `split`."""
    half = biased >> 1
    rest = biased - half
    return x * (half << x.fraction).as_real() * (rest << x.fraction).as_real()


# ---------------------------------------------------------------- f32
#
# Where the result is 0, as for the masked scores of attention, it is not computed: processors take a hundred cycles and
# more for a product that falls below the normal numbers.


def exp_f32(x: Real) -> Real:
    return _exponential_f32(x, _LOG2_E, _EXP_F32, _remainder_f32, (-104.0, 89.0))


def exp2_f32(x: Real) -> Real:
    return _exponential_f32(x, 1.0, _EXP2_F32, Real.__sub__, (-150.0, 129.0))


def _exponential_f32(
    x: Real,
    factor: float,
    coefficients: Sequence[float],
    remainder: Callable[[Real, Real], Real],
    bounds: tuple[float, float],
) -> Real:
    """Return the power whose binary logarithm is x * factor: 0 and infinity outside the bounds."""
    lowest, highest = bounds
    counts = ~(x < lowest)
    if x.builder.module.target.has_scaling:
        # For products of 2^22 and more it is not the nearest integer, but one so large that the power is infinite.
        power = nearest_multiple(x, factor).register - _SHIFT_PATTERN
        rest = remainder(x, power.converted(FLOAT))
        return counts.choose(polynomial(rest, coefficients).times_power_of_two(power), 0.0)
    bounded = counts.choose(x.at_most(highest), 0.0)
    number, biased = split(bounded, factor)
    return counts.choose(scaled(polynomial(remainder(bounded, number), coefficients), biased), 0.0)


def tanh_f32(x: Real) -> Real:
    """Return 1 - 2 / (e^2|x| + 1), or a polynomial near zero."""
    magnitude = abs(x).at_most(10.0)
    double = magnitude + magnitude
    number, biased = split(double, _LOG2_E)
    power = ((biased - x.bias) << x.fraction).as_real()
    exponential = polynomial(_remainder_f32(double, number), _EXP_F32) * power
    large = (1.0 - 2.0 / (exponential + 1.0)).with_sign_of(x)
    square = x * x
    small = (x * square).times_plus(polynomial(square, _TANH_F32), x)
    return (magnitude < _TANH_SPLIT).choose(small.with_sign_of(x), large)


def _remainder_f32(x: Real, number: Real) -> Real:
    return number.times_plus(-_LN2_LOW_F32, number.times_plus(-_LN2_HIGH_F32, x))


# ---------------------------------------------------------------- f32 by f64


def exp_minus_one_short(x: Real) -> Real:
    """Return e^x - 1 of an f64 in [0, 700] to 40 bits."""
    number = nearest_multiple(x, _LOG2_E).number
    rest = number.times_plus(-_LN2_LOW, number.times_plus(-_LN2_HIGH, x))
    power = power_of_two(number)
    return exp_minus_one_tail(rest).times_plus(power, power - 1.0)


def exp_minus_one_tail(rest: Real) -> Real:
    """Return e^r - 1 of a remainder to 40 bits."""
    square = rest * rest
    return (square * rest).times_plus(polynomial(rest, _EXP_SHORT), square.times_plus(0.5, rest))


def sinh_f32(x: Real) -> Real:
    wide = x.double()
    grown = exp_minus_one_short(abs(wide).at_most(200.0))
    return ((grown + grown / (grown + 1.0)) * 0.5).signed_as(wide).single()


def cosh_f32(x: Real) -> Real:
    grown = exp_minus_one_short(abs(x.double()).at_most(200.0)) + 1.0
    return ((grown + 1.0 / grown) * 0.5).single()


# ---------------------------------------------------------------- f64


def exp_f64(x: Real) -> Real:
    bounded = x.at_most(710.0).at_least(-746.0)
    number, biased = split(bounded, _LOG2_E)
    return scaled(exp_of(reduced(bounded, number)), biased)


def exp2_f64(x: Real) -> Real:
    """Return 2^x; the remainder is exact, and times ln 2 it has a low part."""
    bounded = x.at_most(1025.0).at_least(-1076.0)
    number, biased = split(bounded, 1.0)
    return scaled(exp_of(times_ln2(Pair(bounded - number, x.of(0.0)))), biased)


def times_ln2(x: Pair) -> Pair:
    return multiply_pairs(x, Pair(x.high.of(_LN2_HIGH), x.high.of(_LN2_LOW)))


def reduced(x: Real, number: Real) -> Pair:
    """Return x - number * ln 2."""
    near = number.times_plus(-_LN2_HIGH, x)
    return sum_pair(near, number * -_LN2_LOW)


def exp_of(rest: Pair) -> Real:
    """Return e^r of a remainder, off by hardly more than its rounding."""
    grown = exp_minus_one_of(rest)
    total = ordered_sum_pair(grown.high.of(1.0), grown.high)
    return total.high + (total.low + grown.low)


def exp_minus_one_of(rest: Pair) -> Pair:
    """Return e^r - 1 of a remainder."""
    near = rest.high
    square = product_pair(near, near)
    head = ordered_sum_pair(near, square.high * 0.5)
    tail = (square.high * near).times_plus(polynomial(near, _EXP_F64), square.low * 0.5)
    return normalized(head.high, head.low + (tail + rest.low.times_plus(near, rest.low)))


def exp_minus_one(x: Real) -> Pair:
    """Return e^x - 1 of an f64 in [0, 700]."""
    number = nearest_multiple(x, _LOG2_E).number
    rest = exp_minus_one_of(reduced(x, number))
    power = power_of_two(number)
    return add_pairs(Pair(power - 1.0, x.of(0.0)), Pair(rest.high * power, rest.low * power))


_HYPERBOLIC_SPLIT = 22.0
"""Beyond, e^-x does not count beside e^x."""


def sinh_f64(x: Real) -> Real:
    magnitude = abs(x)
    grown = exp_minus_one(magnitude.at_most(_HYPERBOLIC_SPLIT))
    near = value(add_pairs(grown, divide_pairs(grown, _plus(grown, 1.0)))) * 0.5
    return (magnitude > _HYPERBOLIC_SPLIT).choose(_half_exp(magnitude), near).signed_as(x)


def cosh_f64(x: Real) -> Real:
    magnitude = abs(x)
    grown = _plus(exp_minus_one(magnitude.at_most(_HYPERBOLIC_SPLIT)), 1.0)
    one = Pair(x.of(1.0), x.of(0.0))
    near = value(add_pairs(grown, divide_pairs(one, grown))) * 0.5
    return (magnitude > _HYPERBOLIC_SPLIT).choose(_half_exp(magnitude), near)


def tanh_f64(x: Real) -> Real:
    """Return (e^2|x| - 1) / (e^2|x| + 1)."""
    magnitude = abs(x).at_most(22.0)
    grown = exp_minus_one(magnitude + magnitude)
    return value(divide_pairs(grown, _plus(grown, 2.0))).signed_as(x)


def _plus(x: Pair, number: float) -> Pair:
    return add_pairs(x, Pair(x.high.of(number), x.high.of(0.0)))


def _half_exp(x: Real) -> Real:
    """Return e^x / 2, which is finite a little longer than e^x."""
    bounded = x.at_most(711.0)
    number, biased = split(bounded, _LOG2_E)
    return scaled(exp_of(reduced(bounded, number)), biased - 1)


# ---------------------------------------------------------------- logarithms
#
# A number is split into 2^e * m with m around 1. log m is a polynomial of m - 1 in f32, and in f64 the series of the
# area tangent of (m - 1) / (m + 1).


_LOG_F32 = (0.3333321511745453, -0.24999797344207764, 0.20010405778884888, -0.16680492460727692, 0.1400587260723114,
            -0.12184199690818787, 0.13984429836273193, -0.12891924381256104)  # fmt: skip
"""(log(1 + f) - f + f^2/2) / f^3."""
_LOG_F64 = (0.4, 0.2857142857142689, 0.2222222222271627, 0.18181818106104608, 0.15384622173494397, 0.13332960795711413,
            0.11777232030625871, 0.10279701643041766, 0.1202266091409258)  # fmt: skip
"""((log m - 2s) / s^3 - 2/3) / s^2 of s^2, with s = (m - 1) / (m + 1)."""
_LOG_SHORT = (0.6666666667589268, 0.3999999558687401, 0.2857211322835008, 0.2217600454011895, 0.195869917206919)
"""(log m - 2s) / s^3 of s^2 to 44 bits."""

_SHORT_LN2_F32, _SHORT_LN2_REST_F32 = 0.693145751953125, 1.4286068203094173e-06
"""The high part times an exponent is exact."""
_SHORT_LN2, _SHORT_LN2_REST = 0.6931471805598903, 5.497923018708371e-14
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
    """Return a positive finite number with a significand in [lowest, 2 * lowest)."""
    subnormal = x < 2.0 ** (1 - x.bias)
    moved = x.fraction + 1
    pattern = subnormal.choose(x * 2.0**moved, x).pattern()
    mask = -1 << x.fraction
    exponent = (pattern - x.of(lowest).pattern()) & mask
    number = exponent.shifted_signed(x.fraction).converted(x.type)
    return Parts(subnormal.choose(number - float(moved), number), (pattern - exponent).as_real())


def with_corners(x: Real, result: Real) -> Real:
    """Return the logarithm with its special cases: -inf at zero, NaN below; infinity and NaN stay."""
    result = (x < float("inf")).choose(result, x)
    corner = x.equals(0.0).choose(x.of(-math.inf), math.nan)
    return (x <= 0.0).choose(corner, result)


# ---------------------------------------------------------------- f32


def log_f32(x: Real) -> Real:
    exponent, significand = parts(x, _LOWEST_F32)
    natural = _log_of_f32(significand)
    total = ordered_sum_pair(exponent * _SHORT_LN2_F32, natural.high)
    low = exponent.times_plus(_SHORT_LN2_REST_F32, natural.low)
    return with_corners(x, total.high + (total.low + low))


def log2_f32(x: Real) -> Real:
    exponent, significand = parts(x, _LOWEST_F32)
    natural = _log_of_f32(significand)
    product = product_pair(natural.high, x.of(_LOG2_E))
    low = natural.low.times_plus(_LOG2_E, natural.high.times_plus(_LOG2_E_LOW_F32, product.low))
    total = ordered_sum_pair(exponent, product.high)
    return with_corners(x, total.high + (total.low + low))


def _log_of_f32(significand: Real) -> Pair:
    """Return f - f^2/2 + f^3 P(f); the first two terms are exact."""
    near = significand - 1.0
    square = product_pair(near, near * -0.5)
    head = ordered_sum_pair(near, square.high)
    tail = (near * (near * near)).times_plus(polynomial(near, _LOG_F32), square.low)
    return Pair(head.high, head.low + tail)


# ---------------------------------------------------------------- f32 by f64


def log2_short(x: Real) -> Real:
    """Return log2 of a positive finite f64 that is no subnormal, to 44 bits."""
    exponent, significand = parts(x, _LOWEST_F64)
    near = (significand - 1.0) / (significand + 1.0)
    square = near * near
    natural = (near * square).times_plus(polynomial(square, _LOG_SHORT), near + near)
    return natural.times_plus(_LOG2_E, exponent)


# ---------------------------------------------------------------- f64


def log_f64(x: Real) -> Real:
    exponent, significand = parts(x, _LOWEST_F64)
    natural = _log_of(significand)
    whole = Pair(exponent * _SHORT_LN2, exponent * _SHORT_LN2_REST)
    return with_corners(x, value(add_pairs(whole, natural)))


def log2_f64(x: Real) -> Real:
    return with_corners(x, value(log2_pair(x)))


def log2_pair(x: Real) -> Pair:
    """Return log2 of a positive finite f64, to about 66 bits."""
    exponent, significand = parts(x, _LOWEST_F64)
    binary = multiply_pairs(_log_of(significand), constant_pair(x, _LOG2_E, _LOG2_E_LOW))
    return add_pairs(Pair(exponent, x.of(0.0)), binary)


def _log_of(significand: Real) -> Pair:
    """Return 2s + s^3 (2/3 + s^2 P(s^2))."""
    zero = significand.of(0.0)
    near = divide_pairs(Pair(significand - 1.0, zero), sum_pair(significand, significand.of(1.0)))
    square = multiply_pairs(near, near)
    rest = square.high * polynomial(square.high, _LOG_F64)
    factor = ordered_sum_pair(zero + 2.0 / 3.0, rest)
    factor = Pair(factor.high, factor.low + _TWO_THIRDS_LOW)
    tail = multiply_pairs(multiply_pairs(near, square), factor)
    return add_pairs(Pair(near.high + near.high, near.low + near.low), tail)


# ---------------------------------------------------------------- powers
#
# pow is 2^(y log2 |x|), with the corner cases of C. Its exponent is an f64 also where the base is an f32, so that every
# i32 is one exactly.


def pow_f32(x: Real, y: Real) -> Real:
    """Return the power; x and y are f32, and y may be an f64."""
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
    """Return 2^(y log2 x). Out of range only the sign of the exponent counts; its low part may be NaN there."""
    binary = log2_pair(base)
    high = exponent * binary.high
    low = exponent.times_plus(binary.high, -high) + exponent * binary.low
    bounded = high.at_most(1100.0).at_least(-1100.0)
    low = (abs(high) < 1100.0).choose(low, 0.0)
    number, biased = split(bounded, 1.0)
    rest = normalized(*ordered_sum_pair(bounded - number, low))
    return scaled(exp_of(times_ln2(rest)), biased)


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
    """Return the reciprocal root: root and division, then one Newton step with an exact residual."""
    near = 1.0 / x.root()
    product = product_pair(x, near)
    residual = (-product.high).times_plus(near, near.of(1.0)) - product.low * near
    better = near.times_plus(residual * 0.5, near)
    return ((x > 0.0) & (x < float("inf"))).choose(better, near)
