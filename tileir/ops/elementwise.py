"""Fields that many element-wise operations share: a declared operation inherits them with their traits and format."""

from __future__ import annotations

from tileir.ir.attributes import Overflow, Rounding, Signedness
from tileir.ir.core import Op
from tileir.ir.declare import enum_attr, flag, operand, output
from tileir.ir.traits import ELEMENTWISE, PURE, SameType
from tileir.ops.constraints import BASE_FLOAT_TILE, INT_TILE

_UNARY = (PURE, ELEMENTWISE, SameType("source", "result"))
_BINARY = (PURE, ELEMENTWISE, SameType("lhs", "rhs", "result"))


class UnaryFloat(Op, traits=_UNARY):
    """A tile of floats from another one."""

    source = operand(BASE_FLOAT_TILE)
    result = output(BASE_FLOAT_TILE)
    format = "$source attr-dict `:` type($result)"


class BinaryFloat(Op, traits=_BINARY):
    """A tile of floats from two others."""

    lhs = operand(BASE_FLOAT_TILE)
    rhs = operand(BASE_FLOAT_TILE)
    result = output(BASE_FLOAT_TILE)
    format = "$lhs `,` $rhs attr-dict `:` type($result)"


class RoundedFloat(BinaryFloat):
    """A tile of floats from two others, rounded in a given mode."""

    rounding_mode = enum_attr(Rounding, default=Rounding.NEAREST_EVEN)
    flush_to_zero = flag()
    format = "$lhs `,` $rhs rounding($rounding_mode) $flush_to_zero attr-dict `:` type($result)"


class UnaryInt(Op, traits=_UNARY):
    """A tile of integers from another one."""

    source = operand(INT_TILE)
    result = output(INT_TILE)
    format = "$source attr-dict `:` type($result)"


class BinaryInt(Op, traits=_BINARY):
    """A tile of integers from two others."""

    lhs = operand(INT_TILE)
    rhs = operand(INT_TILE)
    result = output(INT_TILE)
    format = "$lhs `,` $rhs attr-dict `:` type($result)"


class WrappingInt(BinaryInt):
    """A tile of integers from two others, with a promise about overflow."""

    overflow = enum_attr(Overflow, default=Overflow.NONE)
    format = "$lhs `,` $rhs clause($overflow) attr-dict `:` type($result)"


class SignedInt(BinaryInt):
    """A tile of integers from two others, which are read as signed or unsigned."""

    signedness = enum_attr(Signedness)
    format = "$lhs `,` $rhs $signedness attr-dict `:` type($result)"
