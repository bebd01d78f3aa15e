"""Conversions between element types (specification 8.4)."""

from __future__ import annotations

from tileir.ir.attributes import Overflow, Rounding, Signedness
from tileir.ir.core import Op
from tileir.ir.declare import ELEMENTWISE, PURE, SameShape, enum_attr, flag, operand, output
from tileir.ops.constraints import (
    FLOAT_TILE,
    I64_TILE,
    INT_TILE,
    NUMBER_TILE,
    POINTER_TILE,
    WIDE_INT_TILE,
)

_SOURCE_RESULT = (PURE, ELEMENTWISE, SameShape("source", "result"))
_FROM_TO = (PURE, ELEMENTWISE, SameShape("from", "to"))
_CAST_FORMAT = "$source attr-dict `:` type($source) `->` type($result)"


class Bitcast(Op, name="bitcast", opcode=0x09, traits=_SOURCE_RESULT):
    """Reads the bits of each element as another number type of the same width."""

    source = operand(NUMBER_TILE)
    result = output(NUMBER_TILE)
    format = _CAST_FORMAT


class ExtI(Op, name="exti", opcode=0x25, traits=_FROM_TO):
    """Widens integers, by zero or sign extension."""

    signedness = enum_attr(Signedness)
    source = operand(WIDE_INT_TILE, name="from")
    to = output(WIDE_INT_TILE)
    format = "$from $signedness attr-dict `:` type($from) `->` type($to)"


class TruncI(Op, name="trunci", opcode=0x6B, traits=_FROM_TO):
    """Narrows integers by dropping high bits; `overflow` promises that they carry nothing."""

    overflow = enum_attr(Overflow, default=Overflow.NONE)
    source = operand(WIDE_INT_TILE, name="from")
    to = output(WIDE_INT_TILE)
    format = "$from clause($overflow) attr-dict `:` type($from) `->` type($to)"


class FToF(Op, name="ftof", opcode=0x2A, traits=_FROM_TO):
    """Converts between float types with a single rounding."""

    rounding_mode = enum_attr(Rounding, default=Rounding.NEAREST_EVEN)
    source = operand(FLOAT_TILE, name="from")
    to = output(FLOAT_TILE)
    format = "$from rounding($rounding_mode) attr-dict `:` type($from) `->` type($to)"


class FToI(Op, name="ftoi", opcode=0x2B, traits=_FROM_TO):
    """Truncates floats to integers. Out of range is undefined unless `saturating` (13.4) is given."""

    signedness = enum_attr(Signedness)
    rounding_mode = enum_attr(Rounding, default=Rounding.NEAREST_INT_TO_ZERO)
    saturating = flag(since="13.4")
    source = operand(FLOAT_TILE, name="from")
    to = output(INT_TILE)
    format = "$from $signedness rounding($rounding_mode) $saturating attr-dict `:` type($from) `->` type($to)"


class IToF(Op, name="itof", opcode=0x3B, traits=_FROM_TO):
    """Converts integers to floats, rounded to nearest even."""

    signedness = enum_attr(Signedness)
    rounding_mode = enum_attr(Rounding, default=Rounding.NEAREST_EVEN)
    source = operand(INT_TILE, name="from")
    to = output(FLOAT_TILE)
    format = "$from $signedness rounding($rounding_mode) attr-dict `:` type($from) `->` type($to)"


class IntToPtr(Op, name="int_to_ptr", opcode=0x33, traits=_SOURCE_RESULT):
    """Takes the unsigned reading of each integer as an address."""

    source = operand(I64_TILE)
    result = output(POINTER_TILE)
    format = _CAST_FORMAT


class PtrToInt(Op, name="ptr_to_int", opcode=0x56, traits=_SOURCE_RESULT):
    """The address of each pointer as an integer, to be read as unsigned."""

    source = operand(POINTER_TILE)
    result = output(I64_TILE)
    format = _CAST_FORMAT


class PtrToPtr(Op, name="ptr_to_ptr", opcode=0x57, traits=_SOURCE_RESULT):
    """The same addresses with another pointee type."""

    source = operand(POINTER_TILE)
    result = output(POINTER_TILE)
    format = _CAST_FORMAT
