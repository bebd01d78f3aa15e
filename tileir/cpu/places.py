"""Tiles of views element by element: each one is tested and addressed by itself (operations 5.4).

Knows: where the elements of a tile lie, how one is read and written in each ordering. Does not know: operations, nor
the fast way of tiles whose elements lie in a window of memory (`cpu.views`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from llvmlite import ir

from tileir.cpu.constants import padding
from tileir.cpu.elements import I1, I64, Num, memory_bytes, memory_type
from tileir.cpu.emitter import Emitter, Index
from tileir.cpu.lowering import Lowering
from tileir.cpu.nibbles import load_nibble, store_nibble
from tileir.cpu.pointers import ORDERINGS, store_ordered
from tileir.cpu.tensors import TensorView, TileView, tensor_dims, tile_steps, unsigned
from tileir.cpu.tiles import Expression, Tile, from_memory, materialized, to_memory, wide
from tileir.ir import types as t
from tileir.ir.attributes import MemoryOrdering
from tileir.ir.core import Value
from tileir.ir.types import PaddingValue


@dataclass
class Axis:
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


@dataclass
class Places:
    """Where the elements of a tile lie in a tensor."""

    tensor: TensorView
    axes: list[Axis]

    def place(self, emit: Emitter, index: Index) -> tuple[ir.Value, ir.Value]:
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


def places(lowering: Lowering, view: TileView, index: Sequence[Value]) -> Places:
    """The places of the tile at `index` of a view."""
    if isinstance(view.type, t.GatherScatterViewType):
        return row_places(lowering, view.tensor, view.type.sparse_dim, index)
    steps = zip(tensor_dims(view.type), tile_steps(view.type), index)
    return Places(view.tensor, [axis(lowering, view.tensor, dim, value, step) for dim, step, value in steps])


def axis(lowering: Lowering, tensor: TensorView, dim: int, index: Value, step: int = 1) -> Axis:
    """An axis that starts at the unsigned `index` times `step`, without wrapping around."""
    builder, position = lowering.builder, unsigned(lowering, index)
    start = builder.mul(position, I64(step))
    exact = builder.icmp_unsigned("<=", position, I64(((1 << 64) - 1) // step))
    return Axis(dim, start, builder.and_(exact, builder.icmp_unsigned("<", start, tensor.extents[dim])))


def row_places(lowering: Lowering, tensor: TensorView, dim: int, index: Sequence[Value]) -> Places:
    """From the index operands of a gather/scatter view: one per dimension, a tile of rows at `dim`."""
    rows = materialized(lowering.emit, lowering.tile(index[dim]))
    axes = [axis(lowering, tensor, at, value) for at, value in enumerate(index) if at != dim]
    return Places(tensor, [*axes[:dim], Axis(dim, I64(0), I1(1), rows), *axes[dim:]])


# ---------------------------------------------------------------- reading and writing


def gathered(
    lowering: Lowering, type: t.TileType, where: Places, outside: PaddingValue | None, ordering: MemoryOrdering
) -> Tile:
    """The tile read now; what lies outside the tensor reads as the padding."""
    element = type.element
    assert isinstance(element, t.ElementType)
    other = padding(element, outside)

    def compute(emit: Emitter, index: Index) -> Num:
        builder = emit.builder
        offset, inside = where.place(emit, index)
        otherwise = to_memory(builder, other)
        before = builder.block
        with builder.if_then(inside):
            loaded = _load(emit, element, where.tensor.base, offset, ordering)
            reading = builder.block
        chosen = builder.phi(memory_type(element))
        chosen.add_incoming(otherwise, before)
        chosen.add_incoming(loaded, reading)
        return from_memory(builder, element, chosen)

    return materialized(lowering.emit, Expression(type, compute))


def scatter(lowering: Lowering, tile: Tile, where: Places, ordering: MemoryOrdering) -> None:
    """Write the elements that lie in the tensor."""
    emit, element = lowering.emit, tile.element
    assert isinstance(element, t.ElementType)
    source = materialized(emit, tile)

    def write(index: Index, offset: ir.Value) -> None:
        stored = to_memory(emit.builder, source.at(emit, index))
        _store(emit, element, where.tensor.base, offset, stored, ordering)

    each_inside(emit, tile.type.shape, where, write)


def each_inside(emit: Emitter, shape: Sequence[int], where: Places, act: Callable[[Index, ir.Value], None]) -> None:
    """Run ``act(index, offset)`` for the elements that lie in the tensor, in row-major order."""

    def body(index: Index) -> None:
        offset, inside = where.place(emit, index)
        with emit.when(inside):
            act(index, offset)

    emit.loop_nest(shape, body)


def address(emit: Emitter, element: t.ElementType, base: ir.Value, offset: ir.Value) -> ir.Value:
    return emit.builder.gep(base, [offset], source_etype=memory_type(element))


def _load(
    emit: Emitter, element: t.ElementType, base: ir.Value, offset: ir.Value, ordering: MemoryOrdering
) -> ir.Value:
    builder, kind, size = emit.builder, memory_type(element), memory_bytes(element)
    if element is t.F4E2M1FN:
        return load_nibble(builder, base, offset)
    if ordering is MemoryOrdering.WEAK:
        return emit.independent(builder.load(address(emit, element, base, offset), typ=kind, align=size))
    return builder.load_atomic(address(emit, element, base, offset), ORDERINGS[ordering], size, typ=kind)


def _store(
    emit: Emitter,
    element: t.ElementType,
    base: ir.Value,
    offset: ir.Value,
    stored: ir.Value,
    ordering: MemoryOrdering,
) -> None:
    builder, size = emit.builder, memory_bytes(element)
    if element is t.F4E2M1FN:
        store_nibble(builder, base, offset, stored)
    elif ordering is MemoryOrdering.WEAK:
        emit.independent(builder.store(stored, address(emit, element, base, offset), align=size))
    else:
        store_ordered(builder, stored, address(emit, element, base, offset), ordering, size)
