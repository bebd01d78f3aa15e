"""Native code for atomics (specification 8.10): one hardware atomic per element, with the ordering asked for.

A floating-point sum, and what the hardware has no instruction for, is a compare-and-swap loop. Elements are taken in
row-major order, one after the other.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from tileir.cpu.constants import zero
from tileir.cpu.elements import Num, is_native, memory_bytes, memory_type
from tileir.cpu.emitter import Emitter, Index
from tileir.cpu.lowering import Lower, Lowering
from tileir.cpu.places import Places, address, each_inside, places
from tileir.cpu.pointers import ORDERINGS
from tileir.cpu.tensors import tile_view
from tileir.cpu.tiles import (
    Tile,
    Window,
    from_memory,
    materialized,
    new_buffer,
    pointer_to,
    to_memory,
    wide,
)
from tileir.ir import types as t
from tileir.ir.attributes import AtomicMode, MemoryOrdering
from tileir.ir.core import Op, Value
from tileir.ir.rules import Rules
from tileir.ops import atomics

rules: Rules[Lower] = Rules()

_INSTRUCTIONS = {
    AtomicMode.AND: "and",
    AtomicMode.OR: "or",
    AtomicMode.XOR: "xor",
    AtomicMode.ADD: "add",
    AtomicMode.MAX: "max",
    AtomicMode.MIN: "min",
    AtomicMode.UMAX: "umax",
    AtomicMode.UMIN: "umin",
    AtomicMode.XCHG: "xchg",
}


@rules(atomics.AtomicRmw)
def lower_atomic_rmw(lowering: Lowering, op: atomics.AtomicRmw) -> None:
    argument = materialized(lowering.emit, lowering.tile(op.arg))

    def update(index: Index, address: ir.Value) -> ir.Value:
        number = argument.at(lowering.emit, index)
        return combine(lowering.emit, op.mode, address, number, op.memory_ordering_semantics)

    masked_off = zero(op.result.type.element)
    _each(lowering, op, op.pointers, op.mask, lambda index: masked_off, update)


@rules(atomics.AtomicCas)
def lower_atomic_cas(lowering: Lowering, op: atomics.AtomicCas) -> None:
    emit = lowering.emit
    expected, replacement = (materialized(emit, lowering.tile(value)) for value in (op.cmp, op.val))

    def update(index: Index, address: ir.Value) -> ir.Value:
        old, new = (_pattern(emit, tile.at(emit, index)) for tile in (expected, replacement))
        found = _exchange(emit, address, old, new, op.memory_ordering_semantics)
        return _from_pattern(emit.builder, op.result.type.element, found)

    _each(lowering, op, op.pointers, op.mask, lambda index: expected.at(emit, index), update)


@rules(atomics.AtomicRedView)
def lower_atomic_red_view(lowering: Lowering, op: atomics.AtomicRedView) -> None:
    where = places(lowering, tile_view(lowering, op.view), op.index)
    reduce_tile(lowering, op, lowering.tile(op.value), where, op.mode, op.memory_ordering_semantics)
    lowering.values[op.result_token] = None


def reduce_tile(
    lowering: Lowering, op: Op, tile: Tile, where: Places, mode: AtomicMode, ordering: MemoryOrdering
) -> None:
    """Combine the elements of the tile that lie in the tensor into memory."""
    lowering.settle_all(op)
    emit, element = lowering.emit, tile.element
    assert isinstance(element, t.ElementType)
    source = materialized(emit, tile)

    def update(index: Index, offset: ir.Value) -> None:
        place = address(emit, element, where.tensor.base, offset)
        combine(emit, mode, place, source.at(emit, index), ordering)

    each_inside(emit, tile.type.shape, where, update)


def _each(
    lowering: Lowering,
    op: Op,
    pointers: Value,
    mask: Value | None,
    masked_off: Callable[[Index], Num],
    update: Callable[[Index, ir.Value], ir.Value],
) -> None:
    """Run `update` on every element that is not masked off and bind the old values it gives."""
    lowering.settle_all(op)
    emit = lowering.emit
    addresses = lowering.tile(pointers)
    chosen = None if mask is None else materialized(emit, lowering.tile(mask))
    type = op.results[0].type
    assert isinstance(type, t.TileType)
    old = new_buffer(emit, type)
    emit.loop_nest(type.shape, lambda index: _element(emit, addresses, chosen, masked_off, update, old, index))
    lowering.values[op.results[0]], lowering.values[op.results[1]] = old, None


def _element(
    emit: Emitter,
    addresses: Tile,
    mask: Tile | None,
    masked_off: Callable[[Index], Num],
    update: Callable[[Index, ir.Value], ir.Value],
    old: Window,
    index: Index,
) -> None:
    builder = emit.builder
    address = pointer_to(builder, addresses.at(emit, index))
    if mask is None:
        builder.store(update(index, address), old.address(emit, index))
        return
    old.put(emit, index, masked_off(index))
    with emit.when(wide(builder, mask.at(emit, index))):
        builder.store(update(index, address), old.address(emit, index))


def combine(emit: Emitter, mode: AtomicMode, address: ir.Value, number: Num, ordering: MemoryOrdering) -> ir.Value:
    """Combine one element into memory; gives the old one in its memory form."""
    builder = emit.builder
    element = number.element
    assert isinstance(element, t.ElementType)
    if mode is AtomicMode.ADDF:
        return _add_float(emit, address, number, ordering)
    pattern = _pattern(emit, number)
    found = builder.atomic_rmw(_INSTRUCTIONS[mode], address, pattern, ORDERINGS[ordering])
    return _from_pattern(builder, element, found)


def _add_float(emit: Emitter, address: ir.Value, number: Num, ordering: MemoryOrdering) -> ir.Value:
    """Read, add and compare-and-swap until nobody came between; rounds to nearest even."""
    builder, element = emit.builder, number.element
    assert isinstance(element, t.ElementType)
    addend = wide(builder, number)
    pattern = ir.IntType(8 * memory_bytes(element))
    first = builder.load_atomic(address, "monotonic", memory_bytes(element), typ=pattern)
    before = builder.block
    again, done = builder.append_basic_block("again"), builder.append_basic_block("added")
    builder.branch(again)
    builder.position_at_end(again)
    seen = builder.phi(pattern)
    seen.add_incoming(first, before)
    value = from_memory(builder, element, _from_pattern(builder, element, seen))
    total = Num(element, wide=builder.fadd(wide(builder, value), addend))
    pair = builder.cmpxchg(address, seen, _pattern(emit, total), ORDERINGS[ordering], "monotonic")
    seen.add_incoming(builder.extract_value(pair, 0), builder.block)
    builder.cbranch(builder.extract_value(pair, 1), done, again)
    builder.position_at_end(done)
    return _from_pattern(builder, element, seen)


def _exchange(emit: Emitter, address: ir.Value, old: ir.Value, new: ir.Value, ordering: MemoryOrdering) -> ir.Value:
    """Compare-and-swap of bit patterns; gives what memory held, as an int."""
    failure = "acquire" if ordering in (MemoryOrdering.ACQUIRE, MemoryOrdering.ACQ_REL) else "monotonic"
    pair = emit.builder.cmpxchg(address, old, new, ORDERINGS[ordering], failure)
    return emit.builder.extract_value(pair, 0)


def _pattern(emit: Emitter, number: Num) -> ir.Value:
    """The bits of an element as an int: f32 and f64 too."""
    value = to_memory(emit.builder, number)
    assert isinstance(number.element, t.ElementType)
    if is_native(number.element):
        return emit.builder.bitcast(value, ir.IntType(number.element.bits))
    return value


def _from_pattern(builder: ir.IRBuilder, element: t.ElementType, pattern: ir.Value) -> ir.Value:
    return builder.bitcast(pattern, memory_type(element)) if is_native(element) else pattern
