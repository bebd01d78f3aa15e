"""Boxes of tensors: tiles of partition and strided views as strided windows of memory.

Knows: where the box of a tile lies (spec: views#index-mapping), and what happens at the border of a tensor.
Does not know: tiles that are read and written element by element (`cpu.memory.gather`).

A tile that lies inside its tensor is a window of memory; one that sticks out is first copied into the arena with its
padding. Both are the same `Window` afterwards: a base and strides chosen by one branch. Every access to a box goes
through one that `box` has made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial

from llvmlite import ir

from tileir.cpu.analysis.loads import LoadPlacement
from tileir.cpu.emit.elements import I1, I8, I64, PTR, is_zero, padding
from tileir.cpu.emit.emitter import Emitter, Extent, Index, either
from tileir.cpu.emit.tiles import NativeTileView, Tile, Window, fill, materialized, new_buffer, turn_of
from tileir.cpu.lowering.state import Lowering
from tileir.cpu.memory.alias_checks import unaliased
from tileir.cpu.memory.counts import count_inside, start_of
from tileir.cpu.memory.masked_rows import copy_masked, masked_dimension, write_part
from tileir.cpu.memory.needed import needs_of_load
from tileir.cpu.memory.overlap import apart
from tileir.cpu.memory.parts import bounded_nest, clear, copy_padded_row, copy_part, materialized_part
from tileir.cpu.memory.rows import write_rows
from tileir.cpu.memory.spans import Span, span_of_window
from tileir.cpu.memory.streams import row_dimension, write_tile
from tileir.ir import types as t
from tileir.ir.core import Op, Value


@dataclass(frozen=True)
class Box:
    """The part of a tensor under a tile: its first element, its strides and how many elements of each dimension are in.

    `base` is the address of the first element, `starts` are its coordinates. Everything is in the order of the tile's
    dimensions; `full` is an i1: no element is outside.
    """

    base: ir.Value
    starts: tuple[ir.Value, ...]
    strides: tuple[ir.Value, ...]
    counts: tuple[ir.Value, ...]
    full: ir.Value


def box(lowering: Lowering, view: NativeTileView, index: Sequence[Value], extents: Sequence[Extent]) -> Box:
    """Place of the tile of these extents at `index` of a partition or strided view (spec: views#index-mapping); an
    index is unsigned."""
    builder, tensor = lowering.builder, view.tensor
    dims, steps = view.type.tensor_dims, view.type.tile_steps
    offset: ir.Value = I64(0)
    full: ir.Value = I1(1)
    starts, counts, strides = [], [], []
    for position, (dim, step, extent) in enumerate(zip(dims, steps, extents)):
        start = start_of(lowering, index[position], step)
        count, whole = count_inside(lowering, index[position], step, tensor.extents[dim], extent)
        counts.append(count)
        full = builder.and_(full, whole)
        starts.append(start)
        strides.append(tensor.strides[dim])
        offset = builder.add(offset, builder.mul(start, tensor.strides[dim]))
    size = view.type.element.byte_size
    base = builder.gep(tensor.base, [builder.mul(offset, I64(size))], source_etype=I8)
    return Box(base, tuple(starts), tuple(strides), tuple(counts), full)


# ---------------------------------------------------------------- loading


def load_box(lowering: Lowering, result: Value, view: NativeTileView, place: Box) -> None:
    """Bind `result` to the window of memory or, at the border, to a padded copy of what lies inside."""
    emit, type = lowering.emit, result.tile
    dims = view.type.tensor_dims
    copy = turned_buffer(emit, type, sorted(range(type.rank), key=lambda dim: dims[dim]))
    memory = Window(type, place.base, place.strides)
    needed = needs_of_load(lowering, result, view)
    extents = [needed.get(dim, extent) for dim, extent in enumerate(type.shape)]
    whole = _serves(emit.builder, place, extents) if needed else place.full
    window_or_copy(
        lowering, result, whole, memory, copy, lambda: _padded_copy(emit, view, place, memory, copy, extents)
    )


def window_or_copy(
    lowering: Lowering, result: Value, whole: ir.Value, memory: Window, copy: Window, fill_copy: Callable[[], None]
) -> None:
    """Bind `result` to `memory` if `whole` holds, else to `copy`, which `fill_copy` fills."""
    emit, builder = lowering.emit, lowering.builder
    inside, partial, merge = (builder.append_basic_block(name) for name in ("inside", "partial", "loaded"))
    builder.cbranch(whole, inside, partial)
    with emit.one_way():
        builder.position_at_end(inside)
        outside_arena = builder.ptrtoint(memory.base, I64)
        builder.branch(merge)
        builder.position_at_end(partial)
        with emit.rarely() if lowering.joined_first else nullcontext():
            fill_copy()
        left = builder.block
        builder.branch(merge)
    builder.position_at_end(merge)
    base = either(builder, PTR, (memory.base, inside), (copy.base, left))
    strides = (either(builder, I64, (mine, inside), (dense, left)) for mine, dense in zip(memory.strides, copy.strides))
    known = either(builder, I64, (outside_arena, inside), (I64(0), left))
    window = Window(memory.type, base, tuple(strides), shared=True, known=known)
    at_once = lowering.loads.placement(result) is LoadPlacement.AT_ONCE
    lowering.values[result] = materialized(emit, window) if at_once else window


def _serves(builder: ir.IRBuilder, place: Box, extents: Sequence[Extent]) -> ir.Value:
    """An i1: whether so much of the tile, which is all that is needed, lies in the tensor."""
    found: ir.Value = I1(1)
    for count, extent in zip(place.counts, extents):
        least = I64(extent) if isinstance(extent, int) else extent
        found = builder.and_(found, builder.icmp_unsigned(">=", count, least))
    return found


def turned_buffer(emit: Emitter, type: t.TileType, order: Sequence[int]) -> Window:
    """A dense buffer with the dimensions in the order of memory: a unit stride stays one on both ways here."""
    buffer = new_buffer(emit, t.tile(type.element, *(type.shape[dim] for dim in order)))
    return Window(type, buffer.base, tuple(buffer.strides[order.index(dim)] for dim in range(type.rank)))


def _padded_copy(
    emit: Emitter, view: NativeTileView, place: Box, memory: Window, copy: Window, extents: Sequence[Extent]
) -> None:
    """Copy what lies inside, and pad the rest, of so much of each dimension at least."""
    element, value = view.type.element, view.type.padding
    outside, zero = padding(element, value), is_zero(element, value)
    dim, masked = row_dimension(copy), masked_dimension(copy, memory) if zero else None
    if dim is not None:
        pad = partial(copy_padded_row, emit, dim, memory, copy, None if zero else outside)
        _each_row(emit, dim, place, extents, pad)
    elif masked is not None:
        pad = partial(copy_masked, emit, copy, memory, masked, extents[masked])
        _each_row(emit, masked, place, extents, pad)
    else:
        if zero:
            clear(emit, copy)
        else:
            emit.loop_nest(copy.type.shape, lambda index: copy.put(emit, index, outside))
        copy_part(emit, copy, memory, place.counts)


def _each_row(
    emit: Emitter, dim: int, place: Box, extents: Sequence[Extent], pad: Callable[[Index, ir.Value], None]
) -> None:
    """Have each row along `dim` padded, given its first index and how much of it lies in the tensor."""
    rows = [*extents[:dim], 1, *extents[dim + 1 :]]
    emit.loop_nest(rows, lambda index: pad(index, _length_inside(emit.builder, dim, index, place)))


def _length_inside(builder: ir.IRBuilder, dim: int, index: Index, place: Box) -> ir.Value:
    """How many elements of a row along `dim` lie in the tensor."""
    inside: ir.Value = I1(1)
    for other, (at, count) in enumerate(zip(index, place.counts)):
        if other != dim:
            inside = builder.and_(inside, builder.icmp_unsigned("<", at, count))
    return builder.select(inside, place.counts[dim], I64(0))


# ---------------------------------------------------------------- storing


def store_box(lowering: Lowering, op: Op, tile: Tile, place: Box) -> None:
    """Write the elements of the tile that lie in the tensor."""
    emit, memory = lowering.emit, Window(tile.type, place.base, place.strides)

    def one_by_one() -> None:
        copy = materialized_part(emit, tile, place.counts)
        bounded_nest(emit, place.counts, lambda index: memory.put(emit, index, copy.at(emit, index)))

    with in_order(lowering, memory, one_by_one):
        _store_rows_or_window(lowering, op, tile, memory, place)


@contextmanager
def in_order(lowering: Lowering, memory: Window, one_by_one: Callable[[], None]) -> Iterator[None]:
    """Code that writes a tile row by row; `one_by_one` writes a copy of it where another order could be seen."""
    emit, builder = lowering.emit, lowering.builder
    fine = apart(builder, memory)
    if fine is None:
        yield
        return
    with builder.if_else(fine, likely=True) as (rows, shared), emit.one_way():
        with rows:
            yield
        with shared, emit.region(), emit.rarely():
            one_by_one()


def _store_rows_or_window(lowering: Lowering, op: Op, tile: Tile, memory: Window, place: Box) -> None:
    emit, dim = lowering.emit, row_dimension(memory)
    if dim is not None and not lowering.joined_first and turn_of(memory, tile) is None:
        _store_rows(lowering, op, tile, memory, dim, place)
        return

    def write_inside(copy: Tile) -> None:
        write = copy_part if turn_of(memory, tile) is not None else write_part
        write(emit, memory, copy, place.counts)

    def span() -> Span:
        return span_of_window(emit, memory, memory.type.shape)

    store_window(lowering, op, tile, memory, place.full, span, write_inside, place.counts)


def _store_rows(lowering: Lowering, op: Op, tile: Tile, memory: Window, dim: int, place: Box) -> None:
    """Write the rows that lie in the tensor straight to memory where none is written before it is read; else through a
    copy."""
    emit = lowering.emit
    harmless = unaliased(lowering, op, lambda: span_of_window(emit, memory, place.counts))
    with lowering.builder.if_else(harmless) as (straight, apart), emit.one_way():
        with straight:
            write_rows(lowering, op, memory, tile, dim, place.counts)
        with apart, emit.region():
            copy_part(emit, memory, materialized_part(emit, tile, place.counts), place.counts)


def store_window(
    lowering: Lowering,
    op: Op,
    tile: Tile,
    memory: Window,
    full: ir.Value,
    span: Callable[[], Span],
    write_part: Callable[[Tile], None],
    counts: Sequence[ir.Value] | None = None,
) -> None:
    """Write a tile to `memory`, whose span is `span`, if `full` holds; else have `write_part` write what it has to: so
    many elements of each dimension at most, if there are `counts`.

    Elements go straight to memory where all of them do and none is written before it is read; else through a copy.
    """
    emit, builder = lowering.emit, lowering.builder
    if lowering.joined_first:
        with emit.region():
            write_part(materialized_part(emit, tile, counts))
        return
    if turn_of(memory, tile) is not None:
        _store_turned(lowering, op, tile, memory, full, write_part)
        return
    names = ("inside", "straight", "apart", "stored")
    inside, straight, apart, done = (builder.append_basic_block(name) for name in names)
    builder.cbranch(full, inside, apart)
    with emit.one_way():
        builder.position_at_end(inside)
        builder.cbranch(unaliased(lowering, op, span), straight, apart)
        builder.position_at_end(straight)
        write_tile(lowering, op, memory, tile)
        builder.branch(done)
    builder.position_at_end(apart)
    with emit.region():
        write_part(materialized_part(emit, tile, counts))
    builder.branch(done)
    builder.position_at_end(done)


def _store_turned(
    lowering: Lowering, op: Op, tile: Tile, memory: Window, full: ir.Value, write_part: Callable[[Tile], None]
) -> None:
    """Write a tile that is turned, through a copy: squares that were written where they belong would begin and end
    within lines, which are read again for each."""
    emit = lowering.emit
    with emit.region():
        turned = new_buffer(emit, tile.type)
        fill(emit, turned, tile)
        with lowering.builder.if_else(full) as (whole, part), emit.one_way():
            with whole:
                write_tile(lowering, op, memory, turned)
            with part:
                write_part(turned)
