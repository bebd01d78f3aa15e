"""Native code for memory through pointers (spec: pointers#top).

Pointers to neighbours in memory are a box like that of a view (`cpu.memory.pointer_boxes`). Any other tile of them is
an expression like any other, so a load computes its addresses in the loop that reads; LLVM turns neighbouring addresses
into vector accesses and the rest into gathers. Elements are read where the load stands, or in
the loop of a store (`cpu.analysis.loads`).
"""

from __future__ import annotations

from tileir.analysis import axes
from tileir.analysis.effects import checked_access
from tileir.cpu.analysis.loads import LoadPlacement
from tileir.cpu.emit.elements import I1, I8, I64, Num
from tileir.cpu.emit.emitter import ARENA_ALIGNMENT
from tileir.cpu.emit.tiles import Bounds, ExpressionTile, Permuted, Scalar, Tile, materialized
from tileir.cpu.lowering.reports import is_off, warn_if, warn_where
from tileir.cpu.lowering.state import Lower, Lowering
from tileir.cpu.memory.alias_checks import unaliased
from tileir.cpu.memory.checks import check_pointers
from tileir.cpu.memory.duplicates import any_twice
from tileir.cpu.memory.joined import is_longer, load_joined, store_joined
from tileir.cpu.memory.pointer_boxes import load_pointers, pointer_box, store_pointers
from tileir.cpu.memory.pointer_rows import load_pointer_rows, pointer_rows, store_pointer_rows
from tileir.cpu.memory.pointers import loaded, store
from tileir.cpu.memory.spans import span_of_pointers
from tileir.cpu.memory.unwritten import new_marks
from tileir.host import undefined
from tileir.host.limits import MAX_STORAGE, no_storage
from tileir.ir import types as t
from tileir.ir.attributes import MemoryOrdering
from tileir.ir.core import Op, Value
from tileir.ir.rules import Rules
from tileir.ops import core, matmul, pointers

rules: Rules[Lower] = Rules()
strict: Rules[Lower] = Rules()
joined: Rules[Lower] = Rules()


@rules(
    pointers.MakeToken, pointers.JoinTokens, pointers.GdcLaunchDependents, pointers.GdcWait, pointers.MemoryFenceAlias
)
def lower_token(lowering: Lowering, op: Op) -> None:
    """Code runs in program order, so a token needs none; the fences concern hardware that a CPU does not have."""
    lowering.values[op.results[0]] = None


@rules(pointers.LoadPtr)
def lower_load_ptr(lowering: Lowering, op: pointers.LoadPtr) -> None:
    access = checked_access(op)
    lowering.values[op.result_token] = None
    rows = pointer_rows(lowering, access)
    if rows is not None:
        lowering.values[op.result] = load_pointer_rows(rows, *_masked(lowering, op))
        return
    place = pointer_box(lowering, access)
    check_pointers(lowering, access, place)
    if place is not None:
        load_pointers(lowering, access, place, *_masked(lowering, op))
        return
    addresses = lowering.tile(op.source)
    put_off = lowering.loads.placement(op.result) is LoadPlacement.IN_STORE
    mask, padding = (_optional(lowering, value, put_off) for value in (op.mask, op.paddingValue))
    elements = loaded(op.result.type, addresses, mask, padding, op.memory_ordering_semantics)
    lowering.values[op.result] = elements if put_off else _read(lowering, op, elements)


def _masked(lowering: Lowering, op: pointers.LoadPtr) -> tuple[Tile | None, Tile | None]:
    """The mask and the padding, where there are any."""
    mask, padding = (None if value is None else lowering.tile(value) for value in (op.mask, op.paddingValue))
    return mask, padding


@joined(pointers.LoadPtr)
def lower_joined_load(lowering: Lowering, op: pointers.LoadPtr) -> None:
    access = checked_access(op)
    if not is_longer(lowering, access):
        lower_load_ptr(lowering, op)
        return
    load_joined(lowering, access)
    lowering.values[op.result_token] = None


@joined(pointers.StorePtr)
def lower_joined_store(lowering: Lowering, op: pointers.StorePtr) -> None:
    store_joined(lowering, checked_access(op))
    lowering.values[op.result_token] = None


@strict(pointers.LoadPtr)
def look_at_load(lowering: Lowering, op: pointers.LoadPtr) -> None:
    if op.mask is not None and op.paddingValue is None:
        warn_where(lowering, op, op.mask.tile, is_off(lowering, op.mask), undefined.UNPADDED_MASK)


def _optional(lowering: Lowering, value: Value | None, put_off: bool) -> Tile | None:
    """The tile of an operand; for a load that is put off, without anything in it that is still to be read."""
    if value is None:
        return None
    tile = lowering.tile(value)
    return materialized(lowering.emit, tile) if put_off and not isinstance(value.op, core.Constant) else tile


def _read(lowering: Lowering, op: pointers.LoadPtr, elements: ExpressionTile) -> Tile:
    """The tile read now; for a matrix product in the order of memory, which is as good as any other for it."""
    size = op.source.tile.pointer.pointee.byte_size
    fast = axes.unit_dimension(lowering.known.of(op.source), op.source.tile.shape, size)
    users = lowering.fusion.users(op.result)
    if fast is None or not all(isinstance(user, matmul.MmaF | matmul.MmaI) for user in users):
        return materialized(lowering.emit, elements)
    order = [*(dim for dim in range(elements.type.rank) if dim != fast), fast]
    turned = t.tile(elements.element, *(elements.type.shape[dim] for dim in order))
    buffer = materialized(lowering.emit, Permuted(turned, elements, order))
    return Permuted(elements.type, buffer, [order.index(dim) for dim in range(len(order))])


@rules(pointers.StorePtr)
def lower_store_ptr(lowering: Lowering, op: pointers.StorePtr) -> None:
    access = checked_access(op)
    lowering.values[op.result_token] = None
    emit, ordering = lowering.emit, op.memory_ordering_semantics
    addresses, value = lowering.tile(op.destination), lowering.tile(op.value)
    mask = None if op.mask is None else lowering.tile(op.mask)
    rows = pointer_rows(lowering, access)
    if rows is not None:
        store_pointer_rows(rows, mask, value)
        return
    place = pointer_box(lowering, access)
    check_pointers(lowering, access, place)
    if place is not None:
        store_pointers(lowering, op, place, addresses, value, mask)
    elif lowering.loads.read_in(op):
        straight = unaliased(lowering, op, lambda: span_of_pointers(emit, addresses, addresses.type.shape))
        with emit.builder.if_else(straight, likely=True) as (at_once, apart):
            with at_once:
                store(emit, addresses, value, mask, ordering)
            with apart, emit.region():
                # What is loaded may decide the mask as well.
                read = None if mask is None else materialized(emit, mask)
                store(emit, addresses, materialized(emit, value), read, ordering)
    else:
        store(emit, addresses, materialized(emit, value), mask, ordering)


@strict(pointers.StorePtr)
def look_at_store(lowering: Lowering, op: pointers.StorePtr) -> None:
    """Equal addresses: a data race if the store is weak, otherwise any of the values may stay."""
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
    """Arena space of the region around; an alignment beyond the arena's is made by moving up."""
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
    bounds = Bounds(begin, end, end, marks, size)
    lowering.allocations.append(bounds)
    if lowering.checked:
        lowering.bounds[id(base)] = bounds
    lowering.values[op.result] = Scalar(type, Num(type.element, wide=I64(0), base=base))
