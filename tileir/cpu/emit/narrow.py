"""Bit patterns of narrow floats to and from f32, as straight-line LLVM code that vectorises.

Knows: the layouts of `ir.formats.FloatFormat` and rounding to nearest even. Decoding is exact; encoding takes any f32
and rounds once, saturating where the format has no infinity to give (spec: conversion#ftof).
Does not know: the other rounding modes (`cpu.rules.conversion`).
"""

from __future__ import annotations

from llvmlite import ir

from tileir.cpu.emit.elements import FLOAT, HALF, I16, I32
from tileir.ir import types as t
from tileir.ir.formats import FloatFormat


def decode(builder: ir.IRBuilder, element: t.ElementType, bits: ir.Value) -> ir.Value:
    """The f32 that the pattern `bits` of a narrow float stands for, exactly."""
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
    """2^(exponent - 127): f8E8M0FNU, whose smallest value is an f32 subnormal."""
    normal = builder.shl(exponent, I32(23))
    smallest = builder.icmp_unsigned("==", exponent, I32(0))
    return builder.bitcast(builder.select(smallest, I32(0x00400000), normal), FLOAT)


def encode(builder: ir.IRBuilder, element: t.ElementType, number: ir.Value) -> ir.Value:
    """The pattern of `element` nearest to the f32 `number`, ties to even; NaN becomes the format's positive NaN."""
    if element is t.F16:
        return builder.bitcast(builder.fptrunc(number, HALF), I16)
    word = builder.bitcast(number, I32)
    if element is t.BF16:
        rounded = builder.lshr(_round_off(builder, word, 16), I32(16))
        return builder.trunc(builder.select(_is_nan(builder, number), I32(0x7FC0), rounded), I16)
    if element is t.TF32:
        rounded = builder.and_(_round_off(builder, word, t.TF32_UNUSED_BITS), I32(t.TF32_MASK))
        return builder.select(_is_nan(builder, number), I32(0x7FC00000), rounded)
    return _encode_small(builder, element, number, word)


def _round_off(builder: ir.IRBuilder, word: ir.Value, dropped: int) -> ir.Value:
    """Add what rounds the low `dropped` bits of an f32 pattern to nearest even; a carry moves into the exponent."""
    odd = builder.and_(builder.lshr(word, I32(dropped)), I32(1))
    return builder.add(word, builder.add(odd, I32((1 << (dropped - 1)) - 1)))


def _encode_small(builder: ir.IRBuilder, element: t.ElementType, number: ir.Value, word: ir.Value) -> ir.Value:
    layout = element.layout
    assert layout.fraction, "f8E8M0FNU has rounding modes of its own"
    width = layout.exponent + layout.fraction
    magnitude = builder.and_(word, I32(0x7FFFFFFF))
    largest = FLOAT(layout.max_finite)
    clamped = _minimum(builder, builder.bitcast(magnitude, FLOAT), largest)
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
    """The pattern nearest to a magnitude within the format's range.

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


def _minimum(builder: ir.IRBuilder, value: ir.Value, bound: ir.Value) -> ir.Value:
    return builder.select(builder.fcmp_ordered("<", value, bound), value, bound)


def _is_nan(builder: ir.IRBuilder, number: ir.Value) -> ir.Value:
    return builder.fcmp_unordered("uno", number, number)
