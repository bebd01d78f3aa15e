"""Native code for views (specification 8.11): tiles as strided windows of memory.

Knows: the index mapping of partition and strided views (operations 5.4), what happens at the border of a tensor.
Does not know: tiles that are read and written element by element (`cpu.places`): those of gather/scatter views, of
f4E2M1FN, of accesses with an ordering.

A tile that lies inside its tensor is a window of memory, read where it is used; one that sticks out is first copied
into the arena with its padding. Both are the same `Window` afterwards: a base and strides chosen by one branch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from llvmlite import ir

from tileir.cpu.constants import padding
from tileir.cpu.elements import I8, I64, PTR, memory_bytes
from tileir.cpu.emitter import Emitter, Index, either
from tileir.cpu.lowering import Lower, Lowering
from tileir.cpu.overlap import guarded
from tileir.cpu.places import gathered, places, scatter
from tileir.cpu.tensors import TensorView, TileView, tensor_dims, tensor_view, tile_steps, tile_view, unsigned
from tileir.cpu.tiles import Tile, Window, fill, new_buffer, pointer_to, scalar
from tileir.ir import types as t
from tileir.ir.attributes import MemoryOrdering
from tileir.ir.core import Op, Value
from tileir.ir.rules import Rules
from tileir.ops import views

rules: Rules[Lower] = Rules()


@dataclass
class Box:
    """The part of a tensor under a tile: where it begins, its strides and how many elements of each dimension are in.

    Everything is in tile-dimension order; `full` is an i1: no element is outside.
    """

    base: ir.Value
    strides: list[ir.Value]
    counts: list[ir.Value]
    full: ir.Value


# ---------------------------------------------------------------- making views


@rules(views.MakeTensorView)
def lower_make_tensor_view(lowering: Lowering, op: views.MakeTensorView) -> None:
    type = op.result.type
    base = pointer_to(lowering.builder, scalar(lowering.emit, lowering.tile(op.base)))
    extents = _entries(lowering, type.shape, op.dynamicShape)
    strides = _entries(lowering, type.strides, op.dynamicStrides)
    lowering.values[op.result] = TensorView(base, extents, strides)


def _entries(lowering: Lowering, static: tuple[t.Dim, ...], dynamic: list[Value]) -> list[ir.Value]:
    given = iter([unsigned(lowering, value) for value in dynamic])
    return [next(given) if entry is None else I64(entry) for entry in static]


@rules(views.MakePartitionView, views.MakeStridedView, views.MakeGatherScatterView)
def lower_make_tile_view(lowering: Lowering, op: views.MakePartitionView) -> None:
    lowering.values[op.result] = TileView(tensor_view(lowering, op.tensor_view), op.result.type)


# ---------------------------------------------------------------- asking views


@rules(views.GetTensorShape)
def lower_get_tensor_shape(lowering: Lowering, op: views.GetTensorShape) -> None:
    _bind_extents(lowering, op.extents, tensor_view(lowering, op.src).extents)


@rules(views.GetIndexSpaceShape)
def lower_get_index_space_shape(lowering: Lowering, op: views.GetIndexSpaceShape) -> None:
    view = tile_view(lowering, op.src)
    builder = lowering.builder
    extents = [view.tensor.extents[dim] for dim in tensor_dims(view.type)]
    counts = []
    for extent, step in zip(extents, tile_steps(view.type)):
        whole = builder.udiv(extent, I64(step))
        rest = builder.icmp_unsigned("!=", builder.urem(extent, I64(step)), I64(0))
        counts.append(builder.add(whole, builder.zext(rest, I64)))
    _bind_extents(lowering, op.extents, counts)


def _bind_extents(lowering: Lowering, results: list[Value], extents: list[ir.Value]) -> None:
    for result, extent in zip(results, extents):
        assert isinstance(result.type, t.TileType) and isinstance(result.type.element, t.ElementType)
        bits = result.type.element.bits
        lowering.bind_number(result, extent if bits == 64 else lowering.builder.trunc(extent, ir.IntType(bits)))


# ---------------------------------------------------------------- the box of a tile


def box(lowering: Lowering, view: TileView, index: list[Value]) -> Box:
    """Where the tile at `index` of a partition or strided view lies (operations 5.4); an index is unsigned."""
    builder, tensor = lowering.builder, view.tensor
    dims, steps = tensor_dims(view.type), tile_steps(view.type)
    offset: ir.Value = I64(0)
    full: ir.Value = ir.IntType(1)(1)
    counts, strides = [], []
    for position, (dim, step, extent) in enumerate(zip(dims, steps, view.type.tile_shape)):
        start, inside = _start(lowering, index[position], step, tensor.extents[dim])
        left = builder.select(inside, builder.sub(tensor.extents[dim], start), I64(0))
        whole = builder.icmp_unsigned(">=", left, I64(extent))
        counts.append(builder.select(whole, I64(extent), left))
        full = builder.and_(full, whole)
        strides.append(tensor.strides[dim])
        offset = builder.add(offset, builder.mul(start, tensor.strides[dim]))
    size = memory_bytes(view.type.element)
    base = builder.gep(tensor.base, [builder.mul(offset, I64(size))], source_etype=I8)
    return Box(base, strides, counts, full)


def _start(lowering: Lowering, index: Value, step: int, extent: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The first coordinate of the tile, and whether it lies in the tensor without wrapping around."""
    builder = lowering.builder
    position = unsigned(lowering, index)
    start = builder.mul(position, I64(step))
    reachable = builder.icmp_unsigned("<=", position, I64(((1 << 64) - 1) // step))
    return start, builder.and_(reachable, builder.icmp_unsigned("<", start, extent))


# ---------------------------------------------------------------- loading


def load_box(lowering: Lowering, result: Value, view: TileView, place: Box) -> None:
    """Bind `result` to the window of memory or, at the border, to a padded copy of what lies inside."""
    emit, builder = lowering.emit, lowering.builder
    assert isinstance(result.type, t.TileType)
    type = result.type
    copy = _border_buffer(emit, type, view)
    inside, partial, merge = (builder.append_basic_block(name) for name in ("inside", "partial", "loaded"))
    builder.cbranch(place.full, inside, partial)
    builder.position_at_end(inside)
    builder.branch(merge)
    builder.position_at_end(partial)
    _padded_copy(emit, type, view, place, copy)
    left = builder.block
    builder.branch(merge)
    builder.position_at_end(merge)
    base = either(builder, PTR, (place.base, inside), (copy.base, left))
    strides = [either(builder, I64, (mine, inside), (dense, left)) for mine, dense in zip(place.strides, copy.strides)]
    lowering.bind_load(result, Window(type, base, strides, shared=True))


def _border_buffer(emit: Emitter, type: t.TileType, view: TileView) -> Window:
    """A dense buffer with the dimensions in the order of the tensor: a unit stride stays one on both ways here."""
    dims = tensor_dims(view.type)
    order = sorted(range(type.rank), key=lambda dim: dims[dim])
    buffer = new_buffer(emit, t.tile(type.element, *(type.shape[dim] for dim in order)))
    return Window(type, buffer.base, [buffer.strides[order.index(dim)] for dim in range(type.rank)])


def _padded_copy(emit: Emitter, type: t.TileType, view: TileView, place: Box, copy: Window) -> None:
    outside = padding(view.type.element, view.type.padding)
    emit.loop_nest(type.shape, lambda index: copy.put(emit, index, outside))
    memory = Window(type, place.base, place.strides)
    bounded_nest(emit, place.counts, lambda index: copy.put(emit, index, memory.at(emit, index)))


def bounded_nest(emit: Emitter, counts: list[ir.Value], body: Callable[[Index], None]) -> None:
    """A loop nest over `counts` elements of each dimension, any of which may be 0."""
    builder = emit.builder
    some: ir.Value = ir.IntType(1)(1)
    for count in counts:
        some = builder.and_(some, builder.icmp_unsigned("!=", count, I64(0)))
    with builder.if_then(some):
        emit.loop_nest(counts, body)


@rules(views.LoadView)
def lower_load_view(lowering: Lowering, op: views.LoadView) -> None:
    load_tile(lowering, op.tile, tile_view(lowering, op.view), op.index, op.memory_ordering_semantics)
    lowering.values[op.result_token] = None


def load_tile(lowering: Lowering, result: Value, view: TileView, index: list[Value], ordering: MemoryOrdering) -> None:
    """Bind `result` to the tile at `index` of the view."""
    if _is_window(view, ordering):
        load_box(lowering, result, view, box(lowering, view, index))
    else:
        where = places(lowering, view, index)
        lowering.values[result] = gathered(lowering, view.type.tile, where, view.type.padding, ordering)


def _is_window(view: TileView, ordering: MemoryOrdering) -> bool:
    """Whether the tile may be read and written as a window of memory."""
    if ordering is not MemoryOrdering.WEAK or view.type.element is t.F4E2M1FN:
        return False
    return not isinstance(view.type, t.GatherScatterViewType)


# ---------------------------------------------------------------- storing


@rules(views.StoreView)
def lower_store_view(lowering: Lowering, op: views.StoreView) -> None:
    tile = lowering.tile(op.tile)
    store_tile(lowering, op, tile, tile_view(lowering, op.view), op.index, op.memory_ordering_semantics)
    lowering.values[op.result_token] = None


def store_tile(
    lowering: Lowering, op: Op, tile: Tile, view: TileView, index: list[Value], ordering: MemoryOrdering
) -> None:
    """Write the tile at `index` of the view."""
    feeding = lowering.settle(op)
    if _is_window(view, ordering):
        store_box(lowering, op, feeding, tile, box(lowering, view, index))
    else:
        scatter(lowering, tile, places(lowering, view, index), ordering)


def store_box(lowering: Lowering, op: Op, feeding: list[Value], tile: Tile, place: Box) -> None:
    """Write the elements of the tile that lie in the tensor: straight to memory, at the border through a copy."""
    emit, builder = lowering.emit, lowering.builder
    memory = Window(tile.type, place.base, place.strides)
    with builder.if_else(place.full) as (inside, partial):
        with inside, guarded(lowering, op, feeding, memory):
            fill(emit, memory, tile)
        with partial, emit.region():
            copy = new_buffer(emit, tile.type)
            fill(emit, copy, tile)
            bounded_nest(emit, place.counts, lambda index: memory.put(emit, index, copy.at(emit, index)))
