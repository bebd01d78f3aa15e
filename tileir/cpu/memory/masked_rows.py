"""Short rows of tiles, as far as they lie in a tensor, copied in whole vectors: what lies outside is neither read, but
zero, nor written.

Knows: which rows are short enough. Does not know: what lies inside (`cpu.memory.boxes`), nor long rows
(`cpu.memory.parts`), for which it pays to call a function.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from llvmlite import ir

from tileir.cpu.emit.elements import I64, memory_type
from tileir.cpu.emit.emitter import Emitter, Extent, Index
from tileir.cpu.emit.tiles import Tile, Window, distance
from tileir.cpu.emit.vectors import lanes_below, load_masked, store_masked
from tileir.cpu.llvm.engine import host
from tileir.cpu.memory.parts import copy_part, has_rows, some

LONGEST = 1024
"""Bytes of a row in whole up to which it is short."""


def is_masked(target: Window, source: Tile, dim: int) -> bool:
    """Whether rows along `dim` can be copied so, and are short."""
    is_short = target.type.shape[dim] * target.element.byte_size <= LONGEST
    return is_short and host().has_masks and has_rows(target, source, dim)


def masked_dimension(copy: Window, memory: Tile) -> int | None:
    """The dimension along which rows can be copied so; None if there is none."""
    return next((dim for dim in range(copy.type.rank) if is_masked(copy, memory, dim)), None)


def copy_masked(
    emit: Emitter, copy: Window, memory: Window, dim: int, extent: Extent, index: Index, count: ir.Value
) -> None:
    """Copy `count` elements along `dim` from `index` on, then zeros, `extent` in all or up to the next whole vector."""
    with _vectors(emit, copy, dim, index, I64(extent) if isinstance(extent, int) else extent) as (at, vector):
        mask = lanes_below(emit.builder, emit.builder.sub(count, at[dim]), vector.count)
        place = _address(emit.builder, memory, at)
        loaded = load_masked(emit.builder, place, mask, vector, memory.element.byte_size)
        emit.builder.store(loaded, copy.address(emit, at), align=copy.element.byte_size)


def write_masked(emit: Emitter, memory: Window, tile: Window, dim: int, index: Index, count: ir.Value) -> None:
    """Write `count` elements along `dim` from `index` on, at least one."""
    builder = emit.builder
    with _vectors(emit, memory, dim, index, count) as (at, vector):
        mask, align = lanes_below(builder, builder.sub(count, at[dim]), vector.count), memory.element.byte_size
        loaded = load_masked(builder, _address(builder, tile, at), mask, vector, align)
        store_masked(builder, loaded, _address(builder, memory, at), mask, align)


def write_part(emit: Emitter, memory: Window, tile: Tile, counts: Sequence[ir.Value]) -> None:
    """Write so many elements of each dimension, any of which may be 0, to memory: short rows in vectors."""
    dim = masked_dimension(memory, tile)
    if dim is None or not isinstance(tile, Window) or tile.shared:
        copy_part(emit, memory, tile, counts)
        return
    rows, fixed = [*counts[:dim], 1, *counts[dim + 1 :]], dim
    with emit.when(some(emit.builder, counts)):
        emit.loop_nest(rows, lambda index: write_masked(emit, memory, tile, fixed, index, counts[fixed]))


@contextmanager
def _vectors(
    emit: Emitter, window: Window, dim: int, index: Index, end: ir.Value
) -> Iterator[tuple[Index, ir.VectorType]]:
    """A loop over the vectors of a row of a window: the index of each first element, and the vector of its bytes."""
    size = window.element.byte_size
    lanes = min(host().vector_bits // 8 // size, window.type.shape[dim])
    with emit.counted(I64(0), end, lanes) as position:
        yield (*index[:dim], position, *index[dim + 1 :]), ir.VectorType(ir.IntType(8 * size), lanes)


def _address(builder: ir.IRBuilder, memory: Window, index: Index) -> ir.Value:
    """The address of an element that may lie outside of the memory."""
    offset = distance(builder, index, memory.strides)
    return builder.gep(memory.base, [offset], source_etype=memory_type(memory.element))
