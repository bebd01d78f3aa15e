"""Asking for what the next tile block reads and writes, where a tile block stores.

In a grid of one dimension a thread mostly runs one tile block after the other. What such a one stores, and loads in the
same block of code, begins a known distance behind. Asking is free to be wrong.

Knows: what is asked for. Does not know: for which accesses it is known (`cpu.analysis.next_tiles`), nor how a tile is
stored (`cpu.memory.boxes`).
"""

from __future__ import annotations

from collections.abc import Iterator

from tileir.analysis.effects import MemoryAccess, access_of
from tileir.cpu.analysis.next_tiles import next_dimension
from tileir.cpu.emit.elements import I1, I8, I32, I64
from tileir.cpu.emit.emitter import CACHE_LINE, Index, prefetch
from tileir.cpu.emit.tiles import Window
from tileir.cpu.lowering.state import Lowering
from tileir.cpu.memory.boxes import box
from tileir.cpu.memory.streams import asks_ahead, row_dimension


def ask_ahead(lowering: Lowering, store: MemoryAccess) -> None:
    """Ask for the boxes of the next tile block at a store."""
    if not asks_ahead(lowering, store):
        return
    builder, is_line = lowering.builder, I1(1)
    for extent in lowering.grid[1:]:
        is_line = builder.and_(is_line, builder.icmp_unsigned("==", extent, I32(1)))
    with lowering.emit.when(is_line):
        for access in _accesses(store):
            axis = next_dimension(access)
            if axis is not None:
                _ask(lowering, access, axis)


def _accesses(store: MemoryAccess) -> Iterator[MemoryAccess]:
    """The store, and the loads in front of it in its block."""
    assert store.op.parent is not None
    for op in store.op.parent.ops:
        access = access_of(op)
        if op is store.op:
            yield store
            return
        if access is not None and access.result is not None and not access.writes:
            yield access


def _ask(lowering: Lowering, access: MemoryAccess, axis: int) -> None:
    """Ask for the box of an access that lies where the next tile block has it."""
    emit, builder, view = lowering.emit, lowering.builder, lowering.tile_view(access.address)
    type, size = view.type.tile, view.type.element.byte_size
    place = box(lowering, view, access.indices, type.shape)
    distance = builder.mul(place.strides[axis], I64(view.type.tile_steps[axis] * size))
    memory = Window(type, builder.gep(place.base, [distance], source_etype=I8), place.strides)
    dim = row_dimension(memory, CACHE_LINE)
    if dim is None:
        return
    shape = [*type.shape[:dim], type.shape[dim] * size // CACHE_LINE, *type.shape[dim + 1 :]]

    def ask(index: Index) -> None:
        first = builder.mul(index[dim], I64(CACHE_LINE // size))
        line = memory.address(emit, (*index[:dim], first, *index[dim + 1 :]))
        prefetch(builder, line, writes=access.writes)

    emit.loop_nest(shape, ask)
