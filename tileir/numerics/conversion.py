"""Conversions between element types (spec: conversion#top)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tileir.ir import types as t
from tileir.ir.attributes import Rounding, Signedness
from tileir.ir.storage import dtype_of
from tileir.numerics import formats
from tileir.numerics.bits import Array, wrapped
from tileir.numerics.integers import read_as
from tileir.numerics.rounding import narrowed

Conversion = Callable[[Array], Array]

_CAST_TARGETS = (t.F16, t.BF16, t.F32)
"""Formats that `rounding.narrowed` makes: those NumPy casts to with a single rounding, or nearly so."""
_SATURATING_CASTS = (t.F8E4M3FN, t.F8E5M2)
_BELOW_F64_BITS = np.uint64(11)
_BELOW_F64 = np.uint64(0x7FF)


def float_to_float(source: t.ElementType, target: t.ElementType, mode: Rounding) -> Conversion:
    """Return the exact value rounded once; a NaN becomes the positive quiet NaN of the target (f4E2M1FN: +6)."""
    function = _float_conversion(source, target, mode)
    native = dtype_of(source) in (np.float32, np.float64)

    def convert(x: Array) -> Array:
        result = function(x)
        return formats.with_quiet_nan(result, x if native else result, target)

    return convert


def _float_conversion(source: t.ElementType, target: t.ElementType, mode: Rounding) -> Conversion:
    if target.layout.contains(source.layout):
        return lambda x: _values(x, source).astype(dtype_of(target))
    if target in _CAST_TARGETS:
        return lambda x: narrowed(_values(x, source), target, mode)
    if target is t.TF32 and source is t.F32:
        return lambda x: formats.tf32_from_f32(x, mode)
    if target in _SATURATING_CASTS and source is not t.F64:
        return lambda x: _saturated(_values(x, source), target)
    return lambda x: formats.encoded(formats.widened(x, source), target, mode)


def _values(x: Array, source: t.ElementType) -> Array:
    """Return the same values as f64 if they are f64 or in a format that NumPy lacks, else as f32."""
    return formats.widened(x, source) if source in (t.F64, t.FNV8E5M3FNU) else x.astype(np.float32, copy=False)


def _saturated(x: Array, target: t.ElementType) -> Array:
    """Round f32 values to nearest even, with everything beyond the largest finite number of `target` becoming that."""
    largest = np.float32(target.layout.max_finite)
    return np.clip(x, -largest, largest).astype(dtype_of(target))


def integer_to_float(signedness: Signedness, target: t.ElementType) -> Conversion:
    """Return the integer rounded to nearest even; out of range as for floats."""
    if target in (t.F32, t.F64):
        return lambda x: read_as(signedness, x).astype(dtype_of(target))
    convert = float_to_float(t.F64, target, Rounding.NEAREST_EVEN)
    return lambda x: convert(_odd_f64(read_as(signedness, x)))


def _odd_f64(x: Array) -> Array:
    """Return integers as f64, large ones rounded to odd (53 bits), which leaves the rounding to a narrower type
    single."""
    if x.dtype.itemsize < 8:
        return x.astype(np.float64)
    magnitude = np.abs(x).view(np.uint64)
    lost = magnitude & _BELOW_F64
    odd = (magnitude - lost) | (lost != 0).astype(np.uint64) << _BELOW_F64_BITS
    exact = np.where(magnitude >> np.uint64(53) == 0, magnitude, odd).astype(np.float64)
    return np.where(x < 0, -exact, exact)


def float_to_integer(signedness: Signedness, source: t.ElementType, target: t.ElementType) -> Conversion:
    """Truncate towards zero, then saturate to the range of the target; NaN gives 0 (spec: undefined#catalogue).

    i1 says whether the number differs from zero, as NaN does (spec: conversion#ftoi).
    """
    if target is t.I1:
        return lambda x: formats.widened(x, source) != 0
    below, largest = integer_limits(signedness, target)
    _, above = integer_range(signedness, target)
    working = np.dtype(np.int64 if signedness is Signedness.SIGNED else np.uint64)

    def convert(x: Array) -> Array:
        values = formats.widened(x, source)
        inside = np.clip(np.where(np.isnan(values), 0.0, values), below, largest)
        result = np.where(values > largest, working.type(above), inside.astype(working))
        return wrapped(result, dtype_of(target))

    return convert


def integer_limits(signedness: Signedness, element: t.ElementType) -> tuple[float, float]:
    """Return the smallest and largest f64 in the range of the type: 2^63 - 1 and 2^64 - 1 are no f64."""
    below, above = integer_range(signedness, element)
    largest = float(above)
    return float(below), math.nextafter(largest, 0.0) if int(largest) > above else largest


def integer_range(signedness: Signedness, element: t.ElementType) -> tuple[int, int]:
    """Return the smallest and largest integer of the type by the given reading."""
    if signedness is Signedness.SIGNED:
        return -(1 << (element.bits - 1)), (1 << (element.bits - 1)) - 1
    return 0, (1 << element.bits) - 1


def extended(signedness: Signedness, source: t.ElementType, target: t.ElementType) -> Conversion:
    """Return integers of more bits with the same value by the given reading."""
    dtype = dtype_of(target)
    if signedness is Signedness.UNSIGNED and source is t.I4:
        return lambda x: (x & np.int8(0xF)).astype(dtype)
    return lambda x: read_as(signedness, x).astype(dtype)


def truncated(target: t.ElementType) -> Conversion:
    """Return the low bits of integers. i4 is held sign-extended."""
    if target is t.I4:
        return lambda x: ((x.astype(np.int8) & np.int8(0xF)) ^ np.int8(8)) - np.int8(8)
    return lambda x: wrapped(x, dtype_of(target))
