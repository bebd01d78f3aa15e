"""Boxes of bytes and of arrays: which rectangles of an array a box of addresses touches."""

from __future__ import annotations

import mmap
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np

from tileir.analysis.extents import Extent

_PAGE = 4096
MAPPED_PAGE = 1 << 16
"""Bytes of a file that Linux maps together, where they are in memory."""
_NORESERVE = 0x4000 if sys.platform == "linux" else 0


@dataclass(frozen=True)
class ByteBox:
    """Bytes of an array: runs of `run` bytes from `start` on, ``(count, distance)`` along each of `dims`."""

    start: int
    dims: tuple[tuple[int, int], ...]
    run: int

    @property
    def size(self) -> int:
        """Bytes that travel."""
        return self.run * prod(count for count, _ in self.dims)

    def pages(self, size: int = _PAGE) -> int:
        """Return the bytes of the pages of `size` bytes that they lie in, at most."""
        apart = (self.run // size + 2) * prod(count for count, _ in self.dims)
        return size * min(apart, (self.end - self.start) // size + 2)

    @property
    def end(self) -> int:
        """Return the end, one past the last byte."""
        return self.start + sum((count - 1) * distance for count, distance in self.dims) + self.run

    def of(self, array: np.ndarray) -> np.ndarray:
        """Return these bytes of a dense array, in place."""
        flat = array.reshape(-1).view(np.uint8)
        shape = (*(count for count, _ in self.dims), self.run)
        strides = (*(distance for _, distance in self.dims), 1)
        return np.lib.stride_tricks.as_strided(flat[self.start :], shape, strides)


def box_of(extent: Extent, size: int) -> ByteBox | None:
    """Return the bytes of an extent in an array of `size` bytes: those alone if all lie inside, else all between the
    first and the last that do; None if there are none."""
    if extent.within(size) and not extent.empty:
        runs = ByteBox(extent.start, extent.dims, extent.run)
        # What an extent may have is what lies between its bounds.
        if runs.start >= extent.low and runs.end <= extent.high and runs.size <= extent.high - extent.low:
            return runs
    low, high = max(0, extent.low), min(size, extent.high)
    return ByteBox(low, (), high - low) if low < high else None


def lazy_array(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return zeros in pages of their own, which take memory when they are touched first."""
    size = prod(shape) * dtype.itemsize
    if not size:
        return np.zeros(shape, dtype)
    if hasattr(mmap, "MAP_ANONYMOUS"):
        pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE)
        return np.ndarray(shape, dtype, pages)
    return np.zeros(shape, dtype)


Rectangle = tuple[tuple[int, int], ...]


def rectangle_around(box: ByteBox, shape: Sequence[int], size: int) -> Rectangle:
    """Return the least rectangle around a box of bytes, in a dense array of elements of `size` bytes.

    Along each dimension the offsets of a box are numbers in a system of mixed radix: where the sum of the digits may
    carry, all indexes of the dimension occur.
    """
    found: list[tuple[int, int]] = []
    at, carry = box.start // size, 0
    terms = [((box.start % size + box.run - 1) // size, 1), *((count - 1, step // size) for count, step in box.dims)]
    for extent in reversed(shape[1:]):
        most = carry + sum(times * (step % extent) for times, step in terms)
        terms = [(times, step // extent) for times, step in terms]
        at, first = divmod(at, extent)
        carry = (first + most) // extent
        found.append((0, extent) if carry else (first, first + most + 1))
    most = carry + sum(times * step for times, step in terms)
    return ((at, min(at + most + 1, shape[0])), *reversed(found))


def hull_of(rectangles: Iterable[Rectangle]) -> Rectangle | None:
    """Return the least rectangle around some; None around none."""
    ranges = [*zip(*rectangles)]
    return tuple((min(first for first, _ in one), max(last for _, last in one)) for one in ranges) or None


def bytes_of(rectangle: Rectangle, shape: Sequence[int], size: int) -> ByteBox:
    """Return the bytes of a rectangle."""
    strides = [size * prod(shape[at + 1 :]) for at in range(len(shape))]
    start = sum(first * stride for (first, _), stride in zip(rectangle, strides))
    run, dims = size, list[tuple[int, int]]()
    for (first, last), stride in reversed([*zip(rectangle, strides)]):
        if not dims and stride == run:
            run *= last - first
        elif last - first > 1:
            dims.append((last - first, stride))
    return ByteBox(start, tuple(reversed(dims)), run)


def meet(one: Rectangle, other: Rectangle) -> bool:
    return all(max(a[0], b[0]) < min(a[1], b[1]) for a, b in zip(one, other))


def any_meet(rectangles: Iterable[Rectangle]) -> bool:
    """Return whether any two rectangles meet."""
    active: list[Rectangle] = []
    for rectangle in sorted(rectangles):
        active = [one for one in active if one[0][1] > rectangle[0][0]]
        if any(meet(one, rectangle) for one in active):
            return True
        active.append(rectangle)
    return False


def slices(rectangle: Rectangle) -> tuple[slice, ...]:
    return tuple(slice(first, last) for first, last in rectangle)


def shape_of(rectangle: Rectangle) -> tuple[int, ...]:
    return tuple(last - first for first, last in rectangle)


def put_together(shape: Sequence[int], parts: Sequence[tuple[Rectangle, Any]], otherwise: Any) -> list[Any]:
    """Return nested lists of the parts of an array, one for each dimension: of `parts`, which do not meet, and of
    `otherwise` where there is none."""
    edges = [sorted({0, extent}.union(*(rectangle[at] for rectangle, _ in parts))) for at, extent in enumerate(shape)]
    cells = np.empty([len(each) - 1 for each in edges], object)
    for rectangle, part in parts:
        within = [range(each.index(first), each.index(last)) for each, (first, last) in zip(edges, rectangle)]
        for index in product(*within):
            cells[index] = _cell(edges, index, part, [first for first, _ in rectangle])
    for index in product(*map(range, cells.shape)):
        if cells[index] is None:
            cells[index] = _cell(edges, index, otherwise, [0] * len(edges))
    nested: list[Any] = cells.tolist()
    return nested


def _cell(edges: Sequence[Sequence[int]], index: Sequence[int], part: Any, origin: Sequence[int]) -> Any:
    ranges = [(each[at], each[at + 1]) for each, at in zip(edges, index)]
    within = tuple((first - zero, last - zero) for (first, last), zero in zip(ranges, origin))
    return part if shape_of(within) == part.shape else part[slices(within)]
