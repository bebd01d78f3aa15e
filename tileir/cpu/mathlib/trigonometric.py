"""sin, cos and tan.

An angle is split into a multiple of pi/2 and a rest of at most pi/4, with fused multiply-adds (Cody and Waite); sine
and cosine of the rest are polynomials. Huge angles are corrected afterwards (`mathlib.angle`,
`cpu.mathlib.slow_paths`).
"""

from __future__ import annotations

from collections.abc import Callable

from tileir.cpu.emit.algebra import Flag, Int, Real
from tileir.cpu.mathlib.angle import PI_OVER_2, Turned, turned
from tileir.cpu.mathlib.error_free import Pair, ordered_sum_pair, product_pair, sum_pair
from tileir.cpu.mathlib.polynomials import divide_pairs, polynomial, value
from tileir.cpu.mathlib.slow_paths import corrected

_PI_OVER_2_F32 = (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15)
_TWO_OVER_PI = 0.6366197723675814

_SIN_F32 = (-0.16666655242443085, 0.008332191035151482, -0.00019518595945555717)
_COS_F32 = (0.04166664555668831, -0.00138873013202101, 2.443067387503106e-05)
_SIN_F64 = (-0.16666666666666632, 0.008333333333322472, -0.00019841269829835558, 2.7557313697257526e-06,
            -2.5050758475231173e-08, 1.589679611059983e-10)  # fmt: skip
"""(sin r - r) / r^3 of r^2."""
_COS_F64 = (0.0416666666666666, -0.0013888888888874457, 2.4801587289652787e-05, -2.7557314393818327e-07,
            2.087572810020685e-09, -1.1359864268617224e-11)  # fmt: skip
"""(cos r - 1 + r^2/2) / r^4 of r^2."""
_SIN_SHORT = (-0.16666666641528854, 0.008333329374324194, -0.00019839331048512635, 2.718274844062979e-06)
_COS_SHORT = (0.04166666662265692, -0.0013888883738320686, 2.4799515947422157e-05, -2.7209896487031286e-07)
"""The same to 37 and 43 bits."""

_LARGEST_F32 = 1e5
"""Larger angles lose too much in the reduction."""
_LARGEST_F64 = 2.0**25
_LARGEST_SHORT = 2.0**30

Function = Callable[[Turned], Real]


# ---------------------------------------------------------------- f32


def sin_f32(x: Real) -> Real:
    return _corrected("sin", x, x.equals(0.0).choose(x, _turned_sine_f32(x, 0)), _LARGEST_F32, _sine)


def cos_f32(x: Real) -> Real:
    return _corrected("cos", x, _turned_sine_f32(x, 1), _LARGEST_F32, _cosine)


def _turned_sine_f32(x: Real, quarter: int) -> Real:
    """The sine of x plus `quarter` times pi/2."""
    shift = 1.5 * 2.0**23
    shifted = x.times_plus(_TWO_OVER_PI, shift)
    number = shifted - shift
    rest = x
    for part in _PI_OVER_2_F32:
        rest = number.times_plus(-part, rest)
    square = rest * rest
    sine = (rest * square).times_plus(polynomial(square, _SIN_F32), rest)
    cosine = (square * square).times_plus(polynomial(square, _COS_F32), square.times_plus(-0.5, 1.0))
    quadrant = shifted.pattern() + quarter
    return _by_quadrant(quadrant, sine, cosine)


def _by_quadrant(quadrant: Int, sine: Real, cosine: Real) -> Real:
    """The sine of a rest in a quadrant, from sine and cosine of the rest."""
    chosen = (quadrant & 1).differs(0).choose(cosine, sine)
    return (chosen.pattern() ^ ((quadrant & 2) << (chosen.width - 2))).as_real()


def tan_f32(x: Real) -> Real:
    wide = x.double()
    shifted, number = _quarters(wide)
    rest = number.times_plus(-PI_OVER_2[1], number.times_plus(-PI_OVER_2[0], wide))
    square = rest * rest
    sine = (rest * square).times_plus(polynomial(square, _SIN_SHORT), rest)
    cosine = (square * square).times_plus(polynomial(square, _COS_SHORT), square.times_plus(-0.5, 1.0))
    odd = (shifted & 1).differs(0)
    quotient = (odd.choose(-cosine, sine) / odd.choose(sine, cosine)).single()
    return _corrected("tan", x, x.equals(0.0).choose(x, quotient), _LARGEST_SHORT, _tangent)


def _quarters(x: Real) -> tuple[Int, Real]:
    """The nearest number of quarter turns of an f64, as a register with it in its low bits and as a float."""
    shift = 1.5 * 2.0**52
    shifted = x.times_plus(_TWO_OVER_PI, shift)
    return shifted.pattern(), shifted - shift


# ---------------------------------------------------------------- f64


def sin_f64(x: Real) -> Real:
    return _corrected("sin", x, x.equals(0.0).choose(x, _sine(_reduced(x))), _LARGEST_F64, _sine)


def cos_f64(x: Real) -> Real:
    return _corrected("cos", x, _cosine(_reduced(x)), _LARGEST_F64, _cosine)


def tan_f64(x: Real) -> Real:
    return _corrected("tan", x, x.equals(0.0).choose(x, _tangent(_reduced(x))), _LARGEST_F64, _tangent)


def _reduced(x: Real) -> Turned:
    """The first product is cancelled exactly, the second one is kept with what its rounding lost."""
    quadrant, number = _quarters(x)
    near = number.times_plus(-PI_OVER_2[0], x)
    second = product_pair(number, number.of(-PI_OVER_2[1]))
    rest = sum_pair(near, second.high)
    low = number.times_plus(-PI_OVER_2[2], rest.low + second.low)
    return Turned(quadrant, ordered_sum_pair(rest.high, low))


def _sine(angle: Turned) -> Real:
    return _by_quadrant(angle.quadrant, value(_sine_pair(angle.rest)), value(_cosine_pair(angle.rest)))


def _cosine(angle: Turned) -> Real:
    return _sine(Turned(angle.quadrant + 1, angle.rest))


def _tangent(angle: Turned) -> Real:
    sine, cosine = _sine_pair(angle.rest), _cosine_pair(angle.rest)
    odd = (angle.quadrant & 1).differs(0)
    above = Pair(odd.choose(-cosine.high, sine.high), odd.choose(-cosine.low, sine.low))
    below = Pair(odd.choose(sine.high, cosine.high), odd.choose(sine.low, cosine.low))
    return value(divide_pairs(above, below))


def _sine_pair(rest: Pair) -> Pair:
    near, low = rest
    square = near * near
    tail = (near * square).times_plus(polynomial(square, _SIN_F64), square.times_plus(low * -0.5, low))
    return ordered_sum_pair(near, tail)


def _cosine_pair(rest: Pair) -> Pair:
    near, low = rest
    square = near * near
    head = ordered_sum_pair(near.of(1.0), square * -0.5)
    tail = (square * square).times_plus(polynomial(square, _COS_F64), -(near * low))
    return ordered_sum_pair(head.high, head.low + tail)


def _corrected(name: str, x: Real, fast: Real, largest: float, function: Function) -> Real:
    """`fast`, but `function` of the angle reduced by integers where that is huge."""

    def needs(angle: Real) -> Flag:
        return (abs(angle) > largest) & (abs(angle) < float("inf"))

    def slow(angle: Real) -> Real:
        result = function(turned(angle.double()))
        return result if angle.width == 64 else result.single()

    return corrected(name, fast, [x], needs, slow)
