"""Numbers known when the code is made: constants of a tile and the padding of views, as LLVM constants."""

from __future__ import annotations

import struct

from llvmlite import ir

from tileir.cpu.elements import DOUBLE, FLOAT, I64, Num, memory_bytes, memory_type
from tileir.ir import types as t
from tileir.ir.attributes import Attribute, BoolAttr, FloatAttr, IntegerAttr
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.types import PaddingValue


def from_bytes(element: t.ElementType, data: bytes) -> Num:
    """The element whose bytes in `DenseElements.data` are `data`."""
    if element is t.F32:
        return Num(element, wide=ir.Constant(FLOAT, struct.unpack("<f", data)[0]))
    if element is t.F64:
        return Num(element, wide=ir.Constant(DOUBLE, struct.unpack("<d", data)[0]))
    pattern = int.from_bytes(data, "little")
    if element.is_float:
        return Num(element, bits=ir.Constant(memory_type(element), pattern))
    return Num(element, wide=ir.Constant(ir.IntType(element.bits), pattern & ((1 << element.bits) - 1)))


def attribute_number(element: t.ElementType | t.PointerType, attr: Attribute) -> Num:
    """The element that a typed scalar attribute (an identity) stands for."""
    assert isinstance(element, t.ElementType)
    if isinstance(attr, BoolAttr):
        return from_bytes(element, bytes([attr.value]))
    assert isinstance(attr, IntegerAttr | FloatAttr)
    pattern = attr.value if isinstance(attr, IntegerAttr) else attr.bits << (13 if element is t.TF32 else 0)
    size = memory_bytes(element)
    return from_bytes(element, (pattern & ((1 << 8 * size) - 1)).to_bytes(size, "little"))


def zero(element: t.ElementType | t.PointerType) -> Num:
    if isinstance(element, t.PointerType):
        return Num(element, wide=I64(0))
    return from_bytes(element, bytes(memory_bytes(element)))


def padding(element: t.ElementType, value: PaddingValue | None) -> Num:
    """What an element outside the tensor reads as (operations 5.4); 0 where the view does not say."""
    if value in (None, PaddingValue.ZERO):
        return zero(element)
    pattern = _pattern(element, value)
    if pattern is None:
        raise UnsupportedError(f"{element.name} has no padding value {value.text}", "cpu")
    return from_bytes(element, pattern.to_bytes(memory_bytes(element), "little"))


def _pattern(element: t.ElementType, value: PaddingValue | None) -> int | None:
    """The bit pattern of -0, NaN or an infinity in memory, or None where the format lacks it."""
    layout = element.format
    assert layout is not None
    width = layout.exponent + layout.fraction
    shift = element.memory_bits - element.bits if element is t.TF32 else 0
    infinity = ((1 << layout.exponent) - 1) << layout.fraction
    if value is PaddingValue.NEG_ZERO:
        return 1 << (width + shift) if layout.signed else None
    if value is PaddingValue.NAN:
        if not layout.has_nan:
            return None
        quiet = infinity | 1 << (layout.fraction - 1) if layout.has_inf else (1 << width) - 1
        return quiet << shift
    if not layout.has_inf:
        return None
    sign = 1 << width if value is PaddingValue.NEG_INF else 0
    return (sign | infinity) << shift
