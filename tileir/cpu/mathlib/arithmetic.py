"""Float arithmetic rounded once: add, sub, mul, div, sqrt, fma of f16, bf16, f32 and f64 in the four IEEE modes; remf.

Each operation, type and mode has a straight-line evaluation that is exactly rounded. Narrow types are evaluated in a
wider one where the second rounding is harmless (Figueroa, 1995: p' >= 2p + 2) or made so by rounding to odd. Directed
rounding of f64, which has no wider type, works on significands, so that nothing underflows or overflows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from llvmlite import ir

from tileir.cpu.emit.algebra import Flag, Int, Real
from tileir.cpu.emit.elements import DOUBLE, I64, Num, is_native
from tileir.cpu.emit.tiles import Compute, Formula, held, real, rounded
from tileir.cpu.mathlib.pairs import (
    Pair,
    away_from_zero,
    in_mode,
    moved,
    ordered_sum_pair,
    outward,
    product_pair,
    signed_zero,
    sum_pair,
    to_odd,
)
from tileir.cpu.mathlib.slow_paths import corrected
from tileir.ir import types as t
from tileir.ir.attributes import Rounding
from tileir.ir.core import Op
from tileir.ir.formats import FloatFormat

ByMode = Callable[[t.ElementType, Rounding], Compute]
_SMALLEST_NORMAL_F32 = 2.0**-126


Directed = Callable[..., Real]
"""Maps floats and a mode to a float."""


def add(element: t.ElementType, mode: Rounding) -> Compute:
    return _in_every_mode(element, mode, Real.__add__, directed_add, _odd_sum)


def sub(element: t.ElementType, mode: Rounding) -> Compute:
    def negated(add: Directed) -> Directed:
        return lambda x, y, mode: add(x, -y, mode)

    return _in_every_mode(element, mode, Real.__sub__, negated(directed_add), negated(_odd_sum))


def mul(element: t.ElementType, mode: Rounding) -> Compute:
    """Return a product: of two narrow numbers it is exact in f64, of two f16 in f32 too."""
    nearest = _bf16_product if element is t.BF16 else Real.__mul__
    return _in_every_mode(element, mode, nearest, directed_mul, lambda x, y, mode: x * y)


def div(element: t.ElementType, mode: Rounding) -> Compute:
    """Return a quotient: that of two bf16 can be subnormal in f32, where a second rounding would show, so it takes
    f64."""
    if mode is Rounding.NEAREST_EVEN and element is t.BF16:
        return _narrowed(element, mode, Real.__truediv__)
    return _in_every_mode(element, mode, Real.__truediv__, directed_div, lambda x, y, mode: _odd_quotient(x, y))


def sqrt(element: t.ElementType, mode: Rounding) -> Compute:
    return _in_every_mode(element, mode, Real.root, directed_sqrt, lambda x, mode: _odd_root(x))


def fma(element: t.ElementType, mode: Rounding) -> Compute:
    def odd(x: Real, y: Real, addend: Real, mode: Rounding) -> Real:
        return _odd_sum(x * y, addend, mode)

    if mode is Rounding.NEAREST_EVEN and not is_native(element):
        return _narrowed(element, mode, lambda x, y, addend: odd(x, y, addend, mode))
    return _in_every_mode(element, mode, Real.times_plus, directed_fma, odd)


def _in_every_mode(
    element: t.ElementType, mode: Rounding, nearest: Formula, directed: Directed, odd: Directed
) -> Compute:
    """Return the formula of an operation: `nearest` in the working type; for a directed mode `directed` on f64, and for
    narrower types `odd` there, which is exact or rounds to odd."""
    if mode is Rounding.NEAREST_EVEN:
        return _nearest(element, nearest)
    if element is t.F64:
        return _nearest(element, lambda *numbers: directed(*numbers, mode))
    return _narrowed(element, mode, lambda *numbers: odd(*numbers, mode))


def _nearest(element: t.ElementType, formula: Formula) -> Compute:
    """Return `formula` in the working type of `element`, whose rounding leaves the one to `element` single."""
    return lambda builder, *numbers: rounded(element, formula(*(real(builder, number) for number in numbers)))


def _narrowed(element: t.ElementType, mode: Rounding, formula: Formula) -> Compute:
    """Return `formula`, which is exact or rounds to odd in f64, then rounded to `element`."""

    def compute(builder: ir.IRBuilder, *numbers: Num) -> Num:
        return narrowed(element, mode, formula(*(real(builder, number).double() for number in numbers)))

    return compute


# ---------------------------------------------------------------- evaluation without a second rounding


def _bf16_product(x: Real, y: Real) -> Real:
    """Return the product of two bf16 in f32: exact, but below the normal f32, where it is rounded to a bf16 at once.

    Adding a number whose last bit has the weight of the smallest bf16 rounds the product there.
    """
    product = x * y
    anchor = 1.5 * 2.0 ** (-133 + 23)
    tiny = (x.times_plus(y, anchor) - anchor).with_sign_of(product)
    return (abs(product) < _SMALLEST_NORMAL_F32).choose(tiny, product)


def _odd_sum(x: Real, y: Real, mode: Rounding) -> Real:
    return signed_zero(mode, x, y, to_odd(sum_pair(x, y)))


def _odd_quotient(x: Real, y: Real) -> Real:
    """Return the quotient rounded to odd, for magnitudes far from overflow and underflow. The remainder has the sign of
    the error, seen through y."""
    quotient = x / y
    rest = (-quotient).times_plus(y, x)
    sign = (y.pattern() & (1 << 63)) ^ rest.pattern()
    return to_odd(Pair(quotient, sign.as_real()))


def _odd_root(x: Real) -> Real:
    root = x.root()
    return to_odd(Pair(root, (-root).times_plus(root, x)))


# ---------------------------------------------------------------- rounding of an f64 to a narrower type


def narrowed(element: t.ElementType, mode: Rounding, x: Real) -> Num:
    """Return an f64 rounded once to a narrower type with infinities, or to nearest even to one that saturates."""
    if element is t.F64:
        return held(element, x)
    if element is t.F32 and mode is Rounding.NEAREST_EVEN:
        return held(element, x.single())
    return rounded(element, on_grid(x, element, mode).single())


def on_grid(x: Real, element: t.ElementType, mode: Rounding) -> Real:
    """Return the f64 `x` rounded to the precision and exponents of `element`, still as an f64.

    To nearest even, a magnitude beyond the largest finite one is left there: encoding gives it its due.
    """
    layout = element.layout
    magnitude = abs(x).at_most(layout.max_finite * 4)
    nearest, step = _nearest_on_grid(magnitude, layout)
    if mode is not Rounding.NEAREST_EVEN:
        nearest = _moved(x, magnitude, nearest, step, layout, mode)
    return nearest.signed_as(x)


def _nearest_on_grid(magnitude: Real, layout: FloatFormat) -> tuple[Real, Real]:
    """Return the multiple of `step`, the distance of neighbours in the format, that is nearest to the magnitude.

    Adding 2^52 steps leaves no bits below one step; the sum is rounded there.
    """
    smallest = (1 - layout.bias + 1023) << 52
    binade = (magnitude.pattern() & (0x7FF << 52)).unsigned_maximum(smallest)
    anchor = (binade + ((52 - layout.fraction) << 52)).as_real()
    step = (binade - (layout.fraction << 52)).as_real()
    return (magnitude + anchor) - anchor, step


def _moved(x: Real, magnitude: Real, nearest: Real, step: Real, layout: FloatFormat, mode: Rounding) -> Real:
    """Return the neighbour of the magnitude that `mode` asks for."""
    below = (nearest > magnitude).choose(nearest - step, nearest)
    above = (below < magnitude).choose(below + step, below)
    if mode is Rounding.NEAREST_AWAY:
        return ((magnitude - below) * 2.0 >= step).choose(above, below)
    away = away_from_zero(x.is_negative(), mode)
    largest = x.of(layout.max_finite)
    finite = abs(x) < float("inf")
    limited = (finite & (below > largest)).choose(largest, below)
    return away.choose(above, limited)


# ---------------------------------------------------------------- flush to zero


def flushed(number: Num, builder: ir.IRBuilder) -> Num:
    """Return an f32 with a subnormal replaced by zero of the same sign."""
    x = real(builder, number)
    zero = (x.pattern() & (1 << 31)).as_real()
    return held(t.F32, (abs(x) < _SMALLEST_NORMAL_F32).choose(zero, x))


def flushing(compute: Compute) -> Compute:
    """Return `compute` on f32 with subnormal operands and results flushed."""

    def flush(builder: ir.IRBuilder, *numbers: Num) -> Num:
        return flushed(compute(builder, *(flushed(number, builder) for number in numbers)), builder)

    return flush


def flushing_if_asked(op: Op, compute: Compute) -> Compute:
    """Return `compute`, with subnormals flushed if the operation asks for it."""
    return flushing(compute) if op.attributes.get("flush_to_zero") else compute


# ---------------------------------------------------------------- f64 in the directed modes


_FRACTION = 52
_BIAS = 1023
_EXPONENT_FIELD = 0x7FF << _FRACTION
_INFINITY = _EXPONENT_FIELD
_LARGEST = _INFINITY - 1
_FAR_BELOW = -5000
"""The exponent given to zero: its multiples and sums stay below that of every product."""
_HIGHEST_SHIFT, _LOWEST_SHIFT = 200, -300
"""An addend shifted further against a product only decides which way the other is rounded."""


class Scaled(NamedTuple):
    """significand * 2^exponent with a significand of magnitude in [1, 2), or zero."""

    significand: Real
    exponent: Int


def scaled(x: Real) -> Scaled:
    """Return a finite number as significand and exponent."""
    subnormal = abs(x) < 2.0**-1022
    pattern = subnormal.choose(x * 2.0**54, x).pattern()
    exponent = ((pattern >> _FRACTION) & 0x7FF) - _BIAS
    exponent = subnormal.choose(exponent - 54, exponent)
    zero = x.equals(0.0)
    significand = ((pattern & ~_EXPONENT_FIELD) | (_BIAS << _FRACTION)).as_real()
    far = Int(x.builder, exponent.constant(_FAR_BELOW))
    return Scaled(zero.choose(x, significand), zero.choose(far, exponent))


def directed_add(x: Real, y: Real, mode: Rounding) -> Real:
    """Return a sum rounded in a direction; its lost part is exact over the whole range when the larger operand comes
    first."""
    swap = abs(x) < abs(y)
    pair = ordered_sum_pair(swap.choose(y, x), swap.choose(x, y))
    return signed_zero(mode, x, y, in_mode(pair, mode))


def directed_mul(x: Real, y: Real, mode: Rounding) -> Real:
    plain = x * y
    first, second = scaled(abs(x)), scaled(abs(y))
    pair = product_pair(first.significand, second.significand)
    result = _assembled(pair, first.exponent + second.exponent, plain.is_negative(), mode)
    return (_ordinary(x) & _ordinary(y)).choose(result, plain)


def directed_div(x: Real, y: Real, mode: Rounding) -> Real:
    plain = x / y
    first, second = scaled(abs(x)), scaled(abs(y))
    quotient = first.significand / second.significand
    pair = Pair(quotient, (-quotient).times_plus(second.significand, first.significand))
    result = _assembled(pair, first.exponent - second.exponent, plain.is_negative(), mode)
    return (_ordinary(x) & _ordinary(y)).choose(result, plain)


def directed_sqrt(x: Real, mode: Rounding) -> Real:
    """Return the root of the significand scaled to [1, 4) by an even power of two."""
    number = scaled(x)
    odd = number.exponent & 1
    source = (number.significand.pattern() + (odd << _FRACTION)).as_real()
    root = source.root()
    pair = Pair(root, (-root).times_plus(root, source))
    result = _assembled(pair, (number.exponent - odd).shifted_signed(1), x < 0.0, mode)
    return (_ordinary(x) & (x > 0.0)).choose(result, x.root())


def directed_fma(x: Real, y: Real, addend: Real, mode: Rounding) -> Real:
    plain = x.times_plus(y, addend)
    first, second, third = scaled(x), scaled(y), scaled(addend)
    exponent = first.exponent + second.exponent
    shift = third.exponent - exponent
    kept = shift.signed_minimum(_HIGHEST_SHIFT).signed_maximum(_LOWEST_SHIFT)
    power = ((kept + _BIAS) << _FRACTION).as_real()
    pair = _fused_pair(first.significand, second.significand, third.significand * power)
    exponent = exponent + (shift - _HIGHEST_SHIFT).signed_maximum(0)
    magnitude = Pair(abs(pair.high), outward(*pair))
    result = _assembled(magnitude, exponent, pair.high.is_negative(), mode)
    if mode is Rounding.NEGATIVE_INF:
        negative = (x.is_negative() ^ y.is_negative()) | addend.is_negative()
        plain = (plain.equals(0.0) & negative).choose(plain.of(-0.0), plain)
    exact_zero = pair.high.equals(0.0)
    return (_finite(x) & _finite(y) & _finite(addend) & ~exact_zero).choose(result, plain)


def _fused_pair(x: Real, y: Real, addend: Real) -> Pair:
    """Return x * y + addend, and a number with the sign of what that misses (Boldo and Muller, 2005)."""
    total = x.times_plus(y, addend)
    product = product_pair(x, y)
    tail = sum_pair(addend, product.low)
    head = sum_pair(product.high, tail.high)
    return Pair(total, ((head.high - total) + head.low) + tail.low)


def _finite(x: Real) -> Flag:
    return abs(x) < float("inf")


def _ordinary(x: Real) -> Flag:
    """Return whether a number is neither zero nor infinite nor NaN."""
    return _finite(x) & (abs(x) > 0.0)


def _assembled(pair: Pair, exponent: Int, negative: Flag, mode: Rounding) -> Real:
    """Return `pair`, whose high part is positive, times 2^exponent, rounded in `mode`, with the sign of `negative`."""
    away = away_from_zero(negative, mode)
    binade = (pair.high.pattern() >> _FRACTION) - _BIAS + exponent
    normal = _normal_pattern(pair, exponent, binade, away)
    pattern = (binade < 1 - _BIAS).choose(_subnormal_pattern(pair, exponent, away), normal)
    return (pattern | (negative.as_integer(I64) << 63)).as_real()


def _normal_pattern(pair: Pair, exponent: Int, binade: Int, away: Flag) -> Int:
    """Add the exponent to the pattern's; a step up may overflow as well."""
    pattern = moved(pair.high, pair.low, away).pattern()
    fits = (binade < _BIAS + 1) & (pattern + (exponent << _FRACTION)).below_unsigned(_INFINITY)
    limit = away.choose(Int(pattern.builder, pattern.constant(_INFINITY)), _LARGEST)
    return fits.choose(pattern + (exponent << _FRACTION), limit)


