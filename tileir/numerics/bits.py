"""Bit patterns of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
"""An array of any element type: the element type is known to the function that is called, not to Python."""

UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}
SIGNED = {size: np.dtype(f"i{size}") for size in (1, 2, 4, 8)}
_LOW_HALF = np.uint64(0xFFFFFFFF)
_HALF_WIDTH = np.uint64(32)


def pattern(x: Array) -> Array:
    """Return the bit patterns of `x`, as unsigned integers of the same size."""
    return x.view(UNSIGNED[x.dtype.itemsize])


def stepped(x: Array, outward: Array, inward: Array) -> Array:
    """Return the floats next to `x`: away from zero where `outward`, towards zero where `inward`.

    The patterns of one sign are ordered like the magnitudes, so the step crosses binades, reaches infinity from the
    largest finite number, and the other way round.
    """
    return (pattern(x) + outward - inward).view(x.dtype)


def is_odd(x: Array) -> Array:
    """Return whether the last bit of each integer is set."""
    return (x & x.dtype.type(1)).astype(np.bool_)


def bit_length(x: Array) -> Array:
    """Number of bits of each unsigned 64-bit integer, 0 for 0, as int64."""
    high = x >> _HALF_WIDTH
    half = np.where(high != 0, high, x)
    length: Array = np.frexp(half.astype(np.float64))[1].astype(np.int64)
    return length + 32 * (high != 0)


def wide_product(x: Array, y: Array) -> tuple[Array, Array]:
    """Return the high and low halves of the 128-bit products of unsigned 64-bit integers."""
    x_high, x_low = x >> _HALF_WIDTH, x & _LOW_HALF
    y_high, y_low = y >> _HALF_WIDTH, y & _LOW_HALF
    low_product = x_low * y_low
    middle = x_high * y_low + (low_product >> _HALF_WIDTH)
    carry = x_low * y_high + (middle & _LOW_HALF)
    high = x_high * y_high + (middle >> _HALF_WIDTH) + (carry >> _HALF_WIDTH)
    return high, (carry << _HALF_WIDTH) | (low_product & _LOW_HALF)


def signed(x: Array) -> Array:
    """Return the signed reading of integers held as `ir.storage` says: i1 true is -1."""
    return -x.view(np.int8) if x.dtype == np.bool_ else x


def unsigned(x: Array) -> Array:
    """Return the unsigned reading of integers held as `ir.storage` says: i1 true is 1."""
    return pattern(x)


def wrapped(x: Array, dtype: np.dtype[Any]) -> Array:
    """Return integers modulo 2^width as `dtype` holds them; `x` is at least that wide."""
    if x.dtype == dtype:
        return x
    if dtype == np.bool_:
        return is_odd(x)
    return x.view(dtype) if x.dtype.itemsize == dtype.itemsize else x.astype(dtype)


def first_index(mask: Array) -> tuple[int, ...]:
    """Return the place of the first true element in row-major order."""
    return tuple(int(position) for position in np.unravel_index(int(np.argmax(mask)), mask.shape))


LOW = np.uint8(0x0F)
FOUR = np.uint8(4)


def packed(patterns: Array) -> Array:
    """Return bytes (uint8) that each hold two neighbours along the last dimension, of an even extent."""
    bits = patterns.view(np.uint8) & LOW
    result: Array = bits[..., 0::2] | bits[..., 1::2] << FOUR
    return result


def unpacked(pairs: Array) -> Array:
    """Return the patterns (uint8, 0 to 15) in bytes, twice as many along the last dimension."""
    stream = pairs.view(np.uint8)
    halves = np.stack((stream & LOW, stream >> FOUR), axis=-1)
    return halves.reshape(*stream.shape[:-1], -1)
