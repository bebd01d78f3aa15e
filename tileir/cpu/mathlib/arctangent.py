"""atan2.

The ratio of the smaller to the larger coordinate is brought below tan(pi/8) by turning it by pi/4; the arc tangent of
that is a polynomial, and is added to or taken from a multiple of pi/4.
"""

from __future__ import annotations

from collections.abc import Callable

from tileir.cpu.emit.algebra import Real
from tileir.cpu.mathlib.error_free import Pair, ordered_sum_pair, product_pair, sum_pair
from tileir.cpu.mathlib.polynomials import polynomial

_ATAN_F64 = (-0.33333333333333326, 0.1999999999999767, -0.1428571428538814, 0.11111111088185568, -0.09090908144793623,
             0.07692282764317028, -0.06666226836051997, 0.05877022522350286, -0.05218408760332492, 0.045035660380029936,
             -0.03347481691861237, 0.015195492114964711)  # fmt: skip
"""(atan q - q) / q^3 of q^2, for q up to tan(pi/8)."""
_ATAN_SHORT = (-0.33333332510051944, 0.19999904756572842, -0.1428202904984611, 0.11044923581650953,
               -0.08477409868135542, 0.04746121296458754)  # fmt: skip
"""The same to 35 bits."""
_TAN_PI_OVER_8 = 0.41421356237309503
_PI_OVER_4 = (0.7853981633974483, 3.061616997868383e-17)
_FAR_EXPONENT = 500


def atan2_f32(y: Real, x: Real) -> Real:
    return _arc(y.double(), x.double(), _arctangent_short).single()


def atan2_f64(y: Real, x: Real) -> Real:
    """Scaled so that neither the sum nor the rest of a division leaves the range."""
    largest = (abs(y) > abs(x)).choose(abs(y), abs(x))
    up = (largest < 2.0**-_FAR_EXPONENT).choose(x.of(2.0**_FAR_EXPONENT), 1.0)
    scale = (largest > 2.0**_FAR_EXPONENT).choose(x.of(2.0**-_FAR_EXPONENT), up)
    return _arc(y * scale, x * scale, _arctangent)


def _arctangent_short(above: Pair, below: Pair) -> Pair:
    quotient = _ratio(above.high, below.high)
    square = quotient * quotient
    return Pair((quotient * square).times_plus(polynomial(square, _ATAN_SHORT), quotient), quotient.of(0.0))


def _arctangent(above: Pair, below: Pair) -> Pair:
    quotient = _ratio(above.high, below.high)
    rest = (-quotient).times_plus(below.high, above.high) + (above.low - quotient * below.low)
    low = (abs(below.high) < float("inf")).choose(_ratio(rest, below.high), 0.0)
    square = quotient * quotient
    tail = (quotient * square).times_plus(polynomial(square, _ATAN_F64), low)
    return ordered_sum_pair(quotient, tail)


def _ratio(above: Real, below: Real) -> Real:
    """0 / 0 is 0."""
    return (above.equals(0.0) & below.equals(0.0)).choose(below, above / below)


def _arc(y: Real, x: Real, arctangent: Callable[[Pair, Pair], Pair]) -> Real:
    """The arc tangent of a ratio of at most tan(pi/8), added to or subtracted from a multiple of pi/4."""
    zero = x.of(0.0)
    infinite = abs(x).equals(float("inf")) & abs(y).equals(float("inf"))
    ordinate, abscissa = (infinite.choose(x.of(1.0), abs(axis)) for axis in (y, x))
    steep = ordinate > abscissa
    small, large = steep.choose(abscissa, ordinate), steep.choose(ordinate, abscissa)
    middle = small > large * _TAN_PI_OVER_8
    difference, total = sum_pair(small, -large), sum_pair(small, large)
    above = Pair(middle.choose(difference.high, small), middle.choose(difference.low, zero))
    below = Pair(middle.choose(total.high, large), middle.choose(total.low, zero))
    arc = arctangent(above, below)
    octants = middle.choose(x.of(1.0), 0.0)
    octants = steep.choose(2.0 - octants, octants)
    octants = x.is_negative().choose(4.0 - octants, octants)
    minus = steep ^ x.is_negative()
    start = product_pair(octants, octants.of(_PI_OVER_4[0]))
    part = ordered_sum_pair(start.high, minus.choose(-arc.high, arc.high))
    low = octants.times_plus(_PI_OVER_4[1], start.low) + minus.choose(-arc.low, arc.low)
    return (part.high + (part.low + low)).signed_as(y)
