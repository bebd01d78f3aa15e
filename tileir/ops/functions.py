"""Functions without an exact result (spec: functions#top): exponentials, logarithms, powers, angles."""

from __future__ import annotations

from tileir.ir.attributes import Rounding
from tileir.ir.core import Op
from tileir.ir.declare import enum_attr, flag, operand, output
from tileir.ir.traits import ELEMENTWISE, PURE, SameShape, SameType
from tileir.ops.constraints import BASE_FLOAT_TILE, SMALL_INT_TILE
from tileir.ops.elementwise import UnaryFloat


class Rsqrt(UnaryFloat, name="rsqrt", opcode=0x5D):
    """Reciprocal square root; an infinity of the zero's sign at zero."""

    flush_to_zero = flag()
    format = "$source $flush_to_zero attr-dict `:` type($result)"


class Exp(UnaryFloat, name="exp", opcode=0x17):
    """The exponential function, base e. `approx` (f32 only) loses accuracy as the argument grows."""

    rounding_mode = enum_attr(Rounding, default=Rounding.FULL, since="13.3")
    format = "$source rounding($rounding_mode) attr-dict `:` type($result)"


class Exp2(UnaryFloat, name="exp2", opcode=0x18):
    """Two to the power of each element."""

    flush_to_zero = flag()
    format = "$source $flush_to_zero attr-dict `:` type($result)"


class Log(UnaryFloat, name="log", opcode=0x3F):
    """Natural logarithm; -inf at zero, NaN below."""


class Log2(UnaryFloat, name="log2", opcode=0x40):
    """Binary logarithm; -inf at zero, NaN below."""


class FPowF(
    Op,
    name="pow",
    opcode=0x54,
    traits=(PURE, ELEMENTWISE, SameType("result", "source", "exponent")),
    aliases=("fpowf",),
    spellings=(("13.4", "fpowf"),),
):
    """`source` to the power of `exponent`, with the corner cases of C ``pow``. Spelled ``fpowf`` from 13.4 on."""

    source = operand(BASE_FLOAT_TILE)
    exponent = operand(BASE_FLOAT_TILE)
    result = output(BASE_FLOAT_TILE)
    format = "$source `,` $exponent attr-dict `:` type($result)"


class FPowI(
    Op,
    name="fpowi",
    opcode=0x79,
    since="13.4",
    traits=(PURE, ELEMENTWISE, SameType("result", "source"), SameShape("source", "exponent")),
):
    """`source` to the power of a signed integer; any number to the power 0 is 1."""

    source = operand(BASE_FLOAT_TILE)
    exponent = operand(SMALL_INT_TILE)
    result = output(BASE_FLOAT_TILE)
    format = "$source `,` $exponent attr-dict `:` type($source) `,` type($exponent)"


class Sin(UnaryFloat, name="sin", opcode=0x62):
    """Sine of an angle in radians; NaN for infinities."""


class Cos(UnaryFloat, name="cos", opcode=0x12):
    """Cosine of an angle in radians; NaN for infinities."""


class Tan(UnaryFloat, name="tan", opcode=0x69):
    """Tangent of an angle in radians; NaN for infinities."""


class Sinh(UnaryFloat, name="sinh", opcode=0x63):
    """Hyperbolic sine."""


class Cosh(UnaryFloat, name="cosh", opcode=0x13):
    """Hyperbolic cosine."""


class Tanh(UnaryFloat, name="tanh", opcode=0x6A):
    """Hyperbolic tangent. `approx` (f32 only) has a relative error of about 2^-11."""

    rounding_mode = enum_attr(Rounding, default=Rounding.FULL, since="13.2")
    format = "$source rounding($rounding_mode) attr-dict `:` type($result)"


class Atan2(Op, name="atan2", opcode=0x6E, since="13.2", traits=(PURE, ELEMENTWISE, SameType("x", "y", "result"))):
    """The angle of a point, in [-pi, pi]: `x`, the first operand, is the ordinate, `y` the abscissa (C ``atan2``)."""

    x = operand(BASE_FLOAT_TILE)
    y = operand(BASE_FLOAT_TILE)
    result = output(BASE_FLOAT_TILE)
    format = "$x `,` $y attr-dict `:` type($result)"
