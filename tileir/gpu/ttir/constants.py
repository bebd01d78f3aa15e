"""TTIR of numbers known when the code is made: `constant`, and the literals of attributes (specification 8.3).

Knows: that one value for all elements is an instruction, and that other contents lie in memory, as TTIR has no constant
tensor with different elements. Does not know: how elements are held (`ttir.forms`).
"""

from __future__ import annotations

from tileir.gpu.ttir import code
from tileir.gpu.ttir.builder import Builder
from tileir.gpu.ttir.cells import from_memory
from tileir.gpu.ttir.code import Number, Type, Value
from tileir.gpu.ttir.forms import held, stored
from tileir.gpu.ttir.lowering import ConstantMemory, Lower, Lowering
from tileir.ir import types as t
from tileir.ir.attributes import Attribute, BoolAttr, FloatAttr, IntegerAttr
from tileir.ir.rules import Rules
from tileir.ops.core import Constant

rules: Rules[Lower] = Rules()

_LOAD: dict[str, code.Attribute | Number] = {
    "operandSegmentSizes": (1, 0, 0),
    "cache": 1,
    "evict": 1,
    "isVolatile": False,
}


@rules(Constant)
def lower_constant(lowering: Lowering, op: Constant) -> None:
    content = op.value
    if content.is_splat:
        number = int.from_bytes(content.data, "little")
        lowering.bind(op.result, lowering.build.bits(lowering.type_of(op.result), number))
    else:
        lowering.bind(op.result, _from_constant_memory(lowering, op.result.type, content.data))


def _from_constant_memory(lowering: Lowering, type: t.TileType, data: bytes) -> Value:
    build, element = lowering.build, type.element
    assert isinstance(element, t.ElementType)
    address = lowering.parameter(ConstantMemory(data), stored(element))
    addresses = build.op("tt.addptr", build.splat(address, type.count), build.range(type.count))
    loaded = build.insert("tt.load", [addresses], [Type(stored(element), (type.count,))], dict(_LOAD))
    return build.reshape(from_memory(build, element, loaded[0]), *type.shape)


def literal(build: Builder, attr: Attribute, element: t.ElementType) -> Value:
    """The element that a typed scalar attribute (an identity) stands for. f16 and bf16 may stand for each other."""
    type = Type(held(element))
    if isinstance(attr, BoolAttr | IntegerAttr):
        sign = (attr.value >> (element.bits - 1)) & 1 if element is t.I4 else 0
        return build.bits(type, int(attr.value) - (sign << element.bits))
    assert isinstance(attr, FloatAttr), f"expected a number, got {attr!r}"
    if attr.type is not element:
        wide = build.cast("arith.extf", build.bits(Type(held(attr.type)), attr.bits), "f32")
        return build.cast("arith.truncf", wide, type.element)
    return build.bits(type, attr.bits << (13 if element is t.TF32 else 0))
