"""Narrow floats to and from f32, element by element, for scalars and tensors alike.

The layouts are those of `ir.formats.FloatFormat`. Decoding is exact; encoding takes any f32 and rounds once, saturating
where the format has no infinity to give (spec: conversion#ftof). Values are held as `ttir.forms` says. `native` tells
whether the architecture converts f8E4M3FN and f8E5M2 by itself (`Arch.has_fp8`); the values are the same either way.
"""

from __future__ import annotations

from tileir.gpu.ttir.forms import held
from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import TtirValue
from tileir.gpu.ttir.lib.words import Word, word_of
from tileir.ir import types as t
from tileir.ir.attributes import Rounding
from tileir.ir.formats import FloatFormat

NATIVE = (t.F8E4M3FN, t.F8E5M2)
"""The formats that `native` is about. Their conversions from wider ones saturate and make NaN of NaN."""

_INFINITY = 0x7F800000
_NAN = 0x7FC00000
_ROUND_TO_NEAREST = 1
"""The code of rounding to nearest in ``tt.fp_to_fp``; 0 is towards zero."""


def native_conversion(build: Builder, value: TtirValue, element: str, narrows: bool) -> TtirValue:
    """Convert between a format of `NATIVE` and f16 or f32, by the hardware."""
    if not narrows:
        return build.cast("tt.fp_to_fp", value, element)
    return build.op("tt.fp_to_fp", value, type=value.type.of(element), rounding=_ROUND_TO_NEAREST)


# ---------------------------------------------------------------- from bits to f32


def decoded(build: Builder, value: TtirValue, element: t.ElementType, native: bool = False) -> TtirValue:
    """Return the f32 that equals each element of `value`; `element` is any float type but f64."""
    if element in (t.F32, t.TF32):
        return value
    if element in (t.F16, t.BF16):
        return build.cast("arith.extf", value, "f32")
    if native and element in NATIVE:
        return native_conversion(build, value, "f32", narrows=False)
    if element is t.F8E5M2:
        half = word_of(build, value).resized("i16") << 8
        return build.cast("arith.extf", half.as_float("f16"), "f32")
    bits = word_of(build, value).resized("i32")
    return _power(bits) if element is t.F8E8M0FNU else _decoded_small(bits, element.layout)


def _decoded_small(bits: Word, layout: FloatFormat) -> TtirValue:
    """Return the magnitude shifted under the exponent of f32 and scaled, which is exact also for subnormals."""
    build, width = bits.build, layout.exponent + layout.fraction
    last = (1 << width) - 1
    magnitude = bits & last if layout.signed else bits
    placed = (magnitude << (23 - layout.fraction)).as_float("f32")
    scaled = build.op("arith.mulf", placed, build.float(placed.type, 2.0 ** (127 - layout.bias)))
    number = word_of(build, scaled)
    if layout.signed:
        number = number | ((bits & (1 << width)) << (31 - width))
    if layout.has_nan:
        number = magnitude.equals(last).choose(number.constant(_NAN), number)
    return number.as_float("f32")


def _power(exponent: Word) -> TtirValue:
    """Return 2^(exponent - 127), where the smallest is a subnormal f32; NaN for 255."""
    number = exponent.equals(0).choose(exponent.constant(1 << 22), exponent << 23)
    return exponent.equals(0xFF).choose(exponent.constant(_NAN), number).as_float("f32")


def as_half(build: Builder, value: TtirValue, element: t.ElementType, native: bool) -> TtirValue:
    """Return floats of 8 or 4 bits as f16, which has them all."""
    if native and element in NATIVE:
        return native_conversion(build, value, "f16", narrows=False)
    return build.cast("arith.truncf", decoded(build, value, element), "f16")


def odd_f32(build: Builder, number: TtirValue) -> TtirValue:
    """Return an f64 as the f32 towards zero, its last bit set if it is not exact: a rounding to fewer bits is single
    (Boldo and Melquiond, 2008)."""
    near = build.vendor.directed(number, "f32", Rounding.ZERO)
    inexact = build.compare_float("one", build.cast("arith.extf", near, "f64"), number)
    odd = Word(build, inexact).resized("i32")
    return (word_of(build, near) | odd).as_float("f32")


# ---------------------------------------------------------------- from f32 to bits


