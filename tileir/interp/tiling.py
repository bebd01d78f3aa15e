"""Tiling: the elements of a tensor that a tile of a view is made of (spec: views#index-mapping).

Indices are unsigned and coordinates do not wrap around. Offsets and strides count elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from tileir.host import undefined
from tileir.interp.api import BlockState
from tileir.interp.faults import Fault
from tileir.ir.core import Op, Value
from tileir.ir.types import (
    GatherScatterViewType,
    TileViewType,
)
from tileir.ops.module import drops_outer_tiles

MAX_OFFSET = (1 << 63) - 1


class TensorView(NamedTuple):
    """A strided tensor in memory: `base` is the address of its first element, strides count elements."""

    base: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def reach(self) -> int:
        """The number of elements from the first to the last one in memory; 0 if there are none."""
        return 1 + sum((n - 1) * stride for n, stride in zip(self.shape, self.strides)) if all(self.shape) else 0


class TileView(NamedTuple):
    """A tensor cut into tiles as `type` says."""

    tensor: TensorView
    type: TileViewType


class Sparse(NamedTuple):
    """Along `dim` the tile takes single rows: tile row ``lanes[i]`` is row ``rows[i]`` of the box."""

    dim: int
    lanes: np.ndarray
    rows: np.ndarray

    @property
    def along_rows(self) -> tuple[slice | np.ndarray, ...]:
        """Picks the rows out of the box."""
        return (slice(None),) * self.dim + (self.rows,)


class Part(NamedTuple):
    """The elements of a tile that lie in the tensor: a box in tile order, `start` elements from the tensor's first.

    Without `sparse` they are the first ``counts`` of the tile along each dimension. ``full``: they are the whole tile.
    """

    start: int
    counts: tuple[int, ...]
    strides: tuple[int, ...]
    full: bool
    sparse: Sparse | None = None

    @property
    def selector(self) -> tuple[slice | np.ndarray, ...]:
        """Picks the elements out of the tile."""
        selector: list[slice | np.ndarray] = [slice(0, count) for count in self.counts]
        if self.sparse is not None:
            selector[self.sparse.dim] = self.sparse.lanes
        return tuple(selector)

    def offsets(self) -> np.ndarray:
        """Return the element offsets of the selected elements from the tensor's first element (int64)."""
        total = np.array(self.start, np.int64)
        for dim, (count, stride) in enumerate(zip(self.counts, self.strides)):
            sparse = self.sparse is not None and self.sparse.dim == dim
            steps = self.sparse.rows if sparse and self.sparse else np.arange(count, dtype=np.int64)
            total = np.add.outer(total, steps * np.int64(stride))
        return total

    @property
    def last(self) -> int:
        """The largest element offset in the box."""
        return self.start + sum((count - 1) * stride for count, stride in zip(self.counts, self.strides))

    @property
    def distinct(self) -> bool:
        """True if no element of the tensor can occur twice in the box."""
        return are_distinct(self.strides, self.counts)


def are_distinct(strides: Sequence[int], counts: Sequence[int]) -> bool:
    """Return whether no element can occur twice in a box of these strides, which are not negative."""
    reach = 0
    for stride, count in sorted(zip(strides, counts)):
        if count > 1:
            if stride <= reach:
                return False
            reach += (count - 1) * stride
    return True


Locate = Callable[[BlockState, TensorView, tuple[np.ndarray, ...]], Part | None]
"""The part of the tile at an index that lies in the tensor; None if that is empty."""


def element_width(value: Value) -> int:
    """Return the width in bits of the integers of a tile-typed value."""
    return value.tile.number.bits


def locator(op: Op, view: TileViewType, index: Sequence[Value], inbounds: tuple[bool, ...]) -> Locate:
    """Return the index mapping of a load, store or reduction through a view of this type.

    ``inbounds`` are the dimensions along which the program promises not to leave the tensor.
    """
    masks = tuple((1 << element_width(value)) - 1 for value in index)
    promised = tuple(dim for dim, promise in enumerate(inbounds) if promise)
    if isinstance(view, GatherScatterViewType):
        return _gather_locator(op, view, masks, promised)
    return _grid_locator(op, view, masks, promised)


