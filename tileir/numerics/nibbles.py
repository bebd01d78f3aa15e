"""Patterns of four bits, two to a byte, the even one in the low half (spec: memory#layout)."""

from __future__ import annotations

import numpy as np

from tileir.numerics.bits import Array

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