def _subnormal_pattern(pair: Pair, exponent: Int, away: Flag) -> Int:
    """Return the number of smallest steps: adding 2^52 of them, as a float, rounds there and leaves the count in the
    sum."""
    step = ((-exponent) - 1074).signed_minimum(700).signed_maximum(-900)
    anchor = ((step + (_FRACTION + _BIAS)) << _FRACTION).as_real()
    summed = pair.high + anchor
    rest = pair.high - (summed - anchor)
    return moved(summed, rest.equals(0.0).choose(pair.low, rest), away).pattern() - anchor.pattern()


# ---------------------------------------------------------------- remainders
#
# The exact remainder of the truncated quotient (C's fmod). Below 2^52 the truncated quotient is off by at most one, and
# a fused multiply-add leaves the remainder exactly. A larger quotient takes a long division in integers
# (`cpu.mathlib.slow_paths`).


_LARGEST_QUOTIENT = 2.0**52
_STEP_BITS = 11
"""A remainder has 53 bits: with 11 more it still fits an i64."""


def remainder_f32(x: Real, y: Real) -> Real:
    return remainder_f64(x.double(), y.double()).single()


def remainder_f64(x: Real, y: Real) -> Real:
    dividend, divisor = abs(x), abs(y)
    quotient = (dividend / divisor).truncated()
    rest = (-quotient).times_plus(divisor, dividend)
    rest = (rest < 0.0).choose(rest + divisor, rest)
    infinity = float("inf")
    rest = (divisor.equals(infinity) & (dividend < infinity)).choose(dividend, rest)
    return corrected("remainder", rest, [dividend, divisor], _needs_division, _divided).signed_as(x)


