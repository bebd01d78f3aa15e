"""Conversions between element types (spec: conversion#top)."""

from __future__ import annotations

from tileir.ir.attributes import Overflow, Rounding, Signedness
from tileir.ir.core import Op
from tileir.ir.declare import enum_attr, flag, operand, output
from tileir.ir.traits import ELEMENTWISE, PURE, SameShape
from tileir.ops.constraints import (
    FLOAT_TILE,
    I64_TILE,
    INT_TILE,
    NUMBER_TILE,
    POINTER_TILE,
    WIDE_INT_TILE,
)


class _Cast(Op, traits=(PURE, ELEMENTWISE, SameShape("source", "result"))):
    """The same bits as elements of another type."""

    format = "$source attr-dict `:` type($source) `->` type($result)"


class _Conversion(Op, traits=(PURE, ELEMENTWISE, SameShape("from", "to"))):
    """The same numbers, as far as the other element type has them."""


class Bitcast(_Cast, name="bitcast", opcode=0x09):
    """Reads the bits of each element as another number type of the same width."""

    source = operand(NUMBER_TILE)
    result = output(NUMBER_TILE)


class ExtI(_Conversion, name="exti", opcode=0x25):
    """Widens integers, by zero or sign extension."""

    signedness = enum_attr(Signedness)
    source = operand(WIDE_INT_TILE, name="from")
    to = output(WIDE_INT_TILE)
    format = "$from $signedness attr-dict `:` type($from) `->` type($to)"


class TruncI(_Conversion, name="trunci", opcode=0x6B):
    """Narrows integers by dropping high bits; `overflow` promises that they carry nothing."""

    overflow = enum_attr(Overflow, default=Overflow.NONE)
    source = operand(WIDE_INT_TILE, name="from")
    to = output(WIDE_INT_TILE)
    format = "$from clause($overflow) attr-dict `:` type($from) `->` type($to)"


class FToF(_Conversion, name="ftof", opcode=0x2A):
    """Converts between float types with a single rounding."""

    rounding_mode = enum_attr(Rounding, default=Rounding.NEAREST_EVEN)
    source = operand(FLOAT_TILE, name="from")
    to = output(FLOAT_TILE)
    format = "$from rounding($rounding_mode) attr-dict `:` type($from) `->` type($to)"


class FToI(_Conversion, name="ftoi", opcode=0x2B):
    """Truncates floats to integers. Out of range is undefined unless `saturating` (13.4) is given."""

    signedness = enum_attr(Signedness)
    rounding_mode = enum_attr(Rounding, default=Rounding.NEAREST_INT_TO_ZERO)
    saturating = flag(since="13.4")
    source = operand(FLOAT_TILE, name="from")
    to = output(INT_TILE)
    format = "$from $signedness rounding($rounding_mode) $saturating attr-dict `:` type($from) `->` type($to)"


class IToF(_Conversion, name="itof", opcode=0x3B):
    """Converts integers to floats, rounded to nearest even."""

    signedness = enum_attr(Signedness)
    rounding_mode = enum_attr(Rounding, default=Rounding.NEAREST_EVEN)
    source = operand(INT_TILE, name="from")
    to = output(FLOAT_TILE)
    format = "$from $signedness rounding($rounding_mode) attr-dict `:` type($from) `->` type($to)"


class IntToPtr(_Cast, name="int_to_ptr", opcode=0x33):
    """Takes the unsigned reading of each integer as an address."""

    source = operand(I64_TILE)
    result = output(POINTER_TILE)


class PtrToInt(_Cast, name="ptr_to_int", opcode=0x56):
    """The address of each pointer as an integer, to be read as unsigned."""

    source = operand(POINTER_TILE)
    result = output(I64_TILE)


class PtrToPtr(_Cast, name="ptr_to_ptr", opcode=0x57):
    """The same addresses with another pointee type."""

    source = operand(POINTER_TILE)
    result = output(POINTER_TILE)
