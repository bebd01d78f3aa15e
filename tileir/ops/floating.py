"""Floating-point operations (specification 8.7): element-wise arithmetic, mathematical functions, comparison."""

from __future__ import annotations

from tileir.ir.attributes import Ordering, Predicate, Rounding
from tileir.ir.core import Op
from tileir.ir.declare import ELEMENTWISE, PURE, SameShape, SameType, enum_attr, flag, operand, output
from tileir.ops.constraints import BASE_FLOAT_TILE, I1_TILE, SMALL_INT_TILE

_UNARY = (PURE, ELEMENTWISE, SameType("source", "result"))
_BINARY = (PURE, ELEMENTWISE, SameType("lhs", "rhs", "result"))
_UNARY_FORMAT = "$source attr-dict `:` type($result)"
_BINARY_FORMAT = "$lhs `,` $rhs attr-dict `:` type($result)"
_ROUNDED_FORMAT = "$lhs `,` $rhs rounding($rounding_mode) $flush_to_zero attr-dict `:` type($result)"


class AbsF(Op, name="absf", opcode=0x00, traits=_UNARY):
    """Absolute value: clears the sign, also of zeros and infinities."""

    source = operand(BASE_FLOAT_TILE)
    result = output(BASE_FLOAT_TILE)
    format = _UNARY_FORMAT


class AddF(Op, name="addf", opcode=0x02, traits=_BINARY):
    """Sum of two tiles, rounded once in the mode asked for."""

    rounding_mode = enum_attr(Rounding, default=Rounding.NEAREST_EVEN)
    flush_to_zero = flag()
    lhs = operand(BASE_FLOAT_TILE)
    rhs = operand(BASE_FLOAT_TILE)
    result = output(BASE_FLOAT_TILE)
    format = _ROUNDED_FORMAT


class SubF(Op, name="subf", opcode=0x67, traits=_BINARY):
    """Difference of two tiles, rounded once in the mode asked for."""

    rounding_mode = enum_attr(Rounding, default=Rounding.NEAREST_EVEN)
    flush_to_zero = flag()
    lhs = operand(BASE_FLOAT_TILE)
    rhs = operand(BASE_FLOAT_TILE)
    result = output(BASE_FLOAT_TILE)
    format = _ROUNDED_FORMAT


class MulF(Op, name="mulf", opcode=0x4C, traits=_BINARY):
    """Product of two tiles, rounded once in the mode asked for."""

    rounding_mode = enum_attr(Rounding, default=Rounding.NEAREST_EVEN)
    flush_to_zero = flag()
    lhs = operand(BASE_FLOAT_TILE)
    rhs = operand(BASE_FLOAT_TILE)
    result = output(BASE_FLOAT_TILE)
    format = _ROUNDED_FORMAT


class DivF(Op, name="divf", opcode=0x14, traits=_BINARY):
    """Quotient of two tiles; `approx` and `full` (f32 only) trade up to 2 ulp for speed."""

    rounding_mode = enum_attr(Rounding, default=Rounding.NEAREST_EVEN)
    flush_to_zero = flag()
    lhs = operand(BASE_FLOAT_TILE)
    rhs = operand(BASE_FLOAT_TILE)
    result = output(BASE_FLOAT_TILE)
    format = _ROUNDED_FORMAT


class RemF(Op, name="remf", opcode=0x59, traits=_BINARY):
    """Exact remainder of the truncated quotient (C ``fmod``); it has the sign of the dividend."""

    lhs = operand(BASE_FLOAT_TILE)
    rhs = operand(BASE_FLOAT_TILE)
    result = output(BASE_FLOAT_TILE)
    format = _BINARY_FORMAT


class Fma(Op, name="fma", opcode=0x28, traits=(PURE, ELEMENTWISE, SameType("lhs", "rhs", "acc", "result"))):
    """Fused multiply-add: ``lhs * rhs + acc`` with a single rounding."""

    rounding_mode = enum_attr(Rounding, default=Rounding.NEAREST_EVEN)
    flush_to_zero = flag()
    lhs = operand(BASE_FLOAT_TILE)
    rhs = operand(BASE_FLOAT_TILE)
    acc = operand(BASE_FLOAT_TILE)
    result = output(BASE_FLOAT_TILE)
    format = "$lhs `,` $rhs `,` $acc rounding($rounding_mode) $flush_to_zero attr-dict `:` type($result)"


class NegF(Op, name="negf", opcode=0x4F, traits=_UNARY):
    """Negation: flips the sign, also of zeros and infinities."""

    source = operand(BASE_FLOAT_TILE)
    result = output(BASE_FLOAT_TILE)
    format = _UNARY_FORMAT


class Sqrt(Op, name="sqrt", opcode=0x64, traits=_UNARY):
    """Square root; NaN below zero, and -0 of -0. `approx` is for f32 only."""

    rounding_mode = enum_attr(Rounding, default=Rounding.NEAREST_EVEN)
    flush_to_zero = flag()
    source = operand(BASE_FLOAT_TILE)
    result = output(BASE_FLOAT_TILE)
    format = "$source rounding($rounding_mode) $flush_to_zero attr-dict `:` type($result)"


class Rsqrt(Op, name="rsqrt", opcode=0x5D, traits=_UNARY):
    """Reciprocal square root; an infinity of the zero's sign at zero."""

    flush_to_zero = flag()
    source = operand(BASE_FLOAT_TILE)
    result = output(BASE_FLOAT_TILE)
    format = "$source $flush_to_zero attr-dict `:` type($result)"


