"""remf: the exact remainder of the truncated quotient (C's fmod).

Where the quotient is below 2^52 the nearest integer below it is off by at most one and a fused multiply-add leaves the
remainder exactly. A larger quotient takes a long division in integers (`cpu.mathlib.slow_paths`).
"""

from __future__ import annotations

from llvmlite import ir

from tileir.cpu.emit.algebra import Flag, Int, Real
from tileir.cpu.emit.elements import DOUBLE, I64
from tileir.cpu.mathlib.slow_paths import corrected

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
    """The remainder of significands, of the dividend's shifted left by the difference of the exponents."""
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
    """A positive finite f64 as integer times a power of two: the integer and the biased exponent, at least 1."""
    pattern = x.pattern()
    field = pattern >> 52
    hidden = field.differs(0).as_integer(I64) << 52
    return (pattern & ((1 << 52) - 1)) | hidden, field.unsigned_maximum(1)


def _times_power(builder: ir.IRBuilder, integer: Int, exponent: Int) -> Real:
    """An integer below 2^53 in units of the last bit of numbers with the biased exponent: exact in two steps."""
    near = (exponent << 52).as_real()
    number = integer.converted(DOUBLE)
    small = (exponent < 60).choose(Real(builder, number.constant(2.0**-1074)), near * 2.0**-52)
    power = ((((exponent - 1) & 63) + 1023) << 52).as_real()
    return (exponent < 60).choose(number * small * power, number * small)
