"""Typed number attributes as scalars.

Knows: how the identity of a reduction, an attribute, becomes an element of a tile.
Does not know: dense constants (`core`).
"""

from __future__ import annotations

import numpy as np

from tileir.interp.numerics.formats import stored
from tileir.ir.attributes import Attribute, BoolAttr, FloatAttr, IntegerAttr
from tileir.ir.storage import bits_dtype, dtype_of
from tileir.ir.types import ElementType, PointerType


def scalar(literal: Attribute, element: ElementType | PointerType) -> np.ndarray:
    """The literal as an `element`; a float of another type (f16 and bf16 may be exchanged) is converted."""
    assert isinstance(element, ElementType)
    if isinstance(literal, FloatAttr):
        value = stored(np.asarray(literal.bits, np.uint64), literal.type)
        return value[()] if literal.type is element else value.astype(dtype_of(element))[()]
    assert isinstance(literal, IntegerAttr | BoolAttr), f"expected a number, got {literal!r}"
    if element.bits == 1:
        return np.bool_(literal.value)  # type: ignore[return-value]
    bits = bits_dtype(element)
    return bits.type(literal.value % (1 << 8 * bits.itemsize)).view(dtype_of(element))