def encoded(
    build: Builder, number: TtirValue, element: t.ElementType, mode: Rounding, native: bool = False
) -> TtirValue:
    """Return the f32 `number` rounded once to `element`, any float type but f64, as it is held.

    f16 takes the IEEE modes, bf16 and tf32 `nearest_away` too, f8E8M0FNU `zero` and `positive_inf`, which round its
    magnitude, and the other 8 and 4 bit formats `nearest_even`.
    """
    if element is t.F32:
        return number
    if element in (t.F16, t.BF16) and mode is Rounding.NEAREST_EVEN:
        return build.cast("arith.truncf", number, element.name)
    if element is t.F16:
        return build.vendor.directed(number, "f16", mode)
    if element in (t.BF16, t.TF32):
        return _shortened(build, number, element, mode)
    if native and element in NATIVE:
        return native_conversion(build, number, held(element), narrows=True)
    bits = _exponent(build, number, mode) if element is t.F8E8M0FNU else _encoded_small(build, number, element, mode)
    return build.bitcast(bits.resized("i8").value, held(element))


def _shortened(build: Builder, number: TtirValue, element: t.ElementType, mode: Rounding) -> TtirValue:
    """Return bf16 or tf32: an f32 with fewer bits."""
    word = word_of(build, number)
    dropped = 23 - element.layout.fraction
    rounded = _is_nan(word).choose(word.constant(_NAN), _rounded_off(word, dropped, mode))
    if element is t.BF16:
        return (rounded >> dropped).resized("i16").as_float("bf16")
    return (rounded & (-1 << dropped)).as_float("f32")


def _rounded_off(word: Word, dropped: int, mode: Rounding) -> Word:
    """Return an f32 pattern plus the increment that rounds it when its low `dropped` bits are cut; a carry moves into
    the exponent."""
    below = (1 << dropped) - 1
    if mode is Rounding.ZERO:
        return word
    if mode is Rounding.NEAREST_AWAY:
        return word + (1 << (dropped - 1))
    if mode is Rounding.NEAREST_EVEN:
        return word + ((word >> dropped) & 1) + (below >> 1)
    negative = word.shifted_signed(31)
    return word + ((negative if mode is Rounding.NEGATIVE_INF else ~negative) & below)


def _exponent(build: Builder, number: TtirValue, mode: Rounding) -> Word:
    """Convert to f8E8M0FNU: the exponent of the magnitude. Of the subnormal f32 it has only 2^-127, half the smallest
    normal."""
    magnitude = word_of(build, number) & 0x7FFFFFFF
    rounded = magnitude
    if mode is Rounding.POSITIVE_INF:
        beyond = magnitude.compared("ugt", 1 << 22)
        rounded = beyond.choose(magnitude + 0x7FFFFF, 0)
    field = (rounded >> 23).minimum(0xFE, signed=False)
    return _exceeds_infinity(magnitude).choose(field.constant(0xFF), field)


def _encoded_small(build: Builder, number: TtirValue, element: t.ElementType, mode: Rounding) -> Word:
    """Return the pattern nearest to the number, in an i32."""
    assert mode is Rounding.NEAREST_EVEN, mode
    layout, word = element.layout, word_of(build, number)
    width = layout.exponent + layout.fraction
    magnitude = word & 0x7FFFFFFF
    largest = build.float(number.type, layout.max_finite)
    pattern = _nearest_pattern(magnitude.minimum(word_of(build, largest), signed=False), layout)
    if layout.signed:
        pattern = pattern | ((word >> (31 - width)) & (1 << width))
    return _exceeds_infinity(magnitude).choose(pattern.constant(_nan_pattern(element)), pattern)


def _nearest_pattern(magnitude: Word, layout: FloatFormat) -> Word:
    """Return the pattern nearest to a magnitude within the range of the format.

    A normal result rounds off fraction bits of the f32. A subnormal one is rounded by adding a number whose last bit
    has the weight of the smallest step of the format, so that the low bits of the sum are the pattern.
    """
    build, dropped = magnitude.build, 23 - layout.fraction
    rebias = (127 - layout.bias) << 23
    normal = (_rounded_off(magnitude, dropped, Rounding.NEAREST_EVEN) - rebias) >> dropped
    anchor = build.float(magnitude.value.type.of("f32"), 2.0 ** (1 - layout.bias - layout.fraction + 23))
    summed = word_of(build, build.op("arith.addf", magnitude.as_float("f32"), anchor))
    smallest_normal = (128 - layout.bias) << 23
    return magnitude.below(smallest_normal).choose(summed - word_of(build, anchor), normal)


def _nan_pattern(element: t.ElementType) -> int:
    """Return the pattern that NaN becomes: a quiet NaN, or +6 in f4E2M1FN, which has none."""
    layout = element.layout
    every_bit = (1 << (layout.exponent + layout.fraction)) - 1
    return every_bit - 1 if element is t.F8E5M2 else every_bit


def _is_nan(word: Word) -> Word:
    return _exceeds_infinity(word & 0x7FFFFFFF)


def _exceeds_infinity(magnitude: Word) -> Word:
    return magnitude.compared("ugt", _INFINITY)
