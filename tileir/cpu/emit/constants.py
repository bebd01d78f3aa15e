"""Numbers known when the code is made: constants of a tile and the padding of views, as LLVM constants."""

from __future__ import annotations

import struct

from llvmlite import ir

from tileir.cpu.emit.elements import DOUBLE, FLOAT, I32, I64, Num, memory_type
from tileir.ir import types as t
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.types import PaddingValue


def from_bytes(element: t.ElementType, data: bytes) -> Num:
    """The element whose bytes in `DenseElements.data` are `data`."""
    if element in _FLOATS:
        return Num(element, wide=_float(element, data))
    pattern = int.from_bytes(data, "little")
    if element.is_float:
        return Num(element, bits=ir.Constant(memory_type(element), pattern))
    return Num(element, wide=ir.Constant(ir.IntType(element.bits), pattern & ((1 << element.bits) - 1)))


_FLOATS = {t.F32: (FLOAT, I32, "<f"), t.F64: (DOUBLE, I64, "<d")}


def _float(element: t.ElementType, data: bytes) -> ir.Constant:
    """The constant with that pattern: Python's own floats make a signalling NaN quiet."""
    kind, bits, code = _FLOATS[element]
    (number,) = struct.unpack(code, data)
    return bits(int.from_bytes(data, "little")).bitcast(kind) if number != number else ir.Constant(kind, number)


def zero(element: t.ElementType | t.PointerType) -> Num:
    if isinstance(element, t.PointerType):
        return Num(element, wide=I64(0))
    return from_bytes(element, bytes(element.byte_size))


def is_zero(element: t.ElementType, value: PaddingValue | None) -> bool:
    """Whether the bytes of such an element are 0."""
    return element.padding_bits(PaddingValue.ZERO if value is None else value) == 0


def padding(element: t.ElementType, value: PaddingValue | None) -> Num:
    """The number that an element outside the tensor reads as (spec: views#bounds): 0 if the view gives none."""
    value = PaddingValue.ZERO if value is None else value
    pattern = element.padding_bits(value)
    if pattern is None:
        raise UnsupportedError(f"{element.name} has no padding value {value.text}", "cpu")
    return from_bytes(element, pattern.to_bytes(element.byte_size, "little"))
