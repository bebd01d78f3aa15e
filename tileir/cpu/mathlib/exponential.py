"""exp, exp2, sinh, cosh and tanh.

An argument is split into n * ln 2 + r with an integer n and a small r; e^r - 1 is a polynomial.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from tileir.cpu.emit.algebra import Int, Real
from tileir.cpu.emit.elements import FLOAT
from tileir.cpu.llvm.engine import host
from tileir.cpu.mathlib.error_free import Pair, ordered_sum_pair, product_pair, sum_pair
from tileir.cpu.mathlib.polynomials import (
    add_pairs,
    divide_pairs,
    multiply_pairs,
    normalized,
    polynomial,
    power_of_two,
    value,
)

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
"""The same to 40 bits."""
_TANH_F32 = (-0.33333319425582886, 0.13332636654376984, -0.05385684221982956, 0.021088240668177605,
             -0.006295512896031141)  # fmt: skip
"""(tanh x - x) / x^3 of x^2, below `_TANH_SPLIT`."""
_TANH_SPLIT = 0.55
_SHIFT_F32, _SHIFT_PATTERN = 1.5 * 2.0**23, 0x4B400000
"""Added to an f32 below 2^22, it brings the nearest integer into the low bits; its pattern."""


class Split(NamedTuple):
    """An integral number, and a register whose low bits are that number plus twice the bias of the exponent."""

    number: Real
    biased: Int


def nearest_multiple(x: Real, factor: float) -> Split:
    """The integer nearest to x * factor."""
    shift = 1.5 * 2.0**x.fraction + 2 * x.bias
    shifted = x.times_plus(factor, shift)
    return Split(shifted - shift, shifted.pattern())


def scaled(x: Real, split: Split) -> Real:
    """x * 2^n for any n that makes sense, rounded once also where the result is subnormal."""
    half = split.biased >> 1
    rest = split.biased - half
    return x * (half << x.fraction).as_real() * (rest << x.fraction).as_real()


# ---------------------------------------------------------------- f32
#
# Where the result is 0, as for the masked scores of attention, it is not computed: processors take a hundred cycles and
# more for a product that falls below the normal numbers.


def exp_f32(x: Real) -> Real:
    counts = ~(x < -104.0)
    if host().has_scaling:
        power = _power_f32(x, _LOG2_E)
        rest = _remainder_f32(x, power.converted(FLOAT))
        return counts.choose(polynomial(rest, _EXP_F32).times_power_of_two(power), 0.0)
    bounded = counts.choose(x.at_most(89.0), 0.0)
    split = nearest_multiple(bounded, _LOG2_E)
    return counts.choose(scaled(polynomial(_remainder_f32(bounded, split.number), _EXP_F32), split), 0.0)


def exp2_f32(x: Real) -> Real:
    counts = ~(x < -150.0)
    if host().has_scaling:
        power = _power_f32(x, 1.0)
        rest = x - power.converted(FLOAT)
        return counts.choose(polynomial(rest, _EXP2_F32).times_power_of_two(power), 0.0)
    bounded = counts.choose(x.at_most(129.0), 0.0)
    split = nearest_multiple(bounded, 1.0)
    return counts.choose(scaled(polynomial(bounded - split.number, _EXP2_F32), split), 0.0)


def _power_f32(x: Real, factor: float) -> Int:
    """The integer nearest to x * factor where that is below 2^22, of what is more some integer between.

    So the rest of what is more is positive, or infinite, and its power, scaled by 2^(2^22) at least, is infinity.
    """
    return x.times_plus(factor, _SHIFT_F32).pattern() - _SHIFT_PATTERN


def tanh_f32(x: Real) -> Real:
    """1 - 2 / (e^2|x| + 1), or a polynomial near zero."""
    magnitude = abs(x).at_most(10.0)
    double = magnitude + magnitude
    split = nearest_multiple(double, _LOG2_E)
    power = ((split.biased - x.bias) << x.fraction).as_real()
    exponential = polynomial(_remainder_f32(double, split.number), _EXP_F32) * power
    large = (1.0 - 2.0 / (exponential + 1.0)).with_sign_of(x)
    square = x * x
    small = (x * square).times_plus(polynomial(square, _TANH_F32), x)
    return (magnitude < _TANH_SPLIT).choose(small.with_sign_of(x), large)


def _remainder_f32(x: Real, number: Real) -> Real:
    return number.times_plus(-_LN2_LOW_F32, number.times_plus(-_LN2_HIGH_F32, x))


# ---------------------------------------------------------------- f32 by f64


def exp_minus_one_short(x: Real) -> Real:
    """e^x - 1 of an f64 in [0, 700] to 40 bits."""
    number = nearest_multiple(x, _LOG2_E).number
    rest = number.times_plus(-_LN2_LOW, number.times_plus(-_LN2_HIGH, x))
    power = power_of_two(number)
    return exp_minus_one_tail(rest).times_plus(power, power - 1.0)


def exp_minus_one_tail(rest: Real) -> Real:
    """e^r - 1 of a remainder to 40 bits."""
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
    split = nearest_multiple(bounded, _LOG2_E)
    return scaled(exp_of(reduced(bounded, split.number)), split)


def exp2_f64(x: Real) -> Real:
    """The remainder is exact; times ln 2 it has a low part."""
    bounded = x.at_most(1025.0).at_least(-1076.0)
    split = nearest_multiple(bounded, 1.0)
    rest = Pair(bounded - split.number, x.of(0.0))
    return scaled(exp_of(times_ln2(rest)), split)


def times_ln2(x: Pair) -> Pair:
    return multiply_pairs(x, Pair(x.high.of(_LN2_HIGH), x.high.of(_LN2_LOW)))


def reduced(x: Real, number: Real) -> Pair:
    """x - number * ln 2."""
    near = number.times_plus(-_LN2_HIGH, x)
    return sum_pair(near, number * -_LN2_LOW)


def exp_of(rest: Pair) -> Real:
    """e^r of a remainder, off by hardly more than its rounding."""
    grown = exp_minus_one_of(rest)
    total = ordered_sum_pair(grown.high.of(1.0), grown.high)
    return total.high + (total.low + grown.low)


def exp_minus_one_of(rest: Pair) -> Pair:
    """e^r - 1 of a remainder."""
    near = rest.high
    square = product_pair(near, near)
    head = ordered_sum_pair(near, square.high * 0.5)
    tail = (square.high * near).times_plus(polynomial(near, _EXP_F64), square.low * 0.5)
    return normalized(head.high, head.low + (tail + rest.low.times_plus(near, rest.low)))


def exp_minus_one(x: Real) -> Pair:
    """e^x - 1 of an f64 in [0, 700]."""
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
    """(e^2|x| - 1) / (e^2|x| + 1)."""
    magnitude = abs(x).at_most(22.0)
    grown = exp_minus_one(magnitude + magnitude)
    return value(divide_pairs(grown, _plus(grown, 2.0))).signed_as(x)


def _plus(x: Pair, number: float) -> Pair:
    return add_pairs(x, Pair(x.high.of(number), x.high.of(0.0)))


def _half_exp(x: Real) -> Real:
    """e^x / 2, which is finite a little longer than e^x."""
    bounded = x.at_most(711.0)
    split = nearest_multiple(bounded, _LOG2_E)
    return scaled(exp_of(reduced(bounded, split.number)), Split(split.number, split.biased - 1))