def _needs_division(dividend: Real, divisor: Real) -> Flag:
    return (dividend / divisor >= _LARGEST_QUOTIENT) & (dividend < float("inf")) & (divisor > 0.0)


def _divided(dividend: Real, divisor: Real) -> Real:
    """Return the remainder of significands, of the dividend's shifted left by the difference of the exponents."""
    builder = dividend.builder
    rest, high = _integral(dividend)
    modulus, low = _integral(divisor)
    distance = high - low
    before, body = builder.block, builder.append_basic_block("divide")
    after = builder.append_basic_block("divided")
    builder.branch(body)
    builder.position_at_end(body)
    left, running = builder.phi(I64), builder.phi(I64)
    step = Int(builder, left).signed_minimum(_STEP_BITS)
    shifted = Int(builder, running) << step
    found = Int(builder, builder.urem(shifted.value, modulus.value))
    fewer = Int(builder, left) - step
    for phi, start, again in ((left, distance, fewer), (running, rest, found)):
        phi.add_incoming(start.value, before)
        phi.add_incoming(again.value, body)
    builder.cbranch((fewer > 0).value, body, after)
    builder.position_at_end(after)
    return _times_power(builder, found, low)


def _integral(x: Real) -> tuple[Int, Int]:
    """Return a positive finite f64 as integer times a power of two: the integer and the biased exponent, at least 1."""
    pattern = x.pattern()
    field = pattern >> 52
    hidden = field.differs(0).as_integer(I64) << 52
    return (pattern & ((1 << 52) - 1)) | hidden, field.unsigned_maximum(1)


def _times_power(builder: ir.IRBuilder, integer: Int, exponent: Int) -> Real:
    """Return an integer below 2^53 in units of the last bit of numbers with the biased exponent: exact in two steps."""
    near = (exponent << 52).as_real()
    number = integer.converted(DOUBLE)
    small = (exponent < 60).choose(Real(builder, number.constant(2.0**-1074)), near * 2.0**-52)
    power = ((((exponent - 1) & 63) + 1023) << 52).as_real()
    return (exponent < 60).choose(number * small * power, number * small)
