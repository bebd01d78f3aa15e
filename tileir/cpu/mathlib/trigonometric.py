"""sin, cos, tan and atan2."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from llvmlite import ir

from tileir.cpu.emit.algebra import Flag, Int, Real, call_intrinsic
from tileir.cpu.emit.elements import DOUBLE, I64
from tileir.cpu.mathlib.pairs import (
    Pair,
    constant_pair,
    divide_pairs,
    multiply_pairs,
    nearest_multiple,
    ordered_sum_pair,
    polynomial,
    product_pair,
    sum_pair,
    value,
)
from tileir.cpu.mathlib.slow_paths import corrected

# ---------------------------------------------------------------- angles too large for a reduction in floats
#
# They are reduced in integers (Payne and Hanek, 1983): 2/pi is known to 1216 bits, of which those that matter for one
# exponent are multiplied with the significand.


_I128 = ir.IntType(128)
_TWO_OVER_PI_BITS = (
    "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424dd2e006492eea09d1921cfe1deb1cb129a73e"
    "e88235f52ebb4484e99c7026b45f7e413991d639835339f49c845f8bbdf9283b1ff897ffde05980fef2f118b5a0a6d1f6d367ecf27cb09b7"
    "4f463f669e5fea2d7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d0856033046fc7b6bab"
)
"""The fraction in hexadecimal."""
_TABLE = "math.two_over_pi"
_ZERO_BITS = 64
"""Zeros in front of the table, for exponents that want bits above the point."""
PI_OVER_2 = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)
"""The constant as a sum of three f64."""


class ReducedAngle(NamedTuple):
    """x = quadrant * pi/2 + rest, with the quadrant (an i64) modulo 4 and a rest of at most pi/4."""

    quadrant: Int
    rest: Pair


def reduced_angle(x: Real) -> ReducedAngle:
    """Return a finite f64 of at least 1 in magnitude."""
    pattern = x.pattern()
    exponent = ((pattern >> 52) & 0x7FF) - 1075
    significand = (pattern & ((1 << 52) - 1)) | (1 << 52)
    turns = _fraction_of_turns(x.builder, significand, exponent - 2 + _ZERO_BITS)
    quadrant = (turns + (1 << 125)) >> 126
    rest = _pair(turns - (quadrant << 126))
    sign = (x < 0.0).choose(x.of(-1.0), 1.0)
    low = quadrant.truncated(I64)
    return ReducedAngle((x < 0.0).choose(-low, low), Pair(rest.high * sign, rest.low * sign))


def _fraction_of_turns(builder: ir.IRBuilder, significand: Int, begin: Int) -> Int:
    """Return the product with 2/pi modulo 4, as an i128 of 126 fraction bits; `begin` is the first bit of the table it
    needs.

    Bits before weigh a multiple of 4, bits after the three words weigh nothing.
    """
    word, bit = begin >> 6, begin & 63
    words = [_table_word(builder, word + place) for place in range(4)]
    high, middle, low = (_bits(builder, words[place], words[place + 1], bit) for place in range(3))
    factor = significand.extended(_I128)
    carried = ((low.extended(_I128) * factor) >> 64) + middle.extended(_I128) * factor
    return carried + ((high.extended(_I128) * factor) << 64)


def _bits(builder: ir.IRBuilder, first: Int, second: Int, bit: Int) -> Int:
    """Return 64 bits of two words, from `bit` on."""
    return Int(builder, call_intrinsic(builder, "llvm.fshl", I64, (first.value, second.value, bit.value)))


def _table_word(builder: ir.IRBuilder, place: Int) -> Int:
    table = builder.module.globals.get(_TABLE) or _new_table(builder.module)
    address = builder.gep(table, [place.value], source_etype=I64)
    return Int(builder, builder.load(address, typ=I64))


def _new_table(module: ir.Module) -> ir.GlobalVariable:
    words = [0] + [int(_TWO_OVER_PI_BITS[at : at + 16], 16) for at in range(0, len(_TWO_OVER_PI_BITS), 16)]
    array = ir.Constant(ir.ArrayType(I64, len(words)), words)
    table = ir.GlobalVariable(module, array.type, _TABLE)
    table.initializer, table.global_constant, table.linkage = array, True, "private"
    return table


def _pair(turns: Int) -> Pair:
    """Return a signed fraction of 126 bits times pi/2, as two f64."""
    negative = turns < 0
    magnitude = negative.choose(-turns, turns)
    zeros = magnitude.leading_zeros()
    normal = magnitude << zeros
    high = (normal >> 75).truncated(I64).converted(DOUBLE)
    low = ((normal >> 22).truncated(I64) & ((1 << 53) - 1)).converted(DOUBLE)
    scale = ((Int(zeros.builder, zeros.constant(1023 + 75 - 126)) - zeros).truncated(I64) << 52).as_real()
    scale = negative.choose(-scale, scale)
    fraction = Pair(high * scale, low * scale * 2.0**-53)
    return multiply_pairs(fraction, constant_pair(high, PI_OVER_2[0], PI_OVER_2[1]))


# ---------------------------------------------------------------- sine, cosine and tangent
#
# An angle is split into a multiple of pi/2 and a rest of at most pi/4, with fused multiply-adds (Cody and Waite); sine
# and cosine of the rest are polynomials. Huge angles are corrected afterwards (`cpu.mathlib.slow_paths`).


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
"""Coefficients of the same polynomials to 37 and 43 bits."""

_LARGEST_F32 = 1e5
"""Larger angles lose too much in the reduction."""
_LARGEST_F64 = 2.0**25
_LARGEST_SHORT = 2.0**30

Function = Callable[[ReducedAngle], Real]


# ---------------------------------------------------------------- f32


def sin_f32(x: Real) -> Real:
    return _corrected("sin", x, x.equals(0.0).choose(x, _turned_sine_f32(x, 0)), _LARGEST_F32, _sine)


def cos_f32(x: Real) -> Real:
    return _corrected("cos", x, _turned_sine_f32(x, 1), _LARGEST_F32, _cosine)


def _turned_sine_f32(x: Real, quarter: int) -> Real:
    """Return the sine of x plus `quarter` times pi/2."""
    number, quadrant = nearest_multiple(x, _TWO_OVER_PI)
    rest = x
    for part in _PI_OVER_2_F32:
        rest = number.times_plus(-part, rest)
    return _by_quadrant(quadrant + quarter, *_sine_and_cosine(rest, _SIN_F32, _COS_F32))


def _sine_and_cosine(rest: Real, sine: Sequence[float], cosine: Sequence[float]) -> tuple[Real, Real]:
    """Return both of a rest, by the coefficients of each, without low parts."""
    square = rest * rest
    return (
        (rest * square).times_plus(polynomial(square, sine), rest),
        (square * square).times_plus(polynomial(square, cosine), square.times_plus(-0.5, 1.0)),
    )


def _by_quadrant(quadrant: Int, sine: Real, cosine: Real) -> Real:
    """Return the sine of a rest in a quadrant, from sine and cosine of the rest."""
    chosen = (quadrant & 1).differs(0).choose(cosine, sine)
    return (chosen.pattern() ^ ((quadrant & 2) << (chosen.width - 2))).as_real()


def tan_f32(x: Real) -> Real:
    wide = x.double()
    number, quadrant = nearest_multiple(wide, _TWO_OVER_PI)
    rest = number.times_plus(-PI_OVER_2[1], number.times_plus(-PI_OVER_2[0], wide))
    sine, cosine = _sine_and_cosine(rest, _SIN_SHORT, _COS_SHORT)
    odd = (quadrant & 1).differs(0)
    quotient = (odd.choose(-cosine, sine) / odd.choose(sine, cosine)).single()
    return _corrected("tan", x, x.equals(0.0).choose(x, quotient), _LARGEST_SHORT, _tangent)


# ---------------------------------------------------------------- f64


def sin_f64(x: Real) -> Real:
    return _corrected("sin", x, x.equals(0.0).choose(x, _sine(_reduced(x))), _LARGEST_F64, _sine)


def cos_f64(x: Real) -> Real:
    return _corrected("cos", x, _cosine(_reduced(x)), _LARGEST_F64, _cosine)


def tan_f64(x: Real) -> Real:
    return _corrected("tan", x, x.equals(0.0).choose(x, _tangent(_reduced(x))), _LARGEST_F64, _tangent)


def _reduced(x: Real) -> ReducedAngle:
    """Return the angle reduced by pi/2: the first product is cancelled exactly, the second one is kept with its
    rounding error."""
    number, quadrant = nearest_multiple(x, _TWO_OVER_PI)
    near = number.times_plus(-PI_OVER_2[0], x)
    second = product_pair(number, number.of(-PI_OVER_2[1]))
    rest = sum_pair(near, second.high)
    low = number.times_plus(-PI_OVER_2[2], rest.low + second.low)
    return ReducedAngle(quadrant, ordered_sum_pair(rest.high, low))


def _sine(angle: ReducedAngle) -> Real:
    return _by_quadrant(angle.quadrant, value(_sine_pair(angle.rest)), value(_cosine_pair(angle.rest)))


def _cosine(angle: ReducedAngle) -> Real:
    return _sine(ReducedAngle(angle.quadrant + 1, angle.rest))


def _tangent(angle: ReducedAngle) -> Real:
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
    """Return `fast`, but `function` of the angle reduced by integers where that is huge."""

    def needs(angle: Real) -> Flag:
        return (abs(angle) > largest) & (abs(angle) < float("inf"))

    def slow(angle: Real) -> Real:
        result = function(reduced_angle(angle.double()))
        return result if angle.width == 64 else result.single()

    return corrected(name, fast, [x], needs, slow)


# ---------------------------------------------------------------- arc tangent
#
# The ratio of the smaller to the larger coordinate is brought below tan(pi/8) by turning it by pi/4; the arc tangent of
# that is a polynomial, and is added to or taken from a multiple of pi/4.


_ATAN_F64 = (-0.33333333333333326, 0.1999999999999767, -0.1428571428538814, 0.11111111088185568, -0.09090908144793623,
             0.07692282764317028, -0.06666226836051997, 0.05877022522350286, -0.05218408760332492, 0.045035660380029936,
             -0.03347481691861237, 0.015195492114964711)  # fmt: skip
"""(atan q - q) / q^3 of q^2, for q up to tan(pi/8)."""
_ATAN_SHORT = (-0.33333332510051944, 0.19999904756572842, -0.1428202904984611, 0.11044923581650953,
               -0.08477409868135542, 0.04746121296458754)  # fmt: skip
"""Coefficients of the same polynomial to 35 bits."""
_TAN_PI_OVER_8 = 0.41421356237309503
_PI_OVER_4 = (0.7853981633974483, 3.061616997868383e-17)
_FAR_EXPONENT = 500


def atan2_f32(y: Real, x: Real) -> Real:
    return _arc(y.double(), x.double(), _arctangent_short).single()


def atan2_f64(y: Real, x: Real) -> Real:
    """Return the angle, scaled so that neither the sum nor the rest of a division leaves the range."""
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
    """Return the ratio; 0 / 0 is 0."""
    return (above.equals(0.0) & below.equals(0.0)).choose(below, above / below)


def _arc(y: Real, x: Real, arctangent: Callable[[Pair, Pair], Pair]) -> Real:
    """Return the arc tangent of a ratio of at most tan(pi/8), added to or subtracted from a multiple of pi/4."""
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
