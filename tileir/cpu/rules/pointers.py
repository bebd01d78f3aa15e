"""Native code for memory through pointers (spec: pointers#top), for memory of the tile block's own, and for atomics."""

from __future__ import annotations

from llvmlite import ir

from tileir.analysis.effects import MemoryAccess
from tileir.cpu.emit.elements import I1, I8, I64, Num
from tileir.cpu.emit.emitter import ARENA_ALIGNMENT, Index
from tileir.cpu.emit.tiles import Bounds, Scalar, materialized, wide
from tileir.cpu.lowering.reports import Broken, warn_if, warn_where
from tileir.cpu.lowering.state import Lower, Lowering
from tileir.cpu.memory.bounds import add_allocation
from tileir.cpu.memory.elements import exchange_element
from tileir.cpu.memory.loads import load
from tileir.cpu.memory.stores import combine_at_pointers, reduce_into_view, store, update_pointers
from tileir.cpu.memory.strict import any_twice, check_edges, new_marks
from tileir.host import undefined
from tileir.host.limits import MAX_STORAGE, no_storage
from tileir.ir.attributes import MemoryOrdering
from tileir.ir.core import Op, Value
from tileir.ir.rules import Rules
from tileir.ops import atomics, pointers

rules: Rules[Lower] = Rules()
strict: Rules[Lower] = Rules()


@rules(
    pointers.MakeToken, pointers.JoinTokens, pointers.GdcLaunchDependents, pointers.GdcWait, pointers.MemoryFenceAlias
)
def lower_token(lowering: Lowering, op: Op) -> None:
    """Emit nothing: code runs in program order, and the fences concern hardware that a CPU does not have."""


def _is_off(lowering: Lowering, mask: Value) -> Broken:
    """Return a condition that holds where an element of a mask is 0."""
    emit, tile = lowering.emit, lowering.tile(mask)
    return lambda index: emit.builder.not_(wide(emit.builder, tile.at(emit, index)))


@rules(pointers.LoadPtr)
def lower_load_ptr(lowering: Lowering, op: pointers.LoadPtr) -> None:
    load(lowering, MemoryAccess.of(op))


@strict(pointers.LoadPtr)
def check_load(lowering: Lowering, op: pointers.LoadPtr) -> None:
    if op.mask is not None and op.paddingValue is None:
        warn_where(lowering, op, op.mask.tile, _is_off(lowering, op.mask), undefined.UNPADDED_MASK)


@rules(pointers.StorePtr)
def lower_store_ptr(lowering: Lowering, op: pointers.StorePtr) -> None:
    store(lowering, MemoryAccess.of(op))


@strict(pointers.StorePtr)
def check_store(lowering: Lowering, op: pointers.StorePtr) -> None:
    """Look for equal addresses: a data race if the store is weak, otherwise any of the values may stay."""
    if op.destination.tile.count == 1:
        return
    mask = None if op.mask is None else lowering.tile(op.mask)
    twice = any_twice(lowering, lowering.tile(op.destination), mask)
    if op.memory_ordering_semantics is MemoryOrdering.WEAK:
        lowering.emit.trap_if(twice, op, undefined.WEAK_DUPLICATES)
    else:
        warn_if(lowering, twice, op, undefined.DUPLICATES)


@rules(pointers.Alloca)
def lower_alloca(lowering: Lowering, op: pointers.Alloca) -> None:
    """Allocate arena space of the enclosing region; an alignment beyond the arena's is made by moving up."""
    emit, builder = lowering.emit, lowering.builder
    type, element = op.result.type, op.result.type.pointer.pointee
    size, alignment = element.memory_size(op.num_elem), max(op.alignment, element.alignment)
    held = sum(one.size for one in lowering.allocations)
    if held + size > MAX_STORAGE or alignment > MAX_STORAGE:
        emit.trap_if(I1(1), op, no_storage(size, alignment))
        lowering.values[op.result] = Scalar(type, Num(type.element, wide=I64(0)))
        return
    base = emit.buffer(size + max(0, op.alignment - ARENA_ALIGNMENT))
    if op.alignment > ARENA_ALIGNMENT:
        address = builder.ptrtoint(base, I64)
        up = builder.and_(builder.neg(address), I64(op.alignment - 1))
        base = builder.gep(base, [up], source_etype=I8)
    begin = builder.ptrtoint(base, I64)
    end = builder.add(begin, I64(size))
    marks = new_marks(lowering, size) if lowering.strict else None
    bounds = Bounds(begin, end, end, end, marks, size)
    add_allocation(lowering, bounds)
    if lowering.checked:
        lowering.bounds[id(base)] = bounds
    lowering.values[op.result] = Scalar(type, Num(type.element, wide=I64(0), base=base))


# ---------------------------------------------------------------- atomics


@rules(atomics.AtomicRmw)
def lower_atomic_rmw(lowering: Lowering, op: atomics.AtomicRmw) -> None:
    argument = materialized(lowering.emit, lowering.tile(op.arg))
    combine_at_pointers(lowering, MemoryAccess.of(op), op.mode, argument)


@strict(atomics.AtomicRmw)
def check_mask(lowering: Lowering, op: atomics.AtomicRmw) -> None:
    if op.mask is not None:
        warn_where(lowering, op, op.mask.tile, _is_off(lowering, op.mask), undefined.MASKED_UPDATE)


@rules(atomics.AtomicCas)
def lower_atomic_cas(lowering: Lowering, op: atomics.AtomicCas) -> None:
    emit = lowering.emit
    expected, replacement = (materialized(emit, lowering.tile(value)) for value in (op.cmp, op.val))

    def update(index: Index, address: ir.Value) -> ir.Value:
        old, new = expected.at(emit, index), replacement.at(emit, index)
        return exchange_element(emit, address, old, new, op.memory_ordering_semantics)

    update_pointers(lowering, MemoryAccess.of(op), lambda index: expected.at(emit, index), update)


@rules(atomics.AtomicRedView)
def lower_atomic_red_view(lowering: Lowering, op: atomics.AtomicRedView) -> None:
    reduce_into_view(lowering, MemoryAccess.of(op), op.mode)


@strict(atomics.AtomicRedView)
def check_reduction(lowering: Lowering, op: atomics.AtomicRedView) -> None:
    check_edges(lowering, op)
