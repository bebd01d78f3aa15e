"""Tiles through pointers: one address for each element.

Knows: how the elements of a tile are loaded, stored and updated at the addresses that a tile of pointers has.
Does not know: operations, nor the instruction of an access (`cpu.memory.access`).
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from tileir.cpu.emit.elements import Num, zero
from tileir.cpu.emit.emitter import Emitter, Index
from tileir.cpu.emit.tiles import ExpressionTile, Tile, from_memory, new_buffer, pointer_to, to_memory, wide
from tileir.cpu.memory.access import count_change, load_element, load_where, store_element
from tileir.ir import types as t
from tileir.ir.attributes import MemoryOrdering


def loaded(
    type: t.TileType, pointers: Tile, mask: Tile | None, padding: Tile | None, ordering: MemoryOrdering
) -> ExpressionTile:
    """The elements at `pointers`, each read where it is used; those masked off are those of `padding`, or zero."""
    element = type.element

    def compute(emit: Emitter, index: Index) -> Num:
        pointer = pointers.at(emit, index)
        if mask is None:
            address = pointer_to(emit.builder, pointer)
            return from_memory(emit.builder, element, load_element(emit, element, address, ordering))
        condition = wide(emit.builder, mask.at(emit, index))
        other = to_memory(emit.builder, zero(element) if padding is None else padding.at(emit, index))
        address = pointer_to(emit.builder, pointer)
        return load_where(emit, element, condition, other, lambda: load_element(emit, element, address, ordering))

    return ExpressionTile(type, compute)


def store(emit: Emitter, pointers: Tile, value: Tile, mask: Tile | None, ordering: MemoryOrdering) -> None:
    """Write the elements that are not masked off."""

    def write(index: Index) -> None:
        address = pointer_to(emit.builder, pointers.at(emit, index))
        stored = to_memory(emit.builder, value.at(emit, index))
        store_element(emit, value.element, address, stored, ordering)

    def body(index: Index) -> None:
        if mask is None:
            write(index)
            return
        with emit.when(wide(emit.builder, mask.at(emit, index))):
            write(index)

    emit.loop_nest(value.type.shape, body)


def update(
    emit: Emitter,
    type: t.TileType,
    pointers: Tile,
    mask: Tile | None,
    masked_off: Callable[[Index], Num],
    act: Callable[[Index, ir.Value], ir.Value],
) -> Tile:
    """Run ``act(index, address)`` on every element that is not masked off; gives the tile of what it gives."""
    old = new_buffer(emit, type)

    def write(index: Index, address: ir.Value) -> None:
        found = act(index, address)
        emit.builder.store(found, old.address(emit, index))
        count_change(emit, type.element, address, found)

    def body(index: Index) -> None:
        address = pointer_to(emit.builder, pointers.at(emit, index))
        if mask is None:
            write(index, address)
            return
        old.put(emit, index, masked_off(index))
        with emit.when(wide(emit.builder, mask.at(emit, index))):
            write(index, address)

    emit.loop_nest(type.shape, body)
    return old
