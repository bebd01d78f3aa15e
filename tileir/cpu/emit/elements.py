"""Forms of one element of a tile in LLVM code: types, bit patterns and the numbers they stand for, constants.

A number of a narrow float type (f16, bf16, tf32, f8, f4, f8E8M0FNU) is computed with as an f32 that holds exactly that
number, and moved as its bit pattern; `Num` holds whichever form it was made in, so that data movement preserves every
bit and a chain of arithmetic never encodes in between.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from llvmlite import ir

from tileir.ir import types as t
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.formats import FloatFormat
from tileir.ir.types import PaddingValue

I1, I8, I16, I32, I64 = (ir.IntType(width) for width in (1, 8, 16, 32, 64))
HALF, FLOAT, DOUBLE, PTR = ir.HalfType(), ir.FloatType(), ir.DoubleType(), ir.PointerType()


class BFloat(ir.Type):
    """LLVM's bfloat, for which llvmlite has no name."""

    def _to_string(self) -> str:
        return "bfloat"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BFloat)

    def __hash__(self) -> int:
        return hash(BFloat)


_NATIVE_FLOATS: dict[t.ElementType, ir.Type] = {t.F32: FLOAT, t.F64: DOUBLE}


def memory_type(element: t.ElementType | t.PointerType) -> ir.Type:
    """Return the LLVM type of one element in memory and in the arena: i1, i4 and f4E2M1FN take a byte there."""
    if isinstance(element, t.PointerType):
        return I64
    return _NATIVE_FLOATS.get(element) or ir.IntType(max(8, element.memory_bits))


def is_number(value: ir.Value, number: int) -> bool:
    """Return whether a register is known to hold a number."""
    return isinstance(value, ir.Constant) and bool(value.constant == number)


def is_native(element: t.ElementType) -> bool:
    """Return whether an element type, f32 or f64, is computed in its own type."""
    return element in _NATIVE_FLOATS


class Num(NamedTuple):
    """One element: its register form (`wide`: an int, an f32 or f64), its memory form (`bits`), or both.

    A pointer has a byte offset in `wide`, counted from `base` where that is known (an LLVM pointer) and from 0
    otherwise: kept apart so that LLVM sees which neighbouring elements are neighbours in memory.
    """

    element: t.ElementType | t.PointerType
    wide: ir.Value | None = None
    bits: ir.Value | None = None
    base: ir.Value | None = None


# ---------------------------------------------------------------- constants


class Splat(ir.Constant):
    """A constant vector whose lanes all hold `element`."""

    def __init__(self, element: ir.Constant, lanes: int) -> None:
        super().__init__(ir.VectorType(element.type, lanes), None)
        self._element = element

    def _get_reference(self) -> str:
        return f"splat ({self._element.type} {self._element.get_reference()})"


def from_bytes(element: t.ElementType, data: bytes) -> Num:
    """Return the element whose bytes in `DenseElements.data` are `data`."""
    if element in _FLOATS:
        return Num(element, wide=_float(element, data))
    pattern = int.from_bytes(data, "little")
    if element.is_float:
        return Num(element, bits=ir.Constant(memory_type(element), pattern))
    return Num(element, wide=ir.Constant(ir.IntType(element.bits), pattern & ((1 << element.bits) - 1)))


_FLOATS = {t.F32: (FLOAT, I32, "<f"), t.F64: (DOUBLE, I64, "<d")}


def _float(element: t.ElementType, data: bytes) -> ir.Constant:
    """Return the constant with that pattern: Python's own floats make a signalling NaN quiet."""
    kind, bits, code = _FLOATS[element]
    (number,) = struct.unpack(code, data)
    return bits(int.from_bytes(data, "little")).bitcast(kind) if number != number else ir.Constant(kind, number)


def zero(element: t.ElementType | t.PointerType) -> Num:
    if isinstance(element, t.PointerType):
        return Num(element, wide=I64(0))
    return from_bytes(element, bytes(element.byte_size))


def is_zero(element: t.ElementType, value: PaddingValue | None) -> bool:
    """Return whether a padded element consists of zero bytes."""
    return element.padding_bits(PaddingValue.ZERO if value is None else value) == 0


def padding(element: t.ElementType, value: PaddingValue | None) -> Num:
    """Return the number that an element outside the tensor reads as (spec: views#bounds): 0 if the view gives none."""
    value = PaddingValue.ZERO if value is None else value
    pattern = element.padding_bits(value)
    if pattern is None:
        raise UnsupportedError(f"{element.name} has no padding value {value.text}", "cpu")
    return from_bytes(element, pattern.to_bytes(element.byte_size, "little"))


# ---------------------------------------------------------------- narrow floats


def decode(builder: ir.IRBuilder, element: t.ElementType, bits: ir.Value) -> ir.Value:
    """Return the f32 that the pattern `bits` of a narrow float stands for, exactly."""
    if element is t.F16:
        return builder.fpext(builder.bitcast(bits, HALF), FLOAT)
    if element is t.F8E5M2:
        wide = builder.shl(builder.zext(bits, I16), I16(8))
        return builder.fpext(builder.bitcast(wide, HALF), FLOAT)
    if element is t.BF16:
        return builder.bitcast(builder.shl(builder.zext(bits, I32), I32(16)), FLOAT)
    if element is t.TF32:
        return builder.bitcast(builder.and_(bits, I32(t.TF32_MASK)), FLOAT)
    return _decode_small(builder, element, builder.zext(bits, I32))


