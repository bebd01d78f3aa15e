"""Tiles as little-endian bit streams, and back (specification, operations 3.13).

Knows: elements of 1 bit (lowest bit first), 4 bits (low nibble first) and whole bytes.
Does not know: operations.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tileir.ir.storage import dtype_of
from tileir.ir.types import I1, I4, ElementType, PointerType

Array = np.ndarray
_NIBBLE = np.uint8(15)


def pack_bytes(element: ElementType | PointerType) -> Callable[[Array], Array]:
    """The stream of a rank-1 tile of `element`, as i8."""
    if element is I1:
        return lambda source: np.packbits(source, bitorder="little").view(np.int8)
    if element.bits == 4:
        return _pack_nibbles
    return lambda source: np.ascontiguousarray(source).view(np.int8)


def unpack_bytes(element: ElementType | PointerType) -> Callable[[Array], Array]:
    """The rank-1 tile of `element` whose stream the i8 tile is."""
    dtype = dtype_of(element)
    if element is I1:
        return lambda source: np.unpackbits(source.view(np.uint8), bitorder="little").view(dtype)
    if element is I4:
        return lambda source: _sign_extended(_nibbles(source))
    if element.bits == 4:
        return lambda source: _nibbles(source).view(dtype)
    return lambda source: np.ascontiguousarray(source).view(dtype)


def _pack_nibbles(source: Array) -> Array:
    patterns = np.ascontiguousarray(source).view(np.uint8) & _NIBBLE
    return (patterns[0::2] | (patterns[1::2] << np.uint8(4))).view(np.int8)


def _nibbles(source: Array) -> Array:
    """Two patterns per byte, the low one first."""
    stream = source.view(np.uint8)
    return np.stack((stream & _NIBBLE, stream >> np.uint8(4)), axis=-1).reshape(-1)


def _sign_extended(nibbles: Array) -> Array:
    return ((nibbles ^ np.uint8(8)).view(np.int8)) - np.int8(8)
