"""Asking for what the next tile block reads and writes, where a tile block stores.

In a grid of one dimension a thread mostly runs one tile block after the other. What such a one stores, and loads in the
same block of code, begins a known distance behind. Asking is free to be wrong.

Knows: for which accesses that is so, and when it is worth while. Does not know: how a tile is stored
(`cpu.memory.boxes`).
"""

from __future__ import annotations

from collections.abc import Iterator

from tileir.analysis.effects import MemoryAccess, access_of
from tileir.cpu.analysis.loads import is_box
from tileir.cpu.emit.elements import I1, I8, I32, I64
from tileir.cpu.emit.emitter import Index
from tileir.cpu.emit.prefetch import CACHE_LINE, prefetch
from tileir.cpu.emit.tiles import Window
from tileir.cpu.lowering.state import Lowering
from tileir.cpu.memory.boxes import Box, box
from tileir.cpu.memory.streams import may_stream, row_dimension, worth_while
from tileir.ir import types as t
from tileir.ops import core

MOST_BYTES = 1 << 12
"""Bytes of a tile that is asked for: the processor cannot keep up with more of them at a time."""


def ask_ahead(lowering: Lowering, store: MemoryAccess, place: Box) -> None:
    """Ask for the boxes of the next tile block at a store to `place`, unless it bypasses the cache."""
    wanted = [access for access in _accesses(store) if _axis(access) is not None]
    if store not in wanted or lowering.joined is not None or lowering.joined_first or lowering.strict:
        return
    builder, is_line = lowering.builder, I1(1)
    for extent in lowering.grid[1:]:
        is_line = builder.and_(is_line, builder.icmp_unsigned("==", extent, I32(1)))
    if may_stream(lowering, store.op) and store.value is not None:
        memory = Window(store.value.tile, place.base, place.strides)
        is_line = builder.and_(is_line, builder.not_(worth_while(lowering, store.op, memory)))
    with lowering.emit.when(is_line):
        for access in wanted:
            _ask(lowering, access)


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


def _axis(access: MemoryAccess) -> int | None:
    """The dimension of an access to a small box along which the number of the tile block is its index."""
    type = access.address.type
    if not isinstance(type, t.TileViewType) or not is_box(access):
        return None
    blocks = [index.op if isinstance(index.op, core.GetTileBlockId) else None for index in access.indices]
    found = [at for at, block in enumerate(blocks) if block is not None]
    if len(found) != 1 or type.tile.count * type.element.byte_size > MOST_BYTES:
        return None
    block, index = blocks[found[0]], access.indices[found[0]]
    return found[0] if block is not None and index is block.results[0] else None


def _ask(lowering: Lowering, access: MemoryAccess) -> None:
    """Ask for the box of an access that lies where the next tile block has it."""
    emit, builder, view, axis = lowering.emit, lowering.builder, lowering.tile_view(access.address), _axis(access)
    assert axis is not None
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