def _grid_locator(op: Op, view: TileViewType, masks: tuple[int, ...], promised: tuple[int, ...]) -> Locate:
    axes = tuple(zip(view.tensor_dims, view.tile_steps, view.tile_shape, masks))
    dropped = drops_outer_tiles(op)

    def locate(block: BlockState, tensor: TensorView, index: tuple[np.ndarray, ...]) -> Part | None:
        start = span = 0
        full = inside = True
        counts, strides = [], []
        for (dim, step, extent, mask), position in zip(axes, index):
            first = (int(position) & mask) * step
            count = tensor.shape[dim] - first
            if count >= extent:
                count = extent
            else:
                full = False
                if count <= 0:
                    inside = False
                    count = 0
            stride = tensor.strides[dim] if count > 1 else 0
            start += first * tensor.strides[dim]
            span += (count - 1) * stride
            counts.append(count)
            strides.append(stride)
        if not full:
            if not dropped:
                _check_space(op, block, counts)
            _check_promises(op, block, counts, view, promised)
        if not inside:
            return None
        _check_offset(start + span)
        return Part(start, tuple(counts), tuple(strides), full)

    return locate


def _check_space(op: Op, block: BlockState, counts: list[int]) -> None:
    """Report a tile that lies wholly outside the tensor."""
    for dim, count in enumerate(counts):
        if count == 0:
            block.undefined(op, undefined.outside_index_space(dim))


def _check_promises(
    op: Op, block: BlockState, counts: list[int], view: TileViewType, promised: tuple[int, ...]
) -> None:
    for dim in promised:
        if counts[dim] < view.tile_shape[dim]:
            block.undefined(op, undefined.not_inbounds(dim))


def check_reach(tensor: TensorView, part: Part, bits: int) -> None:
    """Raise `Fault` if the address of an element of `bits` bits does not fit 64 bits."""
    last = tensor.base + part.last * bits // 8
    if last >= 1 << 64:
        raise Fault(f"the element offset {part.last} of a view is at address {last:#x}, beyond 64 bits")


def _check_offset(last: int) -> None:
    if last > MAX_OFFSET:
        raise Fault(f"the element offset {last} of a view is larger than {MAX_OFFSET}")


def _gather_locator(op: Op, view: GatherScatterViewType, masks: tuple[int, ...], promised: tuple[int, ...]) -> Locate:
    sparse = view.sparse_dim

    def locate(block: BlockState, tensor: TensorView, index: tuple[np.ndarray, ...]) -> Part | None:
        rows = _unsigned(index[sparse])
        lanes = np.flatnonzero(rows < np.uint64(tensor.shape[sparse]))
        rows = rows[lanes].view(np.int64)
        low = int(rows.min()) if rows.size else 0
        start, counts, strides = 0, [], []
        for dim, extent in enumerate(view.tile_shape):
            first = low if dim == sparse else int(index[dim]) & masks[dim]
            count = int(rows.max()) - low + 1 if dim == sparse and rows.size else extent
            counts.append(max(0, min(count, tensor.shape[dim] - first)))
            strides.append(tensor.strides[dim] if counts[-1] > 1 else 0)
            start += first * tensor.strides[dim]
        covered = [lanes.size if dim == sparse else count for dim, count in enumerate(counts)]
        _check_promises(op, block, covered, view, promised)
        if 0 in covered:
            return None
        full = tuple(covered) == view.tile_shape
        part = Part(start, tuple(counts), tuple(strides), full, Sparse(sparse, lanes, rows - low))
        _check_offset(part.last)
        return part

    return locate


def _unsigned(index: np.ndarray) -> np.ndarray:
    """Return a tile of indices as uint64, zero-extended."""
    return index.view(f"u{index.dtype.itemsize}").astype(np.uint64)
