"""Loads through pointers that are left to the loop of the store that needs them.

Knows: for which loads that is worth trying, and the test, when the code runs, that it changes nothing: no element is
written before another one that lies in the same memory has been read. Does not know: how elements are read and written
(`cpu.pointers`).
"""

from __future__ import annotations

from llvmlite import ir

from tileir.cpu.fusion import fusible
from tileir.cpu.lowering import Lowering
from tileir.cpu.spans import even, harmless, span
from tileir.ir import types as t
from tileir.ir.attributes import MemoryOrdering
from tileir.ir.core import Op, Value
from tileir.ops import memory


def deferred(lowering: Lowering, op: memory.LoadPtr) -> bool:
    """Whether elements are read in the loop of the one store that needs them, where the test finds that harmless.

    Nothing between the two may change memory.
    """
    store = _only_reader(lowering, op)
    if store is None or store.parent is not op.parent or op.result.type.shape != store.value.type.shape:
        return False
    weak = op.memory_ordering_semantics is store.memory_ordering_semantics is MemoryOrdering.WEAK
    if not weak or not lowering.fusion.read_in_place(op.result, store):
        return False
    return _is_even(op.source) and _is_even(store.destination) and all(map(_is_quiet, _between(op, store)))


def _only_reader(lowering: Lowering, op: memory.LoadPtr) -> memory.StorePtr | None:
    readers = lowering.fusion.readers(op.result)
    reader = next(iter(readers), None)
    return reader if len(readers) == 1 and isinstance(reader, memory.StorePtr) else None


def _is_even(pointers: Value) -> bool:
    assert isinstance(pointers.type, t.TileType) and isinstance(pointers.type.element, t.PointerType)
    return pointers.type.count > 1 and pointers.type.element.pointee.memory_bits >= 8 and even(pointers)


def _between(first: Op, last: Op) -> list[Op]:
    assert first.parent is not None
    ops = first.parent.ops
    return ops[ops.index(first) + 1 : ops.index(last)]


def _is_quiet(op: Op) -> bool:
    """An operation that changes no memory."""
    return not op.regions and (fusible(op) or isinstance(op, memory.LoadPtr | memory.JoinTokens | memory.MakeToken))


def harmless_here(lowering: Lowering, op: memory.StorePtr) -> ir.Value | None:
    """An i1: whether the loads left to the loop of `op` may be read there. None if there are none."""
    loads = _waiting(lowering, op)
    if not loads:
        return None
    emit, builder = lowering.emit, lowering.builder
    written = span(emit, lowering.tile(op.destination))
    found: ir.Value = ir.IntType(1)(1)
    for load in loads:
        found = builder.and_(found, harmless(builder, span(emit, lowering.tile(load.source)), written))
    return found


def _waiting(lowering: Lowering, op: memory.StorePtr) -> list[memory.LoadPtr]:
    assert op.parent is not None
    loads = [other for other in op.parent.ops if isinstance(other, memory.LoadPtr)]
    return [load for load in loads if _only_reader(lowering, load) is op and deferred(lowering, load)]
