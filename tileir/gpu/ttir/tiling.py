"""Where the elements of a tile of a view lie (specification, operations 5.4).

Knows: the index mapping of partition, strided and gather/scatter views, the test at the edges of the tensor, and
what makes addresses and tests cheap. Does not know: loads and stores (`views`).

Indices, extents and strides are unsigned 64-bit numbers, the latter below 2^63; coordinates do not wrap around.
The first coordinate of a tile is a 64-bit scalar. Along a dimension without rows, what is counted from there takes 32
bits wherever the strides are known to be small enough; a test is left out, or made once for all elements, if it can be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tileir.gpu.ttir import scalars
from tileir.gpu.ttir.code import Value
from tileir.gpu.ttir.forms import TileView
from tileir.gpu.ttir.lowering import Lowering
from tileir.ir import types as t

MAX_I32 = (1 << 31) - 1
MAX_I64 = (1 << 63) - 1


@dataclass(frozen=True)
class Axis:
    """One dimension of a tile: `count` elements from coordinate `start` (i64) on, or at those of `rows` (a tensor of
    i64) from there on, in a dimension of the tensor with `extent` and `stride`.

    `reachable` is an i1: whether `start` was computed without wrapping around (None: surely). The program may have
    promised that the tile does not leave the tensor along the dimension.
    """

    count: int
    start: Value
    rows: Value | None
    extent: Value
    stride: Value
    reachable: Value | None
    promised: bool


def places(
    lowering: Lowering, view: TileView, indices: Sequence[Value], inbounds: Sequence[bool] = ()
) -> tuple[Value, Value | None]:
    """The address of each element of the tile at `indices`, and whether it lies in the tensor (None: all do).

    The elements must be whole bytes. Along dimensions that `inbounds` names nothing is tested.
    """
    axes = axes_at(lowering, view, indices, inbounds)
    return pointers(lowering, view.tensor.base, axes, axes), inside(lowering, axes, axes)


def squeezed(axes: Sequence[Axis]) -> list[Axis]:
    """The dimensions along which the tile has more than one element."""
    return [axis for axis in axes if axis.count > 1]


# ---------------------------------------------------------------- the mapping


def tile_steps(view: t.TileViewType) -> tuple[int, ...]:
    """How many elements the tile moves when an index grows by one, for each tile dimension."""
    if isinstance(view, t.PartitionViewType):
        return view.tile_shape
    if isinstance(view, t.StridedViewType):
        return view.traversal_strides
    return (1,) * view.rank


def tensor_dims(view: t.TileViewType) -> tuple[int, ...]:
    """The tensor dimension of each tile dimension."""
    return view.dim_map if isinstance(view, t.PartitionViewType | t.StridedViewType) else tuple(range(view.rank))


def axes_at(lowering: Lowering, view: TileView, indices: Sequence[Value], inbounds: Sequence[bool] = ()) -> list[Axis]:
    """The dimensions of the tile at `indices`."""
    promises = list(inbounds) or [False] * view.type.rank
    axes = []
    for position, (dim, step) in enumerate(zip(tensor_dims(view.type), tile_steps(view.type))):
        count, index = view.type.tile_shape[position], scalars.unsigned(lowering, indices[position])
        size, stride = view.tensor.shape[dim], view.tensor.strides[dim]
        if index.type.is_tensor and count > 1:
            zero = scalars.number(lowering, 0)
            axes.append(Axis(count, zero, index, size, stride, None, promises[position]))
        else:
            start, reachable = _start(lowering, lowering.build.reshape(index), step)
            axes.append(Axis(count, start, None, size, stride, reachable, promises[position]))
    return axes


def _start(lowering: Lowering, index: Value, step: int) -> tuple[Value, Value | None]:
    """The first coordinate and, if that may not fit 63 bits, whether it does."""
    start = scalars.product(lowering, index, scalars.number(lowering, step))
    if lowering.known.of(start).low >= 0:
        return start, None
    return start, lowering.build.compare("ule", index, scalars.number(lowering, MAX_I64 // step))


# ---------------------------------------------------------------- addresses


def pointers(lowering: Lowering, base: Value, axes: Sequence[Axis], kept: Sequence[Axis]) -> Value:
    """The address of each element, in the dimensions `kept` of `axes`: those left out have one element."""
    build = lowering.build
    first = scalars.moved(lowering, base, first_offset(lowering, axes))
    shape = [1] * len(kept)
    found = build.splat(first, *shape)
    # Outer dimensions first: what changes from element to element is added last, where it is seen.
    for position, axis in enumerate(kept):
        offsets = line(lowering, _offsets(lowering, axis), position, len(kept))
        if offsets is not None:
            shape[position] = axis.count
            found = build.op("tt.addptr", build.broadcast(found, *shape), build.broadcast(offsets, *shape))
    return found


def offsets(lowering: Lowering, axes: Sequence[Axis], kept: Sequence[Axis]) -> Value:
    """How many elements each element lies behind the first of the tensor, as i64, in the dimensions `kept`."""
    build, shape = lowering.build, [axis.count for axis in kept]
    found = build.splat(first_offset(lowering, axes), *shape)
    for position, axis in enumerate(kept):
        steps = line(lowering, _offsets(lowering, axis), position, len(kept))
        if steps is not None:
            wide = build.resized(steps, "i64", signed=False)
            found = build.op("arith.addi", found, build.broadcast(wide, *shape))
    return found


def line(lowering: Lowering, values: Value | None, position: int, rank: int) -> Value | None:
    """Values along one dimension as a tensor of `rank` dimensions, all others of extent 1."""
    if values is None:
        return None
    for axis in range(rank):
        if axis != position:
            shape = (*values.type.shape[:axis], 1, *values.type.shape[axis:])
            values = lowering.build.op("tt.expand_dims", values, type=values.type.shaped(*shape), axis=axis)
    return values


def first_offset(lowering: Lowering, axes: Sequence[Axis]) -> Value:
    """How many elements the first element of the tile lies behind the first of the tensor."""
    offset = scalars.number(lowering, 0)
    for axis in axes:
        offset = scalars.total(lowering, offset, scalars.product(lowering, axis.start, axis.stride))
    return offset


def _offsets(lowering: Lowering, axis: Axis) -> Value | None:
    """The offsets along one dimension; None if there is only that of the first element."""
    build = lowering.build
    stride = lowering.known.of(axis.stride)
    if axis.rows is not None:
        return _scaled(lowering, axis.rows, axis.stride)
    if axis.count == 1:
        return None
    steps = build.range(axis.count)
    if stride.low >= 0 and (axis.count - 1) * stride.high <= MAX_I32:
        return _scaled(lowering, steps, scalars.narrowed(lowering, axis.stride))
    return _scaled(lowering, build.resized(steps, "i64", signed=False), axis.stride)


def _scaled(lowering: Lowering, steps: Value, stride: Value) -> Value:
    if lowering.known.constant(stride) == 1:
        return steps
    return lowering.build.op("arith.muli", steps, lowering.build.like(stride, steps))


# ---------------------------------------------------------------- the edges


def inside(lowering: Lowering, axes: Sequence[Axis], kept: Sequence[Axis]) -> Value | None:
    """Whether each element lies in the tensor, in the dimensions `kept` of `axes`; None if all do."""
    build = lowering.build
    shape = [axis.count for axis in kept]
    whole = build.all_true(*(_common_test(lowering, axis) for axis in axes))
    lines = [line(lowering, _own_test(lowering, axis), position, len(kept)) for position, axis in enumerate(kept)]
    parts = [build.broadcast(part, *shape) for part in lines if part is not None]
    return build.all_true(None if whole is None else build.splat(whole, *shape), *parts)


def _common_test(lowering: Lowering, axis: Axis) -> Value | None:
    """Whether the elements along a dimension lie in the tensor, if either all do or none does and that is not known."""
    if axis.rows is not None or axis.promised or surely_inside(lowering, axis) or not all_or_none(lowering, axis):
        return None
    return lowering.build.compare("sgt", _left(lowering, axis), scalars.number(lowering, 0))


def _own_test(lowering: Lowering, axis: Axis) -> Value | None:
    """Whether each element along a dimension lies in the tensor, if that differs from one to the other."""
    build = lowering.build
    if axis.promised or surely_inside(lowering, axis):
        return None
    if axis.rows is not None:
        return build.compare("ult", axis.rows, build.like(axis.extent, axis.rows))
    if all_or_none(lowering, axis):
        return None
    steps = build.range(axis.count)
    return build.compare("slt", steps, build.like(_clamped(lowering, _left(lowering, axis), axis.count), steps))


def _left(lowering: Lowering, axis: Axis) -> Value:
    """How many elements of the tensor there are from the start of the tile on; may be negative."""
    left = lowering.build.op("arith.subi", axis.extent, axis.start)
    if axis.reachable is None:
        return left
    return lowering.build.select(axis.reachable, left, scalars.number(lowering, 0))


def _clamped(lowering: Lowering, left: Value, count: int) -> Value:
    """`left` as an i32 from 0 to `count`."""
    build = lowering.build
    below = build.op("arith.minsi", left, scalars.number(lowering, count))
    return scalars.narrowed(lowering, build.op("arith.maxsi", below, scalars.number(lowering, 0)))


def surely_inside(lowering: Lowering, axis: Axis) -> bool:
    """Whether the tile is known not to leave the tensor along the dimension."""
    extent = lowering.known.of(axis.extent)
    first = lowering.known.of(axis.start if axis.rows is None else axis.rows)
    last = first.high + (axis.count - 1 if axis.rows is None else 0)
    return first.low >= 0 and last < extent.low


def all_or_none(lowering: Lowering, axis: Axis) -> bool:
    """Whether the edge of the tensor is known not to run through the tile."""
    known = lowering.known
    return min(known.divisor(axis.start), known.divisor(axis.extent)) >= axis.count
