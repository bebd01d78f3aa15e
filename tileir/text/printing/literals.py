"""Text of the elements of a constant (spec: literals#element-lists).

Knows: the splat, list and hexadecimal spellings of `DenseElements`, and the bit pattern of each element.
Does not know: the spelling of one float (`text.numbers`), nor what stands around the elements.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from tileir.ir import tf32
from tileir.ir.attributes import DenseElements
from tileir.ir.types import I1, TF32, TF32_UNUSED_BITS, ElementType
from tileir.text.numbers import float_text

MAX_LISTED = 100
"""A constant of more elements than this is written as one hexadecimal string, unless all are equal."""
_CODES = {8: "B", 16: "H", 32: "I", 64: "Q"}


def patterns(dense: DenseElements) -> list[int]:
    """The bit pattern of every held element (one for a splat); tf32 patterns have 19 bits."""
    element = dense.element
    code = _CODES[max(8, element.memory_bits)]
    found = [pattern for (pattern,) in struct.iter_unpack(f"<{code}", dense.data)]
    return [pattern >> TF32_UNUSED_BITS for pattern in found] if element is TF32 else found


def integer_value(pattern: int, element: ElementType) -> int:
    """The signed reading of a pattern; of i1 it is 0 or 1."""
    if element is I1:
        return pattern & 1
    half = 1 << (element.bits - 1)
    return (pattern & (2 * half - 1) ^ half) - half


def element_text(pattern: int, element: ElementType) -> str:
    if element.is_float:
        return float_text(pattern, element)
    if element is I1:
        return "true" if pattern else "false"
    return str(integer_value(pattern, element))


def elements_text(dense: DenseElements) -> str:
    """A single number for a splat, nested lists, or a string of hexadecimal digits for many elements."""
    element = dense.element
    if not dense.is_splat and dense.type.count > MAX_LISTED:
        return f'"0x{_packed(dense).hex().upper()}"'
    texts = (element_text(pattern, element) for pattern in patterns(dense))
    return next(texts) if dense.is_splat else _nested(texts, dense.type.shape)


def literal_text(dense: DenseElements) -> str:
    """``<f32: 1.000000e+00>``"""
    return f"<{dense.element.name}: {elements_text(dense)}>"


def _nested(texts: Iterator[str], shape: tuple[int, ...]) -> str:
    if not shape:
        return next(texts)
    return f"[{', '.join(_nested(texts, shape[1:]) for _ in range(shape[0]))}]"


def _packed(dense: DenseElements) -> bytes:
    """The elements one after the other, each in the fewest whole bytes: tf32 takes three."""
    return tf32.packed(dense.data) if dense.element is TF32 else dense.data
