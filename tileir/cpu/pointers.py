"""Native code for memory through pointers (specification 8.6).

A tile of pointers is an expression like any other, so a load computes its addresses in the loop that reads; LLVM turns
neighbouring addresses into vector accesses and the rest into gathers. Elements are read where the load stands.
"""

from __future__ import annotations

from llvmlite import ir

from tileir.cpu.constants import zero
from tileir.cpu.contiguity import unit_dimension
from tileir.cpu.deferral import deferred, harmless_here
from tileir.cpu.elements import I8, I64, Num, memory_bytes, memory_type
from tileir.cpu.emitter import ARENA_ALIGNMENT, Emitter, Index
from tileir.cpu.lowering import Lower, Lowering
from tileir.cpu.tiles import Expression, Permuted, Scalar, Tile, from_memory, materialized, pointer_to, to_memory, wide
from tileir.ir import types as t
from tileir.ir.attributes import MemoryOrdering
from tileir.ir.core import Op, Value
from tileir.ir.rules import Rules
from tileir.ops import core, matmul, memory

rules: Rules[Lower] = Rules()

ORDERINGS = {
    MemoryOrdering.RELAXED: "monotonic",
    MemoryOrdering.ACQUIRE: "acquire",
    MemoryOrdering.RELEASE: "release",
    MemoryOrdering.ACQ_REL: "acq_rel",
}


@rules(memory.MakeToken, memory.JoinTokens, memory.GdcLaunchDependents, memory.GdcWait, memory.MemoryFenceAlias)
def lower_token(lowering: Lowering, op: Op) -> None:
    """Code runs in program order, so a token needs none; the fences concern hardware that a CPU does not have."""
    lowering.values[op.results[0]] = None


@rules(memory.LoadPtr)
def lower_load_ptr(lowering: Lowering, op: memory.LoadPtr) -> None:
    type, pointers = op.result.type, lowering.tile(op.source)
    mask = None if op.mask is None else lowering.tile(op.mask)
    otherwise = None if op.paddingValue is None else lowering.tile(op.paddingValue)
    ordering = op.memory_ordering_semantics
    later = deferred(lowering, op)
    if later:
        mask, otherwise = (_known(lowering, value) for value in (op.mask, op.paddingValue))

    def compute(emit: Emitter, index: Index) -> Num:
        if mask is None:
            return load_element(emit, type.element, pointers.at(emit, index), ordering)
        other = zero(type.element) if otherwise is None else otherwise.at(emit, index)
        return _masked_load(emit, type.element, pointers.at(emit, index), mask.at(emit, index), other, ordering)

    loaded = Expression(type, compute)
    lowering.values[op.result] = loaded if later else _read(lowering, op, loaded)
    lowering.values[op.result_token] = None


def _known(lowering: Lowering, value: Value | None) -> Tile | None:
    """A tile without anything in it that is still to be read from memory."""
    if value is None or isinstance(value.op, core.Constant):
        return None if value is None else lowering.tile(value)
    return materialized(lowering.emit, lowering.tile(value))


def _read(lowering: Lowering, op: memory.LoadPtr, elements: Expression) -> Tile:
    """The tile read now; for a matrix product in the order of memory, which is as good as any other for it."""
    fast, users = unit_dimension(op.source), lowering.fusion.users(op.result)
    if fast is None or not all(isinstance(user, matmul.MmaF | matmul.MmaI) for user in users):
        return materialized(lowering.emit, elements)
    order = [*(dim for dim in range(elements.type.rank) if dim != fast), fast]
    turned = t.tile(elements.element, *(elements.type.shape[dim] for dim in order))
    buffer = materialized(lowering.emit, Permuted(turned, elements, order))
    return Permuted(elements.type, buffer, [order.index(dim) for dim in range(len(order))])


def load_element(emit: Emitter, element: t.ElementType | t.PointerType, pointer: Num, ordering: MemoryOrdering) -> Num:
    builder, size = emit.builder, memory_bytes(element)
    address = pointer_to(builder, pointer)
    if ordering is MemoryOrdering.WEAK:
        loaded = emit.independent(builder.load(address, typ=memory_type(element), align=size))
    else:
        loaded = builder.load_atomic(address, ORDERINGS[ordering], size, typ=memory_type(element))
    return from_memory(builder, element, loaded)