def _decode_small(builder: ir.IRBuilder, element: t.ElementType, bits: ir.Value) -> ir.Value:
    """Shift the magnitude under f32's exponent and scale: exact also for subnormals of the format."""
    layout = element.layout
    width = layout.exponent + layout.fraction
    magnitude = builder.and_(bits, I32((1 << width) - 1))
    placed = builder.bitcast(builder.shl(magnitude, I32(23 - layout.fraction)), FLOAT)
    number = builder.fmul(placed, FLOAT(2.0 ** (127 - layout.bias))) if layout.fraction else _power(builder, magnitude)
    if layout.signed:
        sign = builder.shl(builder.and_(bits, I32(1 << width)), I32(31 - width))
        number = builder.bitcast(builder.or_(builder.bitcast(number, I32), sign), FLOAT)
    if layout.has_nan:
        is_nan = builder.icmp_unsigned("==", magnitude, I32((1 << width) - 1))
        number = builder.select(is_nan, FLOAT(float("nan")), number)
    return number


def _power(builder: ir.IRBuilder, exponent: ir.Value) -> ir.Value:
    """Return 2^(exponent - 127): f8E8M0FNU, whose smallest value is an f32 subnormal."""
    normal = builder.shl(exponent, I32(23))
    smallest = builder.icmp_unsigned("==", exponent, I32(0))
    return builder.bitcast(builder.select(smallest, I32(0x00400000), normal), FLOAT)


def encode(builder: ir.IRBuilder, element: t.ElementType, number: ir.Value) -> ir.Value:
    """Return the pattern of `element` nearest to the f32 `number`, ties to even; NaN becomes the format's positive NaN.
    Of bf16 and tf32 `number` may also be a vector."""
    if element is t.F16:
        return builder.bitcast(builder.fptrunc(number, HALF), I16)
    word = builder.bitcast(number, shaped(I32, number.type))
    if element is t.BF16:
        rounded = builder.lshr(_round_off(builder, word, 16), all_like(16, word))
        chosen = builder.select(_is_nan(builder, number), all_like(0x7FC0, word), rounded)
        return builder.trunc(chosen, shaped(I16, number.type))
    if element is t.TF32:
        rounded = builder.and_(_round_off(builder, word, t.TF32_UNUSED_BITS), all_like(t.TF32_MASK, word))
        return builder.select(_is_nan(builder, number), all_like(0x7FC00000, word), rounded)
    return _encode_small(builder, element, number, word)


def shaped(element: ir.Type, like: ir.Type) -> ir.Type:
    """Return an element type, or that of vectors of it if `like` is one of vectors."""
    return ir.VectorType(element, like.count) if isinstance(like, ir.VectorType) else element


def all_like(number: int, like: ir.Value) -> ir.Constant:
    """Return a number as a constant of the type of `like`, in every lane of a vector."""
    type = like.type
    return Splat(type.element(number), type.count) if isinstance(type, ir.VectorType) else type(number)


def _round_off(builder: ir.IRBuilder, word: ir.Value, dropped: int) -> ir.Value:
    """Add what rounds the low `dropped` bits of an f32 pattern to nearest even; a carry moves into the exponent."""
    odd = builder.and_(builder.lshr(word, all_like(dropped, word)), all_like(1, word))
    return builder.add(word, builder.add(odd, all_like((1 << (dropped - 1)) - 1, word)))


def _encode_small(builder: ir.IRBuilder, element: t.ElementType, number: ir.Value, word: ir.Value) -> ir.Value:
    layout = element.layout
    assert layout.fraction, "f8E8M0FNU has rounding modes of its own"
    width = layout.exponent + layout.fraction
    magnitude, largest = builder.bitcast(builder.and_(word, I32(0x7FFFFFFF)), FLOAT), FLOAT(layout.max_finite)
    clamped = builder.select(builder.fcmp_ordered("<", magnitude, largest), magnitude, largest)
    pattern = _nearest_pattern(builder, layout, clamped)
    if layout.signed:
        pattern = builder.or_(pattern, builder.and_(builder.lshr(word, I32(31 - width)), I32(1 << width)))
    if element is t.F4E2M1FN:
        nan = I32(7)
    elif element is t.F8E5M2:
        nan = I32(0x7E)
    else:
        nan = I32((1 << width) - 1)
    return builder.trunc(builder.select(_is_nan(builder, number), nan, pattern), ir.IntType(8))


def _nearest_pattern(builder: ir.IRBuilder, layout: FloatFormat, magnitude: ir.Value) -> ir.Value:
    """Return the pattern nearest to a magnitude within the format's range.

    A normal result rounds off fraction bits of the f32; a subnormal one is rounded by adding a number whose last bit
    has the weight of the format's smallest step, so that the sum's low bits are the pattern.
    """
    word = builder.bitcast(magnitude, I32)
    dropped = 23 - layout.fraction
    rebias = (127 - layout.bias) << 23
    normal = builder.lshr(builder.sub(_round_off(builder, word, dropped), I32(rebias)), I32(dropped))
    step = 1 - layout.bias - layout.fraction
    anchor = FLOAT(2.0 ** (step + 23))
    summed = builder.bitcast(builder.fadd(magnitude, anchor), I32)
    subnormal = builder.sub(summed, builder.bitcast(anchor, I32))
    is_normal = builder.fcmp_ordered(">=", magnitude, FLOAT(2.0 ** (1 - layout.bias)))
    return builder.select(is_normal, normal, subnormal)


def _is_nan(builder: ir.IRBuilder, number: ir.Value) -> ir.Value:
    return builder.fcmp_unordered("uno", number, number)
