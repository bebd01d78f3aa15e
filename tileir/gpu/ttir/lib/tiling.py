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


@dataclass(frozen=True)
class TileElements:
    """The elements of a tile of a tensor at `base`. Tensors with a place for each of them have the dimensions `kept`
    of `axes`, by number; the others have one element."""

    lowering: TtirLowering
    base: TtirValue
    axes: Sequence[TileAxis]
    kept: Sequence[int]

    @staticmethod
    def at(
        lowering: TtirLowering, view: LoweredTileView, indices: Sequence[TtirValue], inbounds: Sequence[bool] = ()
    ) -> TileElements:
        """Return the elements at `indices`, without dimensions of one element. Along dimensions that `inbounds` names
        nothing is tested."""
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
        kept = [position for position, axis in enumerate(axes) if axis.count > 1]
        return TileElements(lowering, view.tensor.base, axes, kept)

    @property
    def shape(self) -> list[int]:
        return [self.axes[number].count for number in self.kept]

    # --- addresses

    def pointers(self) -> TtirValue:
        """Return the address of each element; the elements must be whole bytes."""
        build, shape = self.lowering.build, [1] * len(self.kept)
        found = build.splat(scalars.moved(self.lowering, self.base, self._first_offset()), *shape)
        # Outer dimensions first: what changes from element to element is added last, where it is seen.
        for position, number in enumerate(self.kept):
            offsets = self._line(self._offsets(self.axes[number]), position)
            if offsets is not None:
                shape[position] = self.axes[number].count
                found = build.op("tt.addptr", build.broadcast(found, *shape), build.broadcast(offsets, *shape))
        return found

    def offsets(self) -> TtirValue:
        """Return the distance of each element from the first of the tensor, in elements, as i64."""
        build = self.lowering.build
        found = build.splat(self._first_offset(), *self.shape)
        for position, number in enumerate(self.kept):
            steps = self._line(self._offsets(self.axes[number]), position)
            if steps is not None:
                wide = build.resized(steps, "i64", signed=False)
                found = build.op("arith.addi", found, build.broadcast(wide, *self.shape))
        return found

    def _first_offset(self) -> TtirValue:
        """Return the distance of the first element of the tile from the first of the tensor, in elements."""
        lowering, offset = self.lowering, scalars.number(self.lowering, 0)
        for axis in self.axes:
            offset = scalars.total(lowering, offset, scalars.product(lowering, axis.start, axis.stride))
        return offset

    def _offsets(self, axis: TileAxis) -> TtirValue | None:
        """Return the offsets along one dimension; None if there is only that of the first element."""
        lowering, build, stride = self.lowering, self.lowering.build, axis.stride
        if axis.rows is None and axis.count == 1:
            return None
        steps = build.range(axis.count) if axis.rows is None else axis.rows
        known = lowering.known.of(stride)
        if axis.rows is None and known.low >= 0 and (axis.count - 1) * known.high <= MAX_I32:
            stride = scalars.narrowed(lowering, stride)
        else:
            steps = build.resized(steps, "i64", signed=False)
        if lowering.known.constant(stride) == 1:
            return steps
        return build.op("arith.muli", steps, build.like(stride, steps))

    def _line(self, values: TtirValue | None, position: int) -> TtirValue | None:
        """Return values along one of the dimensions kept as a tensor of all, the others of extent 1."""
        if values is None:
            return None
        for axis in range(len(self.kept)):
            if axis != position:
                shape = (*values.type.shape[:axis], 1, *values.type.shape[axis:])
                values = self.lowering.build.op("tt.expand_dims", values, type=values.type.shaped(*shape), axis=axis)
        return values

    # --- the edges

    def inside(self) -> TtirValue | None:
        """Emit a test of whether each element lies in the tensor; None if all do."""
        build = self.lowering.build
        whole = build.all_true(*(self._common_test(axis) for axis in self.axes))
        lines = [self._line(self._own_test(self.axes[number]), at) for at, number in enumerate(self.kept)]
        parts = [build.broadcast(part, *self.shape) for part in lines if part is not None]
        return build.all_true(None if whole is None else build.splat(whole, *self.shape), *parts)

    def _common_test(self, axis: TileAxis) -> TtirValue | None:
        """Emit a test of whether the elements along a dimension lie in the tensor, if all or none do and that is
        unknown."""
        if axis.rows is not None or self.is_inside(axis) or not self._all_or_none(axis):
            return None
        return self.lowering.build.compare("sgt", self._left(axis), scalars.number(self.lowering, 0))

    def _own_test(self, axis: TileAxis) -> TtirValue | None:
        """Emit a test of whether each element along a dimension lies in the tensor, if that differs between
        elements."""
        lowering, build = self.lowering, self.lowering.build
        if self.is_inside(axis):
            return None
        if axis.rows is not None:
            return build.compare("ult", axis.rows, build.like(axis.extent, axis.rows))
        if self._all_or_none(axis):
            return None
        steps = build.range(axis.count)
        below = build.op("arith.minsi", self._left(axis), scalars.number(lowering, axis.count))
        count = scalars.narrowed(lowering, build.op("arith.maxsi", below, scalars.number(lowering, 0)))
        return build.compare("slt", steps, build.like(count, steps))

    def _left(self, axis: TileAxis) -> TtirValue:
        """Return the number of elements of the tensor from the start of the tile on; it may be negative."""
        left = self.lowering.build.op("arith.subi", axis.extent, axis.start)
        if axis.reachable is None:
            return left
        return self.lowering.build.select(axis.reachable, left, scalars.number(self.lowering, 0))

    def is_inside(self, axis: TileAxis) -> bool:
        """Return whether the tile is promised or known not to leave the tensor along the dimension."""
        known = self.lowering.known
        first = known.of(axis.start if axis.rows is None else axis.rows)
        last = first.high + (axis.count - 1 if axis.rows is None else 0)
        return axis.promised or (first.low >= 0 and last < known.of(axis.extent).low)

    def _all_or_none(self, axis: TileAxis) -> bool:
        """Return whether the edge of the tensor is known not to run through the tile."""
        known = self.lowering.known
        return min(known.divisor(axis.start), known.divisor(axis.extent)) >= axis.count


def _start(lowering: TtirLowering, index: TtirValue, step: int) -> tuple[TtirValue, TtirValue | None]:
    """Return the first coordinate and, if that may not fit 63 bits, whether it does."""
    start = scalars.product(lowering, index, scalars.number(lowering, step))
    if lowering.known.of(start).low >= 0:
        return start, None
    return start, lowering.build.compare("ule", index, scalars.number(lowering, MAX_I64 // step))
