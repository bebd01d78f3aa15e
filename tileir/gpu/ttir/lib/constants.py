"""Literals of attributes as TTIR.

Knows: the bits by which an element is held. Does not know: which operations have literals, nor constant tensors with
different elements (`rules.core`).
"""

from __future__ import annotations

from tileir.gpu.ttir.forms import held
from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import TtirType, TtirValue
from tileir.ir import types as t
from tileir.ir.attributes import Attribute, BoolAttr, FloatAttr, IntegerAttr


def literal(build: Builder, attr: Attribute, element: t.ElementType) -> TtirValue:
    """The element that a typed scalar attribute (an identity) stands for. f16 and bf16 may stand for each other."""
    type = TtirType(held(element))
    if isinstance(attr, BoolAttr | IntegerAttr):
        sign = (attr.value >> (element.bits - 1)) & 1 if element is t.I4 else 0
        return build.bits(type, int(attr.value) - (sign << element.bits))
    assert isinstance(attr, FloatAttr), f"expected a number, got {attr!r}"
    if attr.type is not element:
        wide = build.cast("arith.extf", build.bits(TtirType(held(attr.type)), attr.bits), "f32")
        return build.cast("arith.truncf", wide, type.element)
    return build.bits(type, attr.bits << (13 if element is t.TF32 else 0))