def _masked_load(
    emit: Emitter,
    element: t.ElementType | t.PointerType,
    pointer: Num,
    mask: Num,
    otherwise: Num,
    ordering: MemoryOrdering,
) -> Num:
    builder = emit.builder
    other = to_memory(builder, otherwise)
    address_known = pointer_to(builder, pointer)
    before = builder.block
    with builder.if_then(wide(builder, mask)):
        loaded = to_memory(builder, load_element(emit, element, _at(element, address_known), ordering))
        reading = builder.block
    chosen = builder.phi(memory_type(element))
    chosen.add_incoming(other, before)
    chosen.add_incoming(loaded, reading)
    return from_memory(builder, element, chosen)


def _at(element: t.ElementType | t.PointerType, address: ir.Value) -> Num:
    return Num(element, wide=I64(0), base=address)


@rules(memory.StorePtr)
def lower_store_ptr(lowering: Lowering, op: memory.StorePtr) -> None:
    lowering.settle_all(op)
    emit, ordering = lowering.emit, op.memory_ordering_semantics
    pointers, value = lowering.tile(op.destination), lowering.tile(op.value)
    mask = None if op.mask is None else lowering.tile(op.mask)
    harmless = harmless_here(lowering, op)
    if harmless is None:
        _store(emit, pointers, materialized(emit, value), mask, ordering)
    else:
        with emit.builder.if_else(harmless, likely=True) as (at_once, apart):
            with at_once:
                _store(emit, pointers, value, mask, ordering)
            with apart, emit.region():
                # What is loaded may decide the mask as well.
                kept = None if mask is None else materialized(emit, mask)
                _store(emit, pointers, materialized(emit, value), kept, ordering)
    lowering.values[op.result_token] = None


def _store(emit: Emitter, pointers: Tile, value: Tile, mask: Tile | None, ordering: MemoryOrdering) -> None:
    def body(index: Index) -> None:
        if mask is None:
            store_element(emit, pointers, value, index, ordering)
            return
        with emit.when(wide(emit.builder, mask.at(emit, index))):
            store_element(emit, pointers, value, index, ordering)

    emit.loop_nest(value.type.shape, body)


def store_element(emit: Emitter, pointers: Tile, value: Tile, index: Index, ordering: MemoryOrdering) -> None:
    builder, size = emit.builder, memory_bytes(value.element)
    address = pointer_to(builder, pointers.at(emit, index))
    stored = to_memory(builder, value.at(emit, index))
    if ordering is MemoryOrdering.WEAK:
        emit.independent(builder.store(stored, address, align=size))
    else:
        store_ordered(builder, stored, address, ordering, size)


def store_ordered(
    builder: ir.IRBuilder, stored: ir.Value, address: ir.Value, ordering: MemoryOrdering, size: int
) -> None:
    """An atomic store. The builder's own wants to know what the pointer points to, which opaque pointers do not say."""
    builder._insert(ir.instructions.StoreAtomicInstr(builder.block, stored, address, ORDERINGS[ordering], size))


@rules(memory.Alloca)
def lower_alloca(lowering: Lowering, op: memory.Alloca) -> None:
    """Arena space of the region around; an alignment beyond the arena's is made by moving up."""
    emit, builder = lowering.emit, lowering.builder
    type = op.result.type
    assert isinstance(type, t.TileType) and isinstance(type.element, t.PointerType)
    size = -(-op.num_elem * type.element.pointee.memory_bits // 8)
    base = emit.buffer(size + max(0, op.alignment - ARENA_ALIGNMENT))
    if op.alignment > ARENA_ALIGNMENT:
        address = builder.ptrtoint(base, I64)
        up = builder.and_(builder.neg(address), I64(op.alignment - 1))
        base = builder.gep(base, [up], source_etype=I8)
    lowering.values[op.result] = Scalar(type, Num(type.element, wide=I64(0), base=base))
