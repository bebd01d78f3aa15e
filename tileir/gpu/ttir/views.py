"""TTIR of views (specification 8.11): making them, asking their shapes, loading and storing tiles through them.

Knows: how a tile of a view becomes a load or a store. Does not know: where its elements lie (`tiling`), how one lies in
memory (`cells`, `nibbles`), when the copy engine serves a view (`descriptors`).

Dimensions of one element are left out of loads and stores: what comes of it is what the program would have written
without them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tileir.gpu.ttir import cells, descriptors, scalars
from tileir.gpu.ttir.code import Type, Value
from tileir.gpu.ttir.forms import TensorView, TileView, stored
from tileir.gpu.ttir.lowering import Lower, Lowering
from tileir.gpu.ttir.tiling import Axis, axes_at, inside, places, pointers, squeezed, tensor_dims, tile_steps
from tileir.ir import core
from tileir.ir import types as t
from tileir.ir.core import Op
from tileir.ir.rules import Rules
from tileir.ops import views

__all__ = ["places", "rules"]

rules: Rules[Lower] = Rules()


# ---------------------------------------------------------------- making views


@rules(views.MakeTensorView)
def lower_make_tensor_view(lowering: Lowering, op: views.MakeTensorView) -> None:
    type = op.result.type
    assert isinstance(type, t.TensorViewType)
    shape = tuple(_entries(lowering, type.shape, op.dynamicShape))
    strides = tuple(_entries(lowering, type.strides, op.dynamicStrides))
    lowering.bind(op.result, TensorView(type, lowering.value(op.base), shape, strides))


def _entries(lowering: Lowering, static: Sequence[t.Dim], dynamic: Sequence[core.Value]) -> Iterator[Value]:
    """The entries of a shape or of strides; those given by operands are unsigned."""
    given = iter(dynamic)
    for entry in static:
        if entry is None:
            yield scalars.unsigned(lowering, lowering.value(next(given)))
        else:
            yield scalars.number(lowering, entry)


@rules(views.MakePartitionView, views.MakeStridedView, views.MakeGatherScatterView)
def lower_make_tile_view(lowering: Lowering, op: views.MakePartitionView) -> None:
    type = op.result.type
    assert isinstance(type, t.TileViewType)
    view = TileView(type, lowering.tensor_view(op.tensor_view))
    lowering.bind(op.result, replace(view, descriptor=descriptors.descriptor_for(lowering, op, view)))


# ---------------------------------------------------------------- asking views


@rules(views.GetTensorShape)
def lower_get_tensor_shape(lowering: Lowering, op: views.GetTensorShape) -> None:
    _bind_extents(lowering, op.extents, lowering.tensor_view(op.src).shape)


@rules(views.GetIndexSpaceShape)
def lower_get_index_space_shape(lowering: Lowering, op: views.GetIndexSpaceShape) -> None:
    view = lowering.view(op.src)
    extents = [view.tensor.shape[dim] for dim in tensor_dims(view.type)]
    counts = [_tile_count(lowering, extent, step) for extent, step in zip(extents, tile_steps(view.type))]
    _bind_extents(lowering, op.extents, counts)


def _tile_count(lowering: Lowering, extent: Value, step: int) -> Value:
    """The extent divided by the step, rounded up."""
    if step == 1:
        return extent
    constant = lowering.known.constant(extent)
    if constant is not None:
        return scalars.number(lowering, -(-constant // step))
    above = lowering.build.op("arith.addi", extent, scalars.number(lowering, step - 1))
    return lowering.build.op("arith.divui", above, scalars.number(lowering, step))


def _bind_extents(lowering: Lowering, results: Sequence[core.Value], extents: Sequence[Value]) -> None:
    for result, extent in zip(results, extents):
        lowering.bind(result, lowering.build.resized(extent, lowering.type_of(result).element, signed=False))


# ---------------------------------------------------------------- loading and storing


@rules(views.LoadView)
def lower_load_view(lowering: Lowering, op: views.LoadView) -> None:
    view = lowering.view(op.view)
    indices = [lowering.value(index) for index in op.index]
    lowering.bind(op.tile, load_tile(lowering, op, view, indices))
    lowering.bind_token(op.result_token)


def load_tile(lowering: Lowering, op: views.LoadView, view: TileView, indices: Sequence[Value]) -> Value:
    """The tile at `indices`."""
    axes = axes_at(lowering, view, indices, op.inbounds)
    if view.descriptor is not None and descriptors.pays(lowering, op):
        loaded = descriptors.loaded(lowering, view, axes)
    else:
        loaded = _gathered(lowering, op, view, axes)
    if not (view.type.element is t.TF32 and lowering.users.only_multiplied(op.tile)):
        loaded = cells.from_memory(lowering.build, view.type.element, loaded)
    return lowering.build.reshape(loaded, *view.type.tile_shape)


def _gathered(lowering: Lowering, op: views.LoadView, view: TileView, axes: Sequence[Axis]) -> Value:
    """The tile as it lies in memory, without dimensions of one element, by the addresses of its elements."""
    build, kept = lowering.build, squeezed(axes)
    shape = tuple(axis.count for axis in kept)
    outside = _padding(lowering, op, view.type, shape)
    found = pointers(lowering, view.tensor.base, axes, kept)
    mask = inside(lowering, axes, kept)
    operands = [found] if mask is None else [found, mask, outside]
    return build.op(
        "tt.load",
        *operands,
        type=Type(stored(view.type.element), shape),
        operandSegmentSizes=(1, int(mask is not None), int(mask is not None)),
        cache=1,
        evict=1,
        isVolatile=False,
    )


def _padding(lowering: Lowering, op: Op, view: t.TileViewType, shape: tuple[int, ...]) -> Value:
    """What elements outside the tensor read as, as it would lie in memory."""
    found = cells.padding(lowering.build, view.element, view.padding, shape)
    if found is None:
        assert view.padding is not None
        raise lowering.unsupported(op, f"pads with {view.padding.text}, which {view.element.name} does not have")
    return found


@rules(views.StoreView)
def lower_store_view(lowering: Lowering, op: views.StoreView) -> None:
    view = lowering.view(op.view)
    indices = [lowering.value(index) for index in op.index]
    store_tile(lowering, op, lowering.value(op.tile), view, indices)
    lowering.bind_token(op.result_token)


def store_tile(lowering: Lowering, op: views.StoreView, tile: Value, view: TileView, indices: Sequence[Value]) -> None:
    """Write the elements of the tile that lie in the tensor."""
    build = lowering.build
    axes = axes_at(lowering, view, indices, op.inbounds)
    kept = squeezed(axes)
    found = pointers(lowering, view.tensor.base, axes, kept)
    mask = inside(lowering, axes, kept)
    values = build.reshape(cells.to_memory(build, view.type.element, tile), *(axis.count for axis in kept))
    build.effect("tt.store", found, values, *(() if mask is None else (mask,)), cache=1, evict=1)
