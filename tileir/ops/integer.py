"""Integer and bitwise operations (specification 8.8, 8.9): two's complement arithmetic modulo 2^width."""

from __future__ import annotations

from tileir.ir.attributes import Overflow, Predicate, Rounding, Signedness
from tileir.ir.core import Op
from tileir.ir.declare import ELEMENTWISE, NO_MEMORY_EFFECT, PURE, SameShape, SameType, enum_attr, operand, output
from tileir.ops.constraints import I1_TILE, INT_TILE

_UNARY = (PURE, ELEMENTWISE, SameType("source", "result"))
_BINARY = (PURE, ELEMENTWISE, SameType("lhs", "rhs", "result"))
_PLAIN_FORMAT = "$lhs `,` $rhs attr-dict `:` type($result)"
_OVERFLOW_FORMAT = "$lhs `,` $rhs clause($overflow) attr-dict `:` type($result)"
_SIGNED_FORMAT = "$lhs `,` $rhs $signedness attr-dict `:` type($result)"


class AbsI(Op, name="absi", opcode=0x01, traits=_UNARY):
    """Absolute value of a signed integer, read as unsigned: the smallest integer gives 2^(width-1)."""

    source = operand(INT_TILE)
    result = output(INT_TILE)
    format = "$source attr-dict `:` type($result)"


class AddI(Op, name="addi", opcode=0x03, traits=_BINARY):
    """Sum modulo 2^width; `overflow` promises that nothing wraps."""

    overflow = enum_attr(Overflow, default=Overflow.NONE)
    lhs = operand(INT_TILE)
    rhs = operand(INT_TILE)
    result = output(INT_TILE)
    format = _OVERFLOW_FORMAT


class SubI(Op, name="subi", opcode=0x68, traits=_BINARY):
    """Difference modulo 2^width; `overflow` promises that nothing wraps."""

    overflow = enum_attr(Overflow, default=Overflow.NONE)
    lhs = operand(INT_TILE)
    rhs = operand(INT_TILE)
    result = output(INT_TILE)
    format = _OVERFLOW_FORMAT


class MulI(Op, name="muli", opcode=0x4E, traits=_BINARY):
    """Product modulo 2^width; `overflow` promises that nothing wraps."""

    overflow = enum_attr(Overflow, default=Overflow.NONE)
    lhs = operand(INT_TILE)
    rhs = operand(INT_TILE)
    result = output(INT_TILE)
    format = _OVERFLOW_FORMAT


class MulhiI(Op, name="mulhii", opcode=0x4D, traits=(PURE, ELEMENTWISE, SameType("x", "y", "result"))):
    """The upper half of the double-width unsigned product."""

    x = operand(INT_TILE)
    y = operand(INT_TILE)
    result = output(INT_TILE)
    format = "$x `,` $y attr-dict `:` type($result)"


class NegI(Op, name="negi", opcode=0x50, traits=_UNARY):
    """Negation modulo 2^width."""

    overflow = enum_attr(Overflow, default=Overflow.NONE, since="13.2")
    source = operand(INT_TILE)
    result = output(INT_TILE)
    format = "$source clause($overflow) attr-dict `:` type($result)"


class DivI(Op, name="divi", opcode=0x15, traits=(NO_MEMORY_EFFECT, ELEMENTWISE, SameType("lhs", "rhs", "result"))):
    """Quotient, truncated (`zero`), floored (`negative_inf`) or ceiled (`positive_inf`). Dividing by 0 is undefined."""

    signedness = enum_attr(Signedness)
    rounding = enum_attr(Rounding, default=Rounding.ZERO)
    lhs = operand(INT_TILE)
    rhs = operand(INT_TILE)
    result = output(INT_TILE)
    format = "$lhs `,` $rhs $signedness clause($rounding) attr-dict `:` type($result)"


class RemI(
    Op,
    name="remi",
    opcode=0x5A,
    traits=(PURE, ELEMENTWISE, SameType("result", "lhs", "rhs"), SameShape("result", "lhs", "rhs")),
):
    """Remainder of the truncated quotient; signed, it has the sign of the dividend. Dividing by 0 is undefined."""

    signedness = enum_attr(Signedness)
    lhs = operand(INT_TILE)
    rhs = operand(INT_TILE)
    result = output(INT_TILE)
    format = _SIGNED_FORMAT


class MaxI(Op, name="maxi", opcode=0x46, traits=_BINARY):
    """The larger element by the given reading."""

    signedness = enum_attr(Signedness)
    lhs = operand(INT_TILE)
    rhs = operand(INT_TILE)
    result = output(INT_TILE)
    format = _SIGNED_FORMAT


class MinI(Op, name="mini", opcode=0x48, traits=_BINARY):
    """The smaller element by the given reading."""

    signedness = enum_attr(Signedness)
    lhs = operand(INT_TILE)
    rhs = operand(INT_TILE)
    result = output(INT_TILE)
    format = _SIGNED_FORMAT


class CmpI(
    Op, name="cmpi", opcode=0x0F, traits=(PURE, ELEMENTWISE, SameType("lhs", "rhs"), SameShape("lhs", "result"))
):
    """Compares element by element by the given reading."""

    comparison_predicate = enum_attr(Predicate)
    signedness = enum_attr(Signedness)
    lhs = operand(INT_TILE)
    rhs = operand(INT_TILE)
    result = output(I1_TILE)
    format = "$comparison_predicate $lhs `,` $rhs `,` $signedness attr-dict `:` type($lhs) `->` type($result)"


class AndI(Op, name="andi", opcode=0x04, traits=_BINARY):
    """Bitwise and."""

    lhs = operand(INT_TILE)
    rhs = operand(INT_TILE)
    result = output(INT_TILE)
    format = _PLAIN_FORMAT


class OrI(Op, name="ori", opcode=0x52, traits=_BINARY):
    """Bitwise or."""

    lhs = operand(INT_TILE)
    rhs = operand(INT_TILE)
    result = output(INT_TILE)
    format = _PLAIN_FORMAT


class XOrI(Op, name="xori", opcode=0x6C, traits=_BINARY):
    """Bitwise exclusive or."""

    lhs = operand(INT_TILE)
    rhs = operand(INT_TILE)
    result = output(INT_TILE)
    format = _PLAIN_FORMAT


class ShlI(Op, name="shli", opcode=0x60, traits=_BINARY):
    """Shift left by the unsigned `rhs`; a shift by the width or more gives 0."""

    overflow = enum_attr(Overflow, default=Overflow.NONE)
    lhs = operand(INT_TILE)
    rhs = operand(INT_TILE)
    result = output(INT_TILE)
    format = _OVERFLOW_FORMAT


class ShrI(Op, name="shri", opcode=0x61, traits=_BINARY):
    """Shift right by the unsigned `rhs`: logical when unsigned, arithmetic when signed."""

    signedness = enum_attr(Signedness)
    lhs = operand(INT_TILE)
    rhs = operand(INT_TILE)
    result = output(INT_TILE)
    format = _SIGNED_FORMAT
