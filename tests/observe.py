"""Makes the values of a program visible: every tile an entry computes is also stored to an array of its own.

Works on the module itself, before it is launched, so the same observation serves every target. Values in the bodies of
`reduce`, `scan` and `generate` are left alone (only pure operations may stand there), as are tokens and views.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tileir.ir import types as t
from tileir.ir.attributes import MemoryOrdering, Signedness
from tileir.ir.core import Block, Op, Value
from tileir.ir.storage import DTYPES
from tileir.ops import control, conversion, core, pointers, shapes
from tileir.ops.module import Entry

_STRUCTURED = (control.If, control.For, control.Loop)


@dataclass
class Observed:
    """One value: the operation that defines it, which result, and the array it is stored to."""

    op: Op
    result: int
    array: np.ndarray


def observe(entry: Entry) -> list[Observed]:
    """Add a pointer parameter and a store for every value; the arrays are to be passed after the own arguments."""
    observed: list[Observed] = []
    _observe_block(entry.body, entry, observed)
    inputs = tuple(argument.type for argument in entry.body.args)
    entry.attributes["function_type"] = t.FunctionType(inputs)
    return observed


def _observe_block(block: Block, entry: Entry, observed: list[Observed]) -> None:
    ops, block.ops = block.ops, []
    for op in ops:
        if isinstance(op, _STRUCTURED):
            for region in op.regions:
                if region is not None:
                    _observe_block(region, entry, observed)
        block.append(op)
        for result in op.results:
            _store(block, entry, result, observed)


def _store(block: Block, entry: Entry, value: Value, observed: list[Observed]) -> None:
    stored = _storable(block, value)
    if stored is None:
        return
    type = stored.type
    assert isinstance(type, t.TileType)
    assert isinstance(type.element, t.ElementType)
    pointer_type = t.PointerType(type.element)
    pointer = Value(t.tile(pointer_type), entry.body, len(entry.body.args))
    entry.body.args.append(pointer)
    places = addresses(block, pointer, pointer_type, type)
    ordering = MemoryOrdering.WEAK
    block.append(
        pointers.StorePtr.build([t.TOKEN], memory_ordering_semantics=ordering, destination=places, value=stored)
    )
    observed.append(Observed(value.op, value.index, np.zeros(type.shape, DTYPES[type.element])))


def _storable(block: Block, value: Value) -> Value | None:
    """The value, or an equal one that a pointer can point to; None for what has no elements in memory."""
    type = value.type
    if not isinstance(type, t.TileType) or type.element is t.F4E2M1FN:
        return None
    if isinstance(type.element, t.PointerType):
        return block.append(conversion.PtrToInt.build([type.with_element(t.I64)], source=value)).results[0]
    if type.element is t.I4:
        wide = type.with_element(t.I8)
        return block.append(conversion.ExtI.build([wide], **{"from": value, "signedness": Signedness.SIGNED})).results[
            0
        ]
    return value


def addresses(block: Block, pointer: Value, pointer_type: t.PointerType, type: t.TileType) -> Value:
    """The address of each element of a dense tile of `type` at `pointer`."""
    if type.rank == 0:
        return pointer
    ones, many = t.TileType((1,) * type.rank, pointer_type), type.with_element(pointer_type)
    reshaped = block.append(shapes.Reshape.build([ones], source=pointer)).results[0]
    repeated = block.append(shapes.Broadcast.build([many], source=reshaped)).results[0]
    counted = block.append(core.Iota.build([t.tile(t.I32, type.count)])).results[0]
    steps = block.append(shapes.Reshape.build([type.with_element(t.I32)], source=counted)).results[0]
    return block.append(core.Offset.build([many], ptr=repeated, offset=steps)).results[0]
