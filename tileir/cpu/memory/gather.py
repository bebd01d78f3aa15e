"""Tiles of views element by element: each one is tested and addressed by itself (spec: views#index-mapping). Where
elements lie side by side, as in the rows that a tile of indices chooses, that is done for a row at a time.

Knows: where the elements of a tile lie in a tensor. Does not know: operations, the instruction of an access
(`cpu.memory.access`), nor the fast way of tiles whose elements lie in a box (`cpu.memory.boxes`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from llvmlite import ir

from tileir.cpu.analysis.pointer_rows import LEAST
from tileir.cpu.emit.elements import I1, I64, Num, is_zero, memory_type, padding
from tileir.cpu.emit.emitter import Emitter, Index
from tileir.cpu.emit.tiles import (
    ExpressionTile,
    NativeTensorView,
    NativeTileView,
    Tile,
    Window,
    materialized,
    to_memory,
    wide,
)
from tileir.cpu.lowering.state import Lowering
from tileir.cpu.memory.access import load_element, load_where, store_element, update_element
from tileir.cpu.memory.boxes import turned_buffer
from tileir.cpu.memory.nibbles import load_nibble, store_nibble
from tileir.cpu.memory.parts import copy_padded_row, copy_row, dense, moves_as_bytes
from tileir.ir import types as t
from tileir.ir.attributes import AtomicMode, MemoryOrdering
from tileir.ir.core import Value
from tileir.ir.types import PaddingValue


@dataclass(frozen=True)
class GatherAxis:
    """One dimension of a tile: the tensor dimension it runs along, and its coordinates there.

    They are those of `rows`, or count up from `start`. `reachable` is an i1: whether `start` lies in the tensor.
    """

    dim: int
    start: ir.Value
    reachable: ir.Value
    rows: Tile | None = None

    def coordinate(self, emit: Emitter, position: ir.Value) -> ir.Value:
        if self.rows is None:
            return emit.builder.add(self.start, position)
        row = wide(emit.builder, self.rows.at(emit, (position,)))
        return row if row.type == I64 else emit.builder.zext(row, I64)

    def last(self, emit: Emitter, extent: int, limit: ir.Value) -> tuple[ir.Value, ir.Value]:
        """An i1, whether any of `extent` positions has a coordinate below `limit`, and the largest such coordinate."""
        builder = emit.builder
        if self.rows is None:
            left = builder.sub(limit, self.start)
            whole = builder.icmp_unsigned(">=", left, I64(extent))
            return self.reachable, builder.sub(
                builder.select(whole, builder.add(self.start, I64(extent)), limit), I64(1)
            )
        largest, some = emit.stack(I64), emit.stack(I64)
        for cell in (largest, some):
            builder.store(I64(0), cell)

        def visit(index: Index) -> None:
            at = self.coordinate(emit, index[0])
            inside = builder.icmp_unsigned("<", at, limit)
            found = builder.load(largest, typ=I64)
            larger = builder.and_(inside, builder.icmp_unsigned(">", at, found))
            builder.store(builder.select(larger, at, found), largest)
            builder.store(builder.or_(builder.load(some, typ=I64), builder.zext(inside, I64)), some)

        emit.loop_nest([extent], visit)
        covered = builder.icmp_unsigned("!=", builder.load(some, typ=I64), I64(0))
        return covered, builder.load(largest, typ=I64)


@dataclass(frozen=True)
class Gather:
    """The elements of a tile in a tensor."""

    tensor: NativeTensorView
    axes: tuple[GatherAxis, ...]

    def last(self, emit: Emitter, shape: Sequence[int]) -> tuple[ir.Value, list[ir.Value]]:
        """An i1, whether any element lies in the tensor, and the largest coordinate in it along each axis."""
        some: ir.Value = I1(1)
        lasts = []
        for axis, extent in zip(self.axes, shape):
            covered, last = axis.last(emit, extent, self.tensor.extents[axis.dim])
            some = emit.builder.and_(some, covered)
            lasts.append(last)
        return some, lasts

    def offset(self, emit: Emitter, index: Index) -> tuple[ir.Value, ir.Value]:
        """The offset of an element from the first of the tensor, in elements, and whether it lies in the tensor."""
        builder = emit.builder
        offset: ir.Value = I64(0)
        inside: ir.Value = I1(1)
        for axis, position in zip(self.axes, index):
            at = axis.coordinate(emit, position)
            below = builder.icmp_unsigned("<", at, self.tensor.extents[axis.dim])
            inside = builder.and_(inside, builder.and_(axis.reachable, below))
            offset = builder.add(offset, builder.mul(at, self.tensor.strides[axis.dim]))
        return offset, inside

    def address(self, emit: Emitter, element: t.ElementType, offset: ir.Value) -> ir.Value:
        return emit.builder.gep(self.tensor.base, [offset], source_etype=memory_type(element))

    def each_inside(self, emit: Emitter, shape: Sequence[int], act: Callable[[Index, ir.Value], None]) -> None:
        """Run ``act(index, offset)`` for the elements that lie in the tensor, in row-major order."""

        def body(index: Index) -> None:
            offset, inside = self.offset(emit, index)
            with emit.when(inside):
                act(index, offset)

        emit.loop_nest(shape, body)


def gather(lowering: Lowering, view: NativeTileView, index: Sequence[Value]) -> Gather:
    """The elements of the tile at `index` of a view."""
    if isinstance(view.type, t.GatherScatterViewType):
        return gather_rows(lowering, view.tensor, view.type.sparse_dim, index)
    steps = zip(view.type.tensor_dims, view.type.tile_steps, index)
    return Gather(view.tensor, tuple(_axis(lowering, view.tensor, dim, value, step) for dim, step, value in steps))


def gather_rows(lowering: Lowering, tensor: NativeTensorView, dim: int, index: Sequence[Value]) -> Gather:
    """From the index operands of a gather/scatter view: one per dimension, a tile of rows at `dim`."""
    rows = materialized(lowering.emit, lowering.tile(index[dim]))
    axes = [_axis(lowering, tensor, at, value) for at, value in enumerate(index) if at != dim]
    return Gather(tensor, (*axes[:dim], GatherAxis(dim, I64(0), I1(1), rows), *axes[dim:]))


def _axis(lowering: Lowering, tensor: NativeTensorView, dim: int, index: Value, step: int = 1) -> GatherAxis:
    """An axis that starts at the unsigned `index` times `step`, without wrapping around."""
    builder, position = lowering.builder, lowering.unsigned(index)
    start = builder.mul(position, I64(step))
    exact = builder.icmp_unsigned("<=", position, I64(((1 << 64) - 1) // step))
    return GatherAxis(dim, start, builder.and_(exact, builder.icmp_unsigned("<", start, tensor.extents[dim])))


# ---------------------------------------------------------------- accesses


def load_gather(
    lowering: Lowering, type: t.TileType, where: Gather, outside: PaddingValue | None, ordering: MemoryOrdering
) -> Tile:
    """The tile read now; what lies outside the tensor reads as the padding."""
    element = type.number
    other = padding(element, outside)
    dim = _row_dimension(type, where, ordering)
    if dim is not None:
        return _load_rows(lowering, type, where, dim, None if is_zero(element, outside) else other)

    def compute(emit: Emitter, index: Index) -> Num:
        offset, inside = where.offset(emit, index)

        def load() -> ir.Value:
            if element is t.F4E2M1FN:
                return load_nibble(emit.builder, where.tensor.base, offset)
            return load_element(emit, element, where.address(emit, element, offset), ordering)

        return load_where(emit, element, inside, to_memory(emit.builder, other), load)

    return materialized(lowering.emit, ExpressionTile(type, compute))


def store_gather(lowering: Lowering, tile: Tile, where: Gather, ordering: MemoryOrdering) -> None:
    """Write the elements that lie in the tensor."""
    emit, element = lowering.emit, tile.type.number
    dim = _row_dimension(tile.type, where, ordering)
    if dim is not None and all(extent == 1 for extent in tile.type.shape[dim + 1 :]):
        _store_rows(lowering, tile, where, dim)
        return
    source = materialized(emit, tile)

    def write(index: Index, offset: ir.Value) -> None:
        stored = to_memory(emit.builder, source.at(emit, index))
        if element is t.F4E2M1FN:
            store_nibble(emit.builder, where.tensor.base, offset, stored)
        else:
            store_element(emit, element, where.address(emit, element, offset), stored, ordering)

    where.each_inside(emit, tile.type.shape, write)


def update_gather(lowering: Lowering, tile: Tile, where: Gather, mode: AtomicMode, ordering: MemoryOrdering) -> None:
    """Combine the elements that lie in the tensor into memory."""
    emit, element = lowering.emit, tile.type.number
    source = materialized(emit, tile)

    def update(index: Index, offset: ir.Value) -> None:
        update_element(emit, mode, where.address(emit, element, offset), source.at(emit, index), ordering)

    where.each_inside(emit, tile.type.shape, update)


# ---------------------------------------------------------------- rows


def _row_dimension(type: t.TileType, where: Gather, ordering: MemoryOrdering) -> int | None:
    """The last dimension along which neighbours lie side by side in the tensor, if they move as bytes and are many."""
    if ordering is not MemoryOrdering.WEAK or not moves_as_bytes(type.number):
        return None
    for dim in reversed(range(type.rank)):
        axis = where.axes[dim]
        stride = where.tensor.strides[axis.dim]
        together = axis.rows is None and isinstance(stride, ir.Constant) and stride == I64(1)
        if together and type.shape[dim] * type.number.byte_size >= LEAST:
            return dim
    return None


def _each_row(
    emit: Emitter, type: t.TileType, where: Gather, dim: int, act: Callable[[Index, Window, ir.Value], None]
) -> None:
    """Run ``act(index, memory, count)`` for all rows in row-major order: `count` elements from `index` on lie in the
    tensor, which are those of `memory`."""
    builder, axis, extent = emit.builder, where.axes[dim], I64(type.shape[dim])
    left = builder.sub(where.tensor.extents[axis.dim], axis.start)
    most = builder.select(builder.icmp_unsigned("<", left, extent), left, extent)
    strides = tuple(I64(int(other == dim)) for other in range(type.rank))

    def row(index: Index) -> None:
        offset, inside = where.offset(emit, index)
        memory = Window(type, where.address(emit, type.number, offset), strides)
        act(index, memory, builder.select(inside, most, I64(0)))

    emit.loop_nest([*type.shape[:dim], 1, *type.shape[dim + 1 :]], row)


def _load_rows(lowering: Lowering, type: t.TileType, where: Gather, dim: int, outside: Num | None) -> Tile:
    """The tile read now, padded with `outside`; zeros if it is None."""
    emit = lowering.emit
    copy = turned_buffer(emit, type, [*(other for other in range(type.rank) if other != dim), dim])

    def read(index: Index, memory: Window, count: ir.Value) -> None:
        copy_padded_row(emit, dim, memory, copy, outside, index, count)

    _each_row(emit, type, where, dim, read)
    return copy


def _store_rows(lowering: Lowering, tile: Tile, where: Gather, dim: int) -> None:
    """Write the elements that lie in the tensor, in row-major order."""
    emit, builder = lowering.emit, lowering.builder
    source = dense(emit, tile)

    def write(index: Index, memory: Window, count: ir.Value) -> None:
        with emit.when(builder.icmp_unsigned("!=", count, I64(0))):
            copy_row(emit, memory, source, dim, index, count)

    _each_row(emit, tile.type, where, dim, write)
