"""How elements lie in memory (specification, semantics 5), and what stands outside a tensor.

Knows: reading i1 (any byte other than 0 is true) and tf32 (the low 13 bits do not count), writing them, the patterns of
padding values. Does not know: addresses. Elements of f4E2M1FN, two to a byte, are a matter of `nibbles`.
"""

from __future__ import annotations

from tileir.gpu.ttir.builder import Builder
from tileir.gpu.ttir.code import Type, Value
from tileir.gpu.ttir.forms import held, stored
from tileir.ir import types as t
from tileir.ir.types import PaddingValue

TF32_BITS = 0xFFFFE000


def from_memory(build: Builder, element: t.ElementType | t.PointerType, loaded: Value) -> Value:
    """Elements as tiles hold them, from what was loaded."""
    if element is t.I1:
        return build.compare("ne", loaded, build.integer(loaded.type, 0))
    if element is t.TF32:
        words = build.bitcast(loaded, "i32")
        return build.bitcast(build.op("arith.andi", words, build.integer(words.type, TF32_BITS)), "f32")
    return loaded


def to_memory(build: Builder, element: t.ElementType | t.PointerType, tile: Value) -> Value:
    """What is to be stored for elements as tiles hold them."""
    return build.resized(tile, "i8", signed=False) if element is t.I1 else tile


def padding(build: Builder, element: t.ElementType, value: PaddingValue | None, shape: tuple[int, ...]) -> Value | None:
    """Elements outside a tensor as they would lie in memory; 0 where the view does not say.

    None if the element type lacks the value.
    """
    pattern = padding_bits(element, value or PaddingValue.ZERO)
    return None if pattern is None else build.bits(Type(stored(element), shape), pattern)


def padding_bits(element: t.ElementType, value: PaddingValue) -> int | None:
    """The bits of a padding value in memory; None if the type lacks it."""
    layout = element.format
    if value is PaddingValue.ZERO:
        return 0
    if layout is None:
        return None
    width = layout.exponent + layout.fraction
    shift = Type(held(element)).bits - element.bits if element is t.TF32 else 0
    infinity = ((1 << layout.exponent) - 1) << layout.fraction
    if value is PaddingValue.NEG_ZERO:
        return 1 << (width + shift) if layout.signed else None
    if value is PaddingValue.NAN:
        quiet = infinity | 1 << (layout.fraction - 1) if layout.has_inf else (1 << width) - 1
        return quiet << shift if layout.has_nan else None
    sign = 1 << width if value is PaddingValue.NEG_INF else 0
    return (sign | infinity) << shift if layout.has_inf else None
