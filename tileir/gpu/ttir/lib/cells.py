"""Elements as they lie in memory (spec: memory#layout), and the values outside a tensor.

Knows: reading i1 (any byte other than 0 is true) and tf32 (the low 13 bits do not count), writing them, the patterns of
padding values. Does not know: addresses. Elements of f4E2M1FN, two to a byte, are a matter of `nibbles`.
"""

from __future__ import annotations

from tileir.gpu.ttir.forms import stored
from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import TtirType, TtirValue
from tileir.ir import types as t
from tileir.ir.types import PaddingValue


def from_memory(build: Builder, element: t.ElementType | t.PointerType, loaded: TtirValue) -> TtirValue:
    """Elements as tiles hold them, from what was loaded."""
    if element is t.I1:
        return build.compare("ne", loaded, build.integer(loaded.type, 0))
    if element is t.TF32:
        words = build.bitcast(loaded, "i32")
        return build.bitcast(build.op("arith.andi", words, build.integer(words.type, t.TF32_MASK)), "f32")
    return loaded


def to_memory(build: Builder, element: t.ElementType | t.PointerType, tile: TtirValue) -> TtirValue:
    """The content of memory for elements as tiles hold them."""
    return build.resized(tile, "i8", signed=False) if element is t.I1 else tile


def padding(
    build: Builder, element: t.ElementType, value: PaddingValue | None, shape: tuple[int, ...]
) -> TtirValue | None:
    """Elements outside a tensor as they would lie in memory; 0 where the view does not say.

    None if the element type lacks the value.
    """
    pattern = element.padding_bits(value or PaddingValue.ZERO)
    return None if pattern is None else build.bits(TtirType(stored(element), shape), pattern)
