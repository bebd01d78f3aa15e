"""TTIR of views (spec: views#top): making them, asking their shapes, loading and storing tiles through them.

Dimensions of one element are left out of loads and stores, as if the program had been written without them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tileir.gpu.ttir.forms import LoweredTensorView, LoweredTileView, stored
from tileir.gpu.ttir.ir.builder import MemoryOrder
from tileir.gpu.ttir.ir.code import TtirValue
from tileir.gpu.ttir.lib import descriptors, scalars
from tileir.gpu.ttir.lib.memory import from_memory, padding, to_memory
from tileir.gpu.ttir.lib.nibbles import load_nibbles, store_nibbles
from tileir.gpu.ttir.lib.tiling import TileElements
from tileir.gpu.ttir.lowering import Lower, TtirLowering
from tileir.ir import core
from tileir.ir import types as t
from tileir.ir.rules import Rules
from tileir.ops import views

rules: Rules[Lower] = Rules()


# ---------------------------------------------------------------- making views


@rules(views.MakeTensorView)
def lower_make_tensor_view(lowering: TtirLowering, op: views.MakeTensorView) -> LoweredTensorView:
    type = op.result.type
    shape = tuple(_entries(lowering, type.shape, op.dynamicShape))
    strides = tuple(_entries(lowering, type.strides, op.dynamicStrides))
    return LoweredTensorView(type, lowering.value(op.base), shape, strides)


def _entries(lowering: TtirLowering, static: Sequence[t.Dim], dynamic: Sequence[core.Value]) -> Iterator[TtirValue]:
    """Yield the entries of a shape or of strides; those given by operands are unsigned."""
    given = iter(dynamic)
    for entry in static:
        if entry is None:
            yield scalars.unsigned(lowering, lowering.value(next(given)))
        else:
            yield scalars.number(lowering, entry)


@rules(views.MakePartitionView, views.MakeStridedView, views.MakeGatherScatterView)
def lower_make_tile_view(lowering: TtirLowering, op: views.MakePartitionView) -> LoweredTileView:
    type = op.result.type
    view = LoweredTileView(type, lowering.tensor_view(op.tensor_view))
    return descriptors.described(lowering, op, view)


# ---------------------------------------------------------------- asking views


@rules(views.GetTensorShape)
def lower_get_tensor_shape(lowering: TtirLowering, op: views.GetTensorShape) -> None:
    _bind_extents(lowering, op.extents, lowering.tensor_view(op.src).shape)


@rules(views.GetIndexSpaceShape)
def lower_get_index_space_shape(lowering: TtirLowering, op: views.GetIndexSpaceShape) -> None:
    view = lowering.view(op.src)
    extents = [view.tensor.shape[dim] for dim in view.type.tensor_dims]
    counts = [_tile_count(lowering, extent, step) for extent, step in zip(extents, view.type.tile_steps)]
    _bind_extents(lowering, op.extents, counts)


def _tile_count(lowering: TtirLowering, extent: TtirValue, step: int) -> TtirValue:
    """Return the extent divided by the step, rounded up."""
    return scalars.quotient(lowering, scalars.total(lowering, extent, scalars.number(lowering, step - 1)), step)


def _bind_extents(lowering: TtirLowering, results: Sequence[core.Value], extents: Sequence[TtirValue]) -> None:
    for result, extent in zip(results, extents):
        lowering.bind(result, lowering.build.resized(extent, lowering.type_of(result).element, signed=False))


# ---------------------------------------------------------------- loading and storing


@rules(views.LoadView)
def lower_load_view(lowering: TtirLowering, op: views.LoadView) -> TtirValue:
    view, indices = lowering.view(op.view), lowering.tiles(op.index)
    if view.descriptor is not None and descriptors.loads(lowering, op):
        loaded = descriptors.loaded(lowering, view, indices)
    else:
        loaded = _gathered(lowering, op, view, TileElements.at(lowering, view, indices, op.inbounds))
    if not (view.type.element is t.TF32 and lowering.users.only_multiplied(op.tile)):
        loaded = from_memory(lowering.build, view.type.element, loaded)
    return lowering.build.reshape(loaded, *view.type.tile_shape)


def _gathered(lowering: TtirLowering, op: views.LoadView, view: LoweredTileView, tile: TileElements) -> TtirValue:
    """Return the tile as it lies in memory, without dimensions of one element, by the addresses of its elements."""
    outside, order = padding(lowering, op, view.type), MemoryOrder.of(op)
    if view.type.element is t.F4E2M1FN:
        return load_nibbles(tile, outside, order)
    pointers = tile.pointers()
    other = lowering.build.bits(pointers.type.of(stored(view.type.element)), outside)
    return lowering.build.load(pointers, tile.inside(), other, order)


@rules(views.StoreView)
def lower_store_view(lowering: TtirLowering, op: views.StoreView) -> None:
    """Write the elements of the tile that lie in the tensor."""
    view, indices = lowering.view(op.view), lowering.tiles(op.index)
    values = to_memory(lowering.build, view.type.element, lowering.value(op.tile))
    values = lowering.build.reshape(values, *(count for count in view.type.tile_shape if count > 1))
    if view.descriptor is not None and descriptors.stores(lowering, op, view):
        descriptors.store(lowering, view, indices, values)
        return
    tile, order = TileElements.at(lowering, view, indices, op.inbounds), MemoryOrder.of(op)
    if view.type.element is t.F4E2M1FN:
        store_nibbles(tile, values, order)
    else:
        pointers = tile.pointers()
        lowering.build.store(pointers, values, tile.inside(), order)
