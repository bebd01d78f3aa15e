"""Floating-point operations with an exact result (spec: floating#top): arithmetic, extremes, comparison."""

from __future__ import annotations

from tileir.ir.attributes import Ordering, Predicate, Rounding
from tileir.ir.core import Op
from tileir.ir.declare import enum_attr, flag, operand, output
from tileir.ir.traits import ELEMENTWISE, PURE, SameShape, SameType
from tileir.ops.constraints import BASE_FLOAT_TILE, I1_TILE
from tileir.ops.elementwise import BinaryFloat, RoundedFloat, UnaryFloat


class AbsF(UnaryFloat, name="absf", opcode=0x00):
    """Absolute value: clears the sign, also of zeros and infinities."""


class AddF(RoundedFloat, name="addf", opcode=0x02):
    """Sum of two tiles, rounded once in the mode asked for."""


class SubF(RoundedFloat, name="subf", opcode=0x67):
    """Difference of two tiles, rounded once in the mode asked for."""


class MulF(RoundedFloat, name="mulf", opcode=0x4C):
    """Product of two tiles, rounded once in the mode asked for."""


class DivF(RoundedFloat, name="divf", opcode=0x14):
    """Quotient of two tiles; `approx` and `full` (f32 only) trade up to 2 ulp for speed."""


class RemF(BinaryFloat, name="remf", opcode=0x59):
    """Exact remainder of the truncated quotient (C ``fmod``); it has the sign of the dividend."""


class Fma(Op, name="fma", opcode=0x28, traits=(PURE, ELEMENTWISE, SameType("lhs", "rhs", "acc", "result"))):
    """Fused multiply-add: ``lhs * rhs + acc`` with a single rounding."""

    rounding_mode = enum_attr(Rounding, default=Rounding.NEAREST_EVEN)
    flush_to_zero = flag()
    lhs = operand(BASE_FLOAT_TILE)
    rhs = operand(BASE_FLOAT_TILE)
    acc = operand(BASE_FLOAT_TILE)
    result = output(BASE_FLOAT_TILE)
    format = "$lhs `,` $rhs `,` $acc rounding($rounding_mode) $flush_to_zero attr-dict `:` type($result)"


class NegF(UnaryFloat, name="negf", opcode=0x4F):
    """Negation: flips the sign, also of zeros and infinities."""


class Sqrt(UnaryFloat, name="sqrt", opcode=0x64):
    """Square root; NaN below zero, and -0 of -0. `approx` is for f32 only."""

    rounding_mode = enum_attr(Rounding, default=Rounding.NEAREST_EVEN)
    flush_to_zero = flag()
    format = "$source rounding($rounding_mode) $flush_to_zero attr-dict `:` type($result)"


class Ceil(UnaryFloat, name="ceil", opcode=0x0D):
    """The nearest integral value that is not smaller; keeps the sign of zero."""


class Floor(UnaryFloat, name="floor", opcode=0x27):
    """The nearest integral value that is not larger; keeps the sign of zero."""


class _Extreme(BinaryFloat):
    """The larger or smaller of two floats."""

    propagate_nan = flag()
    flush_to_zero = flag()
    format = "$lhs `,` $rhs flags($flush_to_zero, $propagate_nan) attr-dict `:` type($result)"


class MaxF(_Extreme, name="maxf", opcode=0x45):
    """The larger element; +0 is larger than -0. A NaN loses against a number unless `propagate_nan` is given."""


class MinF(_Extreme, name="minf", opcode=0x47):
    """The smaller element; -0 is smaller than +0. A NaN loses against a number unless `propagate_nan` is given."""


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
