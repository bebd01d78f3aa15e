"""Turning the functions of a test program into entries, whose bodies make the values that were arguments.

Bytecode has entries with scalar arguments only, so this is how the rules are compared with the reference tools.
"""

from __future__ import annotations

from typing import Any

from tileir.ir import types as t
from tileir.ir.attributes import DenseElements
from tileir.ir.core import Block, Module, Op, Value
from tileir.ops import OPS
from tileir.ops.calls import Func
from tileir.ops.module import Entry

_VIEWS = {
    t.PartitionViewType: "make_partition_view",
    t.StridedViewType: "make_strided_view",
    t.GatherScatterViewType: "make_gather_scatter_view",
}


def with_entries(module: Module) -> Module:
    """The same module, changed in place: every function is an entry without arguments and results."""
    body = Block()
    for item in module.items:
        body.append(_entry(item) if isinstance(item, Func) else item)
    module.op.regions = (body,)
    body.parent = module.op
    return module


def _entry(function: Op) -> Op:
    old, body = function.regions[0], Block()
    assert old is not None
    values = {argument: _value(argument.type, body) for argument in old.args}
    for op in function.walk():
        op.operands = [values.get(operand, operand) for operand in op.operands]
    for op in old.ops:
        body.append(op)
    name = function.attributes["sym_name"]
    return Entry.build(sym_name=name, function_type=t.FunctionType(()), body=body, loc=function.loc)


def _value(type: t.Type, body: Block) -> Value:
    """A value of any type, made by operations added to `body`."""
    if isinstance(type, t.TileType):
        return _tile(type, body)
    if isinstance(type, t.TensorViewType):
        base = _value(t.tile(t.PointerType(type.element, type.attr)), body)
        extent = _value(t.tile(t.I32), body)
        shape, strides = ([extent] * entries.count(None) for entries in (type.shape, type.strides))
        return _made(body, "make_tensor_view", type, base=base, dynamicShape=shape, dynamicStrides=strides)
    if isinstance(type, t.TileViewType):
        return _made(body, _VIEWS[type.__class__], type, tensor_view=_value(type.tensor_view, body))
    return _made(body, "make_token", type)


def _tile(type: t.TileType, body: Block) -> Value:
    if isinstance(type.element, t.PointerType):
        return _made(body, "int_to_ptr", type, source=_value(type.with_element(t.I64), body))
    if type.element is t.I4:
        return _made(body, "trunci", type, **{"from": _value(type.with_element(t.I8), body)})
    zero = DenseElements(type, bytes(type.element.byte_size))
    return _made(body, "constant", type, value=zero)


def _made(body: Block, name: str, type: t.Type, **fields: Any) -> Value:
    return body.append(OPS[name].build([type], **fields)).results[0]
