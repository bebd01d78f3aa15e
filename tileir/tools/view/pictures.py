"""Arrays as pictures: elements in rows and columns, and what an access touches as rectangles of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from math import prod

import numpy as np

from tileir.runtime.arrays import Array

Rectangle = tuple[int, int, int, int]
"""Row, column, height, width."""
NARROWEST = 32
MOST_RECTANGLES = 256
"""Rectangles of one access; more become the one around all of them."""


@dataclass(frozen=True)
class Picture:
    """An array as `rows` of `columns` elements: the last dimension lies along a row, or a vector in several rows."""

    name: str
    array: Array
    rows: int
    columns: int

    @staticmethod
    def of(name: str, array: Array) -> Picture:
        count = prod(array.shape)
        if len(array.shape) < 2:
            columns = max(1, min(count, max(NARROWEST, 1 << (max(count, 1) - 1).bit_length() // 2)))
            return Picture(name, array, -(-count // columns), columns)
        columns = max(1, array.shape[-1])
        return Picture(name, array, count // columns, columns)

    @property
    def address(self) -> int:
        return self.array.address

    @property
    def end(self) -> int:
        """The address behind the last element."""
        spans = ((extent - 1) * stride for extent, stride in zip(self.array.shape, self.array.strides))
        return self.address + sum(spans) + self.array.itemsize if prod(self.array.shape) else self.address

    def box(self, address: int, shape: Sequence[int], strides: Sequence[int]) -> list[Rectangle] | None:
        """Return the rectangles of a box of elements, of extents and strides in bytes; None if it is no box of the
        array."""
        at = self._index(address)
        counts = [1] * len(at)
        for extent, stride in zip(shape, strides):
            if extent == 1:
                continue
            dim = self._dimension(stride, extent, at, counts)
            if dim is None:
                return None
            counts[dim] = extent
        return self._rectangles(at, counts)

    def _dimension(self, stride: int, extent: int, at: Sequence[int], counts: Sequence[int]) -> int | None:
        """Return the dimension of the array along which a box extends."""
        for dim, own in enumerate(self.array.strides):
            if own == stride and counts[dim] == 1 and at[dim] + extent <= self.array.shape[dim]:
                return dim
        return None

    def _index(self, address: int) -> list[int]:
        left, index = address - self.address, [0] * len(self.array.shape)
        for dim in sorted(range(len(index)), key=lambda dim: -self.array.strides[dim]):
            stride = self.array.strides[dim]
            if stride > 0 and self.array.shape[dim] > 1:
                index[dim], left = left // stride, left % stride
        return index

    def _rectangles(self, at: Sequence[int], counts: Sequence[int]) -> list[Rectangle] | None:
        if len(at) < 2:
            begin, count = (at[0], counts[0]) if at else (0, 1)
            return list(self._run(begin, count))
        if prod(counts[:-2]) > MOST_RECTANGLES:
            return None
        found = []
        for lead in product(*(range(low, low + count) for low, count in zip(at[:-2], counts[:-2]))):
            row = 0
            for index, extent in zip(lead, self.array.shape):
                row = row * extent + index
            found.append((row * self.array.shape[-2] + at[-2], at[-1], counts[-2], counts[-1]))
        return found

    def _run(self, begin: int, count: int) -> Iterator[Rectangle]:
        """Yield a run of elements in rows: what is left of the first row, whole rows, what is left."""
        row, column = divmod(begin, self.columns)
        if column:
            width = min(count, self.columns - column)
            yield row, column, 1, width
            row, count = row + 1, count - width
        if count >= self.columns:
            yield row, 0, count // self.columns, self.columns
            row, count = row + count // self.columns, count % self.columns
        if count > 0:
            yield row, 0, 1, count

    # ------------------------------------------------------------ single elements

    def elements(self, addresses: np.ndarray) -> tuple[list[Rectangle], bool]:
        """Return rectangles that hold the elements at `addresses`, and whether they hold no others."""
        flat = np.unique(self._flat(addresses))
        if not flat.size:
            return [], True
        rows, columns = np.divmod(flat, self.columns)
        breaks = np.flatnonzero((np.diff(flat) != 1) | (np.diff(rows) != 0)) + 1
        begins = np.concatenate(([0], breaks))
        ends = np.concatenate((breaks, [flat.size]))
        runs = zip(rows[begins].tolist(), columns[begins].tolist(), (ends - begins).tolist())
        found = list(islice(_stacked(runs), MOST_RECTANGLES + 1))
        if len(found) <= MOST_RECTANGLES:
            return found, True
        top, left = int(rows[0]), int(columns.min())
        return [(top, left, int(rows[-1]) - top + 1, int(columns.max()) - left + 1)], False

    def _flat(self, addresses: np.ndarray) -> np.ndarray:
        """Return the number of each element in row-major order."""
        left = addresses.astype(np.int64).ravel() - self.address
        if self.array.contiguous:
            return left // self.array.itemsize
        flat = np.zeros_like(left)
        index: dict[int, np.ndarray] = {}
        for dim in sorted(range(len(self.array.shape)), key=lambda dim: -self.array.strides[dim]):
            stride = self.array.strides[dim]
            index[dim] = left // stride if stride > 0 else np.zeros_like(left)
            left = left % stride if stride > 0 else left
        for dim, extent in enumerate(self.array.shape):
            flat = flat * extent + index[dim]
        return flat


def _stacked(runs: Iterator[tuple[int, int, int]]) -> Iterator[Rectangle]:
    """Yield runs (row, column, width) as rectangles: equal ones in rows below each other are one."""
    open: dict[tuple[int, int], list[int]] = {}
    for row, column, width in runs:
        found = open.get((column, width))
        if found is not None and found[0] + found[1] == row:
            found[1] += 1
            continue
        if found is not None:
            yield found[0], column, found[1], width
        open[column, width] = [row, 1]
    for (column, width), (row, height) in open.items():
        yield row, column, height, width


# ---------------------------------------------------------------- values


def values_of(array: Array) -> np.ndarray | None:
    """Return the elements of an array as they are now, without a copy; None for an element type that NumPy has not."""
    if array.dtype is None:
        return None
    size = sum((extent - 1) * stride for extent, stride in zip(array.shape, array.strides)) + array.itemsize
    if not prod(array.shape):
        return np.zeros(array.shape, array.dtype)
    interface = {"data": (array.address, True), "shape": (size,), "typestr": "|u1", "version": 3}
    raw = np.asarray(type("_Memory", (), {"__array_interface__": interface})())
    return np.ndarray(array.shape, array.dtype, raw, 0, array.strides)


def reduced(values: np.ndarray, rows: int, columns: int, most: int) -> np.ndarray:
    """Return a picture of values in f32, of at most `most` rows and columns: each cell is the mean of those that it
    stands for."""
    with np.errstate(all="ignore"):
        flat = np.ravel(values).astype(np.float32)
    padded = np.full(rows * columns, np.nan, np.float32)
    padded[: flat.size] = flat
    picture = padded.reshape(rows, columns)
    down, across = -(-rows // most), -(-columns // most)
    if down == across == 1:
        return picture
    whole = picture[: rows // down * down, : columns // across * across]
    with np.errstate(all="ignore"):
        return whole.reshape(rows // down, down, columns // across, across).mean((1, 3), dtype=np.float32)
