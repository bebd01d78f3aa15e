"""Integer and bitwise operations (spec: integer#top): two's complement arithmetic modulo 2^width."""

from __future__ import annotations

from tileir.ir.attributes import Overflow, Predicate, Signedness
from tileir.ir.core import Op
from tileir.ir.declare import enum_attr, operand, output
from tileir.ir.traits import ELEMENTWISE, PURE, SameShape, SameType
from tileir.ops.constraints import I1_TILE, INT_TILE
from tileir.ops.elementwise import BinaryInt, SignedInt, UnaryInt, WrappingInt


class AbsI(UnaryInt, name="absi", opcode=0x01):
    """Absolute value of a signed integer, read as unsigned: the smallest integer gives 2^(width-1)."""


class AddI(WrappingInt, name="addi", opcode=0x03):
    """Sum modulo 2^width; `overflow` promises that nothing wraps."""


class SubI(WrappingInt, name="subi", opcode=0x68):
    """Difference modulo 2^width; `overflow` promises that nothing wraps."""


class MulI(WrappingInt, name="muli", opcode=0x4E):
    """Product modulo 2^width; `overflow` promises that nothing wraps."""


class MulhiI(Op, name="mulhii", opcode=0x4D, traits=(PURE, ELEMENTWISE, SameType("x", "y", "result"))):
    """The upper half of the double-width unsigned product."""

    x = operand(INT_TILE)
    y = operand(INT_TILE)
    result = output(INT_TILE)
    format = "$x `,` $y attr-dict `:` type($result)"


class NegI(UnaryInt, name="negi", opcode=0x50):
    """Negation modulo 2^width."""

    overflow = enum_attr(Overflow, default=Overflow.NONE, since="13.2")
    format = "$source clause($overflow) attr-dict `:` type($result)"


class MaxI(SignedInt, name="maxi", opcode=0x46):
    """The larger element by the given reading."""


class MinI(SignedInt, name="mini", opcode=0x48):
    """The smaller element by the given reading."""


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


class AndI(BinaryInt, name="andi", opcode=0x04):
    """Bitwise and."""


class OrI(BinaryInt, name="ori", opcode=0x52):
    """Bitwise or."""


class XOrI(BinaryInt, name="xori", opcode=0x6C):
    """Bitwise exclusive or."""


class ShlI(WrappingInt, name="shli", opcode=0x60):
    """Shift left by the unsigned `rhs`; a shift by the width or more gives 0."""


class ShrI(SignedInt, name="shri", opcode=0x61):
    """Shift right by the unsigned `rhs`: logical when unsigned, arithmetic when signed."""