class Exp(Op, name="exp", opcode=0x17, traits=_UNARY):
    """The exponential function, base e. `approx` (f32 only) loses accuracy as the argument grows."""

    rounding_mode = enum_attr(Rounding, default=Rounding.FULL, since="13.3")
    source = operand(BASE_FLOAT_TILE)
    result = output(BASE_FLOAT_TILE)
    format = "$source rounding($rounding_mode) attr-dict `:` type($result)"


class Exp2(Op, name="exp2", opcode=0x18, traits=_UNARY):
    """Two to the power of each element."""

    flush_to_zero = flag()
    source = operand(BASE_FLOAT_TILE)
    result = output(BASE_FLOAT_TILE)
    format = "$source $flush_to_zero attr-dict `:` type($result)"


class Log(Op, name="log", opcode=0x3F, traits=_UNARY):
    """Natural logarithm; -inf at zero, NaN below."""

    source = operand(BASE_FLOAT_TILE)
    result = output(BASE_FLOAT_TILE)
    format = _UNARY_FORMAT


class Log2(Op, name="log2", opcode=0x40, traits=_UNARY):
    """Binary logarithm; -inf at zero, NaN below."""

    source = operand(BASE_FLOAT_TILE)
    result = output(BASE_FLOAT_TILE)
    format = _UNARY_FORMAT


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


class Sin(Op, name="sin", opcode=0x62, traits=_UNARY):
    """Sine of an angle in radians; NaN for infinities."""

    source = operand(BASE_FLOAT_TILE)
    result = output(BASE_FLOAT_TILE)
    format = _UNARY_FORMAT


class Cos(Op, name="cos", opcode=0x12, traits=_UNARY):
    """Cosine of an angle in radians; NaN for infinities."""

    source = operand(BASE_FLOAT_TILE)
    result = output(BASE_FLOAT_TILE)
    format = _UNARY_FORMAT


class Tan(Op, name="tan", opcode=0x69, traits=_UNARY):
    """Tangent of an angle in radians; NaN for infinities."""

    source = operand(BASE_FLOAT_TILE)
    result = output(BASE_FLOAT_TILE)
    format = _UNARY_FORMAT


class Sinh(Op, name="sinh", opcode=0x63, traits=_UNARY):
    """Hyperbolic sine."""

    source = operand(BASE_FLOAT_TILE)
    result = output(BASE_FLOAT_TILE)
    format = _UNARY_FORMAT


class Cosh(Op, name="cosh", opcode=0x13, traits=_UNARY):
    """Hyperbolic cosine."""

    source = operand(BASE_FLOAT_TILE)
    result = output(BASE_FLOAT_TILE)
    format = _UNARY_FORMAT


class Tanh(Op, name="tanh", opcode=0x6A, traits=_UNARY):
    """Hyperbolic tangent. `approx` (f32 only) has a relative error of about 2^-11."""

    rounding_mode = enum_attr(Rounding, default=Rounding.FULL, since="13.2")
    source = operand(BASE_FLOAT_TILE)
    result = output(BASE_FLOAT_TILE)
    format = "$source rounding($rounding_mode) attr-dict `:` type($result)"


class Atan2(Op, name="atan2", opcode=0x6E, since="13.2", traits=(PURE, ELEMENTWISE, SameType("x", "y", "result"))):
    """The angle of a point, in [-pi, pi]: `x`, the first operand, is the ordinate, `y` the abscissa (C ``atan2``)."""

    x = operand(BASE_FLOAT_TILE)
    y = operand(BASE_FLOAT_TILE)
    result = output(BASE_FLOAT_TILE)
    format = "$x `,` $y attr-dict `:` type($result)"


class Ceil(Op, name="ceil", opcode=0x0D, traits=_UNARY):
    """The nearest integral value that is not smaller; keeps the sign of zero."""

    source = operand(BASE_FLOAT_TILE)
    result = output(BASE_FLOAT_TILE)
    format = _UNARY_FORMAT


class Floor(Op, name="floor", opcode=0x27, traits=_UNARY):
    """The nearest integral value that is not larger; keeps the sign of zero."""

    source = operand(BASE_FLOAT_TILE)
    result = output(BASE_FLOAT_TILE)
    format = _UNARY_FORMAT


class MaxF(Op, name="maxf", opcode=0x45, traits=_BINARY):
    """The larger element; +0 is larger than -0. A NaN loses against a number unless `propagate_nan` is given."""

    propagate_nan = flag()
    flush_to_zero = flag()
    lhs = operand(BASE_FLOAT_TILE)
    rhs = operand(BASE_FLOAT_TILE)
    result = output(BASE_FLOAT_TILE)
    format = "$lhs `,` $rhs flags($flush_to_zero, $propagate_nan) attr-dict `:` type($result)"


class MinF(Op, name="minf", opcode=0x47, traits=_BINARY):
    """The smaller element; -0 is smaller than +0. A NaN loses against a number unless `propagate_nan` is given."""

    propagate_nan = flag()
    flush_to_zero = flag()
    lhs = operand(BASE_FLOAT_TILE)
    rhs = operand(BASE_FLOAT_TILE)
    result = output(BASE_FLOAT_TILE)
    format = "$lhs `,` $rhs flags($flush_to_zero, $propagate_nan) attr-dict `:` type($result)"


class CmpF(
    Op, name="cmpf", opcode=0x0E, traits=(PURE, ELEMENTWISE, SameType("lhs", "rhs"), SameShape("lhs", "result"))
):
    """Compares element by element. With a NaN the result is 0 when `ordered` and 1 when `unordered`."""

    comparison_predicate = enum_attr(Predicate)
    comparison_ordering = enum_attr(Ordering)
    lhs = operand(BASE_FLOAT_TILE)
    rhs = operand(BASE_FLOAT_TILE)
    result = output(I1_TILE)
    format = "$comparison_predicate $comparison_ordering $lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)"
