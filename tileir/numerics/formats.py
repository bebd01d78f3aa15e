"""The encodings of floats narrower than f64, exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tileir.ir import types as t
from tileir.ir.attributes import Rounding
from tileir.ir.storage import bits_dtype, dtype_of
from tileir.numerics.bits import Array, bit_length, pattern

_WORKING_BITS = 62
"""Significands are rounded from 62 bits with the last one sticky: at least two more than any format keeps."""


@dataclass(frozen=True)
class Patterns:
    """Magnitude patterns of the special values of a format; `overflow` is None where overflow saturates."""

    largest: int
    nan: int
    overflow: int | None


def patterns(element: t.ElementType) -> Patterns:
    """Return the special values of `element` as its pattern without sign."""
    layout = element.layout
    last = layout.magnitude_mask
    nan = last if layout.nan is None else layout.nan
    if layout.infinity is None:
        return Patterns(last - layout.has_nan, nan, None)
    return Patterns(layout.infinity - 1, nan, None if element is t.F8E5M2 else layout.infinity)


def quiet_nan(element: t.ElementType) -> Array:
    """Return the NaN that conversions give, as an array of rank 0 (spec: views#padding); +6 for f4E2M1FN."""
    return stored(np.asarray(patterns(element).nan, np.uint64), element)


def with_quiet_nan(x: Array, source: Array, element: t.ElementType) -> Array:
    """Return `x` with the NaN that conversions give wherever `source` is NaN."""
    nan = source != source
    return np.where(nan, quiet_nan(element), x) if nan.any() else x


def stored(bits: Array, element: t.ElementType) -> Array:
    """Return patterns of `element` (uint64) as the array that holds its values."""
    if element is t.TF32:
        bits = bits << np.uint64(t.TF32_UNUSED_BITS)
    return bits.astype(bits_dtype(element)).view(dtype_of(element))


def widened(x: Array, element: t.ElementType) -> Array:
    """Return the values of an array of `element` as f64, exactly."""
    if element is t.FNV8E5M3FNU:
        return _FNV8_VALUES[x]
    return x.astype(np.float64)


def encoded(x: Array, element: t.ElementType, mode: Rounding) -> Array:
    """Round f64 values once to `element`: every format but f64, every mode; NaN becomes the format's NaN.

    The sign is dropped for unsigned formats. f8E8M0FNU takes the modes zero and positive_inf, which round magnitudes.
    """
    if element is t.F8E8M0FNU:
        return _power_of_two(x, mode)
    finite = np.where(np.isfinite(x), x, 0.0)
    sign = np.signbit(x) & element.layout.signed
    special = patterns(element)
    infinite = special.largest if special.overflow is None else special.overflow
    magnitude = rounded_magnitude(sign, *significand(finite), element, mode)
    magnitude = np.where(np.isinf(x), np.uint64(infinite), magnitude)
    bits = np.where(np.isnan(x), np.uint64(special.nan), with_sign(magnitude, sign, element))
    return stored(bits, element)


def _power_of_two(x: Array, mode: Rounding) -> Array:
    """Convert to f8E8M0FNU: the magnitude as a power of two; underflow gives the smallest, overflow the largest."""
    fraction, exponent = np.frexp(np.abs(x))
    up = (fraction > 0.5) if mode is Rounding.POSITIVE_INF else np.zeros(x.shape, np.bool_)
    biased = np.clip(exponent - 1 + up + t.F8E8M0FNU.layout.bias, 0, 0xFE)
    biased = np.where(x == 0, 0, np.where(np.isinf(x), 0xFE, np.where(np.isnan(x), 0xFF, biased)))
    return stored(biased.astype(np.uint64), t.F8E8M0FNU)


def significand(x: Array) -> tuple[Array, Array]:
    """Return finite f64 magnitudes as (s, e) with \\|x\\| = s * 2^e and the top bit of s, a uint64, set; zero is s =
    0."""
    fraction, exponent = np.frexp(np.abs(x))
    return np.ldexp(fraction, 64).astype(np.uint64), exponent.astype(np.int64) - 64


def normalized(bits: Array, exponent: Array) -> tuple[Array, Array]:
    """Return (s, e) of the same value with the top bit of s set; zero stays zero."""
    shift = 64 - bit_length(bits)
    return bits << shift.astype(np.uint64), exponent - shift


def rounded_magnitude(sign: Array, bits: Array, exponent: Array, element: t.ElementType, mode: Rounding) -> Array:
    """Return the patterns, without sign, of bits * 2^exponent rounded once.

    `bits` is a uint64 with its top bit set (or zero), whose last bit may stand for lost ones ("sticky").
    """
    layout = element.layout
    leading = exponent + 63
    smallest = 1 - layout.bias
    dropped = np.minimum(_WORKING_BITS - layout.precision + np.maximum(smallest - leading, 0), _WORKING_BITS + 1)
    kept = _rounded_shift((bits >> np.uint64(2)) | ((bits & np.uint64(3)) != 0), dropped, sign, mode)
    binade = np.maximum(leading - smallest, 0).astype(np.uint64)
    magnitude = np.where(bits == 0, np.uint64(0), (binade << np.uint64(layout.fraction)) + kept)
    return _limited(magnitude, sign, element, mode)


def _rounded_shift(bits: Array, distance: Array, sign: Array, mode: Rounding) -> Array:
    """Return bits / 2^distance rounded to an integer in `mode`; 1 <= distance <= 63 and bits < 2^62."""
    shift = distance.astype(np.uint64)
    kept = bits >> shift
    rest = bits - (kept << shift)
    half = np.uint64(1) << (shift - np.uint64(1))
    return kept + _rounds_up(kept, rest, half, sign, mode)


def _rounds_up(kept: Array, rest: Array, half: Array, sign: Array, mode: Rounding) -> Array:
    if mode is Rounding.NEAREST_EVEN:
        return (rest > half) | ((rest == half) & ((kept & np.uint64(1)) != 0))
    if mode is Rounding.NEAREST_AWAY:
        return rest >= half
    return (rest != 0) & _magnitude_up(sign, mode)


def _magnitude_up(sign: Array, mode: Rounding) -> Array:
    """Mask of the elements whose magnitude the directed `mode` rounds up."""
    if mode is Rounding.ZERO:
        return np.zeros(sign.shape, np.bool_)
    return sign if mode is Rounding.NEGATIVE_INF else ~sign


def _limited(magnitude: Array, sign: Array, element: t.ElementType, mode: Rounding) -> Array:
    """Replace magnitudes beyond the largest finite one by infinity or by it, as format and mode say."""
    special = patterns(element)
    largest = np.uint64(special.largest)
    if special.overflow is None:
        return np.minimum(magnitude, largest)
    nearest = mode in (Rounding.NEAREST_EVEN, Rounding.NEAREST_AWAY)
    infinite = np.ones(sign.shape, np.bool_) if nearest else _magnitude_up(sign, mode)
    return np.where(magnitude > largest, np.where(infinite, np.uint64(special.overflow), largest), magnitude)


def with_sign(magnitude: Array, sign: Array, element: t.ElementType) -> Array:
    """Return patterns of `element` from their magnitude and sign."""
    layout = element.layout
    return magnitude | (sign.astype(np.uint64) << np.uint64(layout.exponent + layout.fraction))


def _fnv8_values() -> Array:
    """Return the value of each pattern of fnv8E5M3FNU: no sign, 5 exponent and 3 fraction bits, subnormals, NaN
    0xff."""
    layout = t.FNV8E5M3FNU.layout
    code = np.arange(256)
    field, fraction = code >> layout.fraction, code & 7
    scale = np.maximum(field, 1) - layout.bias - layout.fraction
    values = np.ldexp((fraction + 8 * (field > 0)).astype(np.float64), scale)
    values[255] = np.nan
    values.flags.writeable = False
    return values


_FNV8_VALUES = _fnv8_values()


def tf32_from_f32(x: Array, mode: Rounding) -> Array:
    """Return f32 rounded to tf32 to nearest even, to nearest away from zero, or towards zero."""
    bits = pattern(x)
    if mode is Rounding.NEAREST_EVEN:
        bits = bits + np.uint32(0xFFF) + ((bits >> np.uint32(t.TF32_UNUSED_BITS)) & np.uint32(1))
    elif mode is Rounding.NEAREST_AWAY:
        bits = bits + np.uint32(0x1000)
    rounded = (bits & np.uint32(t.TF32_MASK)).view(np.float32)
    return np.where(x != x, quiet_nan(t.TF32), rounded)
