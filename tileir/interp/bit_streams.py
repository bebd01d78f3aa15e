"""Tiles as little-endian bit streams, and back (spec: packing#pack)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tileir.ir.storage import dtype_of
from tileir.ir.types import I1, I4, ElementType, PointerType
from tileir.numerics import nibbles

Array = np.ndarray


def pack_bytes(element: ElementType | PointerType) -> Callable[[Array], Array]:
    """The stream of a rank-1 tile of `element`, as i8."""
    if element is I1:
        return lambda source: np.packbits(source, bitorder="little").view(np.int8)
    if element.bits == 4:
        return lambda source: nibbles.packed(np.ascontiguousarray(source)).view(np.int8)
    return lambda source: np.ascontiguousarray(source).view(np.int8)


def unpack_bytes(element: ElementType | PointerType) -> Callable[[Array], Array]:
    """The rank-1 tile of `element` whose stream the i8 tile is."""
    dtype = dtype_of(element)
    if element is I1:
        return lambda source: np.unpackbits(source.view(np.uint8), bitorder="little").view(dtype)
    if element is I4:
        return lambda source: _sign_extended(nibbles.unpacked(source))
    if element.bits == 4:
        return lambda source: nibbles.unpacked(source).view(dtype)
    return lambda source: np.ascontiguousarray(source).view(dtype)


def _sign_extended(patterns: Array) -> Array:
    return ((patterns ^ np.uint8(8)).view(np.int8)) - np.int8(8)
