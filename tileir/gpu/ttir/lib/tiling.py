"""Addresses of the elements of a tile of a view (spec: views#index-mapping), and the tests at the edges of the tensor.

Indices, extents and strides are unsigned 64-bit numbers, the latter below 2^63; coordinates do not wrap around.
The first coordinate of a tile is a 64-bit scalar. Along a dimension without rows, what is counted from there takes 32
bits wherever the strides are known to be small enough; a test is left out, or made once for all elements, if it can be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tileir.gpu.ttir.forms import LoweredTileView
from tileir.gpu.ttir.ir.code import TtirValue
from tileir.gpu.ttir.lib import scalars
from tileir.gpu.ttir.lowering import TtirLowering

MAX_I32 = (1 << 31) - 1
MAX_I64 = (1 << 63) - 1


@dataclass(frozen=True)
class TileAxis:
    """One dimension of a tile: `count` elements from coordinate `start` (i64) on, or at those of `rows` (a tensor of
    i64) from there on, in a dimension of the tensor with `extent` and `stride`.

    `reachable` is an i1: whether `start` was computed without wrapping around (None: surely). The program may have
    promised that the tile does not leave the tensor along the dimension.
    """

    count: int
    start: TtirValue
    rows: TtirValue | None
    extent: TtirValue
    stride: TtirValue
    reachable: TtirValue | None
    promised: bool


def places(
    lowering: TtirLowering, view: LoweredTileView, indices: Sequence[TtirValue], inbounds: Sequence[bool] = ()
) -> tuple[TtirValue, TtirValue | None]:
    """Return the address of each element of the tile at `indices`, and whether it lies in the tensor (None: all do).

    The elements must be whole bytes. Along dimensions that `inbounds` names nothing is tested.
    """
    axes = axes_at(lowering, view, indices, inbounds)
    return pointers(lowering, view.tensor.base, axes, axes), inside(lowering, axes, axes)


def squeezed(axes: Sequence[TileAxis]) -> list[TileAxis]:
    """Return the dimensions along which the tile has more than one element."""
    return [axis for axis in axes if axis.count > 1]


# ---------------------------------------------------------------- the mapping


def axes_at(
    lowering: TtirLowering, view: LoweredTileView, indices: Sequence[TtirValue], inbounds: Sequence[bool] = ()
) -> list[TileAxis]:
    """Return the dimensions of the tile at `indices`."""
    promises = list(inbounds) or [False] * view.type.rank
    axes = []
    for position, (dim, step) in enumerate(zip(view.type.tensor_dims, view.type.tile_steps)):
        count, index = view.type.tile_shape[position], scalars.unsigned(lowering, indices[position])
        size, stride = view.tensor.shape[dim], view.tensor.strides[dim]
        if index.type.is_tensor and count > 1:
            zero = scalars.number(lowering, 0)
            axes.append(TileAxis(count, zero, index, size, stride, None, promises[position]))
        else:
            start, reachable = _start(lowering, lowering.build.reshape(index), step)
            axes.append(TileAxis(count, start, None, size, stride, reachable, promises[position]))
    return axes


def _start(lowering: TtirLowering, index: TtirValue, step: int) -> tuple[TtirValue, TtirValue | None]:
    """Return the first coordinate and, if that may not fit 63 bits, whether it does."""
    start = scalars.product(lowering, index, scalars.number(lowering, step))
    if lowering.known.of(start).low >= 0:
        return start, None
    return start, lowering.build.compare("ule", index, scalars.number(lowering, MAX_I64 // step))


# ---------------------------------------------------------------- addresses


def pointers(lowering: TtirLowering, base: TtirValue, axes: Sequence[TileAxis], kept: Sequence[TileAxis]) -> TtirValue:
    """Return the address of each element, in the dimensions `kept` of `axes`: those left out have one element."""
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


def offsets(lowering: TtirLowering, axes: Sequence[TileAxis], kept: Sequence[TileAxis]) -> TtirValue:
    """Return distance of each element from the first of the tensor, in elements, as i64, in the dimensions `kept`."""
    build, shape = lowering.build, [axis.count for axis in kept]
    found = build.splat(first_offset(lowering, axes), *shape)
    for position, axis in enumerate(kept):
        steps = line(lowering, _offsets(lowering, axis), position, len(kept))
        if steps is not None:
            wide = build.resized(steps, "i64", signed=False)
            found = build.op("arith.addi", found, build.broadcast(wide, *shape))
    return found


def line(lowering: TtirLowering, values: TtirValue | None, position: int, rank: int) -> TtirValue | None:
    """Return values along one dimension as a tensor of `rank` dimensions, all others of extent 1."""
    if values is None:
        return None
    for axis in range(rank):
        if axis != position:
            shape = (*values.type.shape[:axis], 1, *values.type.shape[axis:])
            values = lowering.build.op("tt.expand_dims", values, type=values.type.shaped(*shape), axis=axis)
    return values


def first_offset(lowering: TtirLowering, axes: Sequence[TileAxis]) -> TtirValue:
    """Return distance of the first element of the tile from the first of the tensor, in elements."""
    offset = scalars.number(lowering, 0)
    for axis in axes:
        offset = scalars.total(lowering, offset, scalars.product(lowering, axis.start, axis.stride))
    return offset


def _offsets(lowering: TtirLowering, axis: TileAxis) -> TtirValue | None:
    """Return the offsets along one dimension; None if there is only that of the first element."""
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


def _scaled(lowering: TtirLowering, steps: TtirValue, stride: TtirValue) -> TtirValue:
    if lowering.known.constant(stride) == 1:
        return steps
    return lowering.build.op("arith.muli", steps, lowering.build.like(stride, steps))


# ---------------------------------------------------------------- the edges


def inside(lowering: TtirLowering, axes: Sequence[TileAxis], kept: Sequence[TileAxis]) -> TtirValue | None:
    """Emit a test of whether each element lies in the tensor, in the dimensions `kept` of `axes`; None if all do."""
    build = lowering.build
    shape = [axis.count for axis in kept]
    whole = build.all_true(*(_common_test(lowering, axis) for axis in axes))
    lines = [line(lowering, _own_test(lowering, axis), position, len(kept)) for position, axis in enumerate(kept)]
    parts = [build.broadcast(part, *shape) for part in lines if part is not None]
    return build.all_true(None if whole is None else build.splat(whole, *shape), *parts)


def _common_test(lowering: TtirLowering, axis: TileAxis) -> TtirValue | None:
    """Emit a test of whether the elements along a dimension lie in the tensor, if all or none do and that is
    unknown."""
    if axis.rows is not None or axis.promised or surely_inside(lowering, axis) or not all_or_none(lowering, axis):
        return None
    return lowering.build.compare("sgt", _left(lowering, axis), scalars.number(lowering, 0))


def _own_test(lowering: TtirLowering, axis: TileAxis) -> TtirValue | None:
    """Emit a test of whether each element along a dimension lies in the tensor, if that differs between elements."""
    build = lowering.build
    if axis.promised or surely_inside(lowering, axis):
        return None
    if axis.rows is not None:
        return build.compare("ult", axis.rows, build.like(axis.extent, axis.rows))
    if all_or_none(lowering, axis):
        return None
    steps = build.range(axis.count)
    return build.compare("slt", steps, build.like(_clamped(lowering, _left(lowering, axis), axis.count), steps))


def _left(lowering: TtirLowering, axis: TileAxis) -> TtirValue:
    """Number of elements of the tensor from the start of the tile on; may be negative."""
    left = lowering.build.op("arith.subi", axis.extent, axis.start)
    if axis.reachable is None:
        return left
    return lowering.build.select(axis.reachable, left, scalars.number(lowering, 0))


def _clamped(lowering: TtirLowering, left: TtirValue, count: int) -> TtirValue:
    """Clamp `left` to an i32 from 0 to `count`."""
    build = lowering.build
    below = build.op("arith.minsi", left, scalars.number(lowering, count))
    return scalars.narrowed(lowering, build.op("arith.maxsi", below, scalars.number(lowering, 0)))


def surely_inside(lowering: TtirLowering, axis: TileAxis) -> bool:
    """Return whether the tile is known not to leave the tensor along the dimension."""
    extent = lowering.known.of(axis.extent)
    first = lowering.known.of(axis.start if axis.rows is None else axis.rows)
    last = first.high + (axis.count - 1 if axis.rows is None else 0)
    return first.low >= 0 and last < extent.low


def all_or_none(lowering: TtirLowering, axis: TileAxis) -> bool:
    """Return whether the edge of the tensor is known not to run through the tile."""
    known = lowering.known
    return min(known.divisor(axis.start), known.divisor(axis.extent)) >= axis.count
