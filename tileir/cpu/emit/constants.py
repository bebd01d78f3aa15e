"""Numbers known when the code is made: constants of a tile and the padding of views, as LLVM constants."""

from __future__ import annotations

import struct

from llvmlite import ir

from tileir.cpu.emit.elements import DOUBLE, FLOAT, I64, Num, memory_type
from tileir.ir import types as t
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


def zero(element: t.ElementType | t.PointerType) -> Num:
    if isinstance(element, t.PointerType):
        return Num(element, wide=I64(0))
    return from_bytes(element, bytes(element.byte_size))


def padding(element: t.ElementType, value: PaddingValue | None) -> Num:
    """The number that an element outside the tensor reads as (spec: views#bounds): 0 if the view gives none."""
    value = PaddingValue.ZERO if value is None else value
    pattern = element.padding_bits(value)
    if pattern is None:
        raise UnsupportedError(f"{element.name} has no padding value {value.text}", "cpu")
    return from_bytes(element, pattern.to_bytes(element.byte_size, "little"))
