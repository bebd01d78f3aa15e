"""Vectors of f8 as bf16, which holds every one of their numbers.

Knows: how 8 bits become 16 in registers of AVX-512: a normal number is moved and gets another bias, a subnormal one is
looked up. Does not know: other conversions (`cpu.emit.narrow`), nor what the numbers are for.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from tileir.cpu.emit.algebra import call_named
from tileir.cpu.emit.elements import I16, I32
from tileir.ir import types as t
from tileir.ir.formats import FloatFormat

BF16_BIAS, BF16_FRACTION = 127, 7
BF16_NAN = 0x7FC0
LOOKED_UP = 32
"""Entries of a table, as many as a vector has."""


def f8_as_bf16(builder: ir.IRBuilder, element: t.ElementType, loaded: ir.Value) -> ir.Value:
    """A vector of patterns of bf16, of at most 32 patterns of an f8 format; a NaN gives one."""
    layout, count = element.layout, loaded.type.count
    words = builder.zext(loaded, ir.VectorType(I16, count))
    magnitude = builder.and_(words, _all(0x7F, count))
    shift = BF16_FRACTION - layout.fraction
    moved = builder.shl(magnitude, _all(shift, count))
    normal = builder.add(moved, _all((BF16_BIAS - layout.bias) << BF16_FRACTION, count))
    is_small = builder.icmp_unsigned("<", magnitude, _all(1 << layout.fraction, count))
    found = builder.select(is_small, _looked_up(builder, _subnormal_numbers(layout), magnitude), normal)
    if element is t.F8E5M2:
        special, kept = 0x7C, builder.or_(moved, _all(0x7F80, count))
    else:
        special, kept = 0x7F, _all(BF16_NAN, count)
    found = builder.select(builder.icmp_unsigned(">=", magnitude, _all(special, count)), kept, found)
    sign = builder.shl(builder.and_(words, _all(0x80, count)), _all(8, count))
    return builder.or_(found, sign)


def _subnormal_numbers(layout: FloatFormat) -> list[int]:
    """The patterns of the numbers below the smallest normal one of a format, which are normal in bf16."""
    patterns = [0]
    for number in range(1, 1 << layout.fraction):
        top = number.bit_length() - 1
        exponent = BF16_BIAS + 1 - layout.bias - layout.fraction + top
        patterns.append((exponent << BF16_FRACTION) + ((number << (BF16_FRACTION - top)) & 0x7F))
    return patterns


def _looked_up(builder: ir.IRBuilder, table: Sequence[int], places: ir.Value) -> ir.Value:
    """The entry of a table for each place, which may be any number where it is not used."""
    vector, count = ir.VectorType(I16, LOOKED_UP), places.type.count
    entries = ir.Constant(vector, [*table, *[0] * (LOOKED_UP - len(table))])
    operands = [entries, _resized(builder, places, LOOKED_UP)]
    found = call_named(builder, "llvm.x86.avx512.permvar.hi.512", vector, operands)
    return _resized(builder, found, count)


def _resized(builder: ir.IRBuilder, vector: ir.Value, count: int) -> ir.Value:
    """The first elements of a vector, or all and more."""
    size = vector.type.count
    if size == count:
        return vector
    order = ir.Constant(ir.VectorType(I32, count), [place % size for place in range(count)])
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), order)


def _all(number: int, count: int) -> ir.Constant:
    return ir.Constant(ir.VectorType(I16, count), [number] * count)
