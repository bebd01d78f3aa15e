"""The shadow of memory: who has accessed each byte, and which bytes nobody has written.

A cell stands for as many bytes as the smallest element accessed so far, so that elements of one byte are told apart
and arrays of f32 need no more shadow than they have bytes. It holds the number of a set of accesses (`races.Sets`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from tileir.host.allocation import Allocation

Cells = np.ndarray
LARGEST_CELL = 16


class Shadow:
    """The cells of one allocation: those who have written and read it, and the releases that reach its value.

    Each is None until there is one: memory that is only read, or only accessed in ways that are proved to be right,
    needs no cells.
    """

    def __init__(self, allocation: Allocation, granule: int) -> None:
        self.allocation = allocation
        self.base = allocation.base - allocation.base % LARGEST_CELL
        self.granule = granule
        self.writers: Cells | None = None
        self.readers: Cells | None = None
        self.heads: Cells | None = None
        self.unwritten: np.ndarray | None = None
        self.covered: np.ndarray | None = None
        """A mask of the bytes that this launch has written."""

    def refine(self, granule: int) -> None:
        """Make cells small enough for elements of `granule` bytes."""
        if granule < self.granule:
            times = self.granule // granule
            self.writers, self.readers, self.heads = (
                None if cells is None else cells.repeat(times) for cells in (self.writers, self.readers, self.heads)
            )
            self.granule = granule

    def make_writers(self) -> Cells:
        if self.writers is None:
            self.writers = self._cells()
        return self.writers

    def make_readers(self) -> Cells:
        if self.readers is None:
            self.readers = self._cells()
        return self.readers

    def make_heads(self) -> Cells:
        if self.heads is None:
            self.heads = self._cells()
        return self.heads

    def make_covered(self) -> np.ndarray:
        if self.covered is None:
            self.covered = np.zeros(self.allocation.end - self.base, np.bool_)
        return self.covered

    def _cells(self) -> Cells:
        count = -(-(self.allocation.end - self.base) // LARGEST_CELL) * (LARGEST_CELL // self.granule)
        return np.zeros(count, np.int32)

    def mark_unwritten(self, mask: np.ndarray | None = None) -> None:
        """Mark bytes of the allocation as unwritten by a mask; None are all."""
        marks = np.ones(self.allocation.end - self.base, np.bool_)
        if mask is not None:
            marks[self.allocation.base - self.base :] = mask
        self.unwritten = marks


class TouchedBox:
    """A strided box of elements: the first elements of a tile along each dimension."""

    def __init__(self, shadow: Shadow, offset: int, shape: tuple[int, ...], strides: Sequence[int], size: int) -> None:
        self.shadow = shadow
        self.size = size
        self.shape = shape
        self.before: np.ndarray | None = None
        """The previous contents of the elements, a row of bytes for each, if recorded."""
        self._offset = offset
        self._strides = tuple(strides)

    @property
    def count(self) -> int:
        return prod(self.shape)

    def elements(self) -> Iterator[TouchedElements]:
        """Yield each element, with its position in the flattened box as its lane."""
        for lane in range(self.count):
            yield TouchedElements(
                self.shadow, np.array([self.address(lane) - self.shadow.base]), np.array([lane]), self.size
            )

    def cells(self, array: Cells) -> Cells:
        """Return the cells of the elements, in place; those of one element along the last axis if it has several."""
        return self._view(array, self.shadow.granule)

    def put(self, array: Cells, values: Cells | int) -> None:
        self.cells(array)[...] = values

    def content(self) -> np.ndarray:
        """Return the contents of the elements: a row of bytes for each."""
        allocation = self.shadow.allocation
        offset = self._offset - (allocation.base - self.shadow.base)
        shape, strides = (*self.shape, self.size), (*self._strides, 1)
        return np.ndarray(shape, np.uint8, allocation.bytes, offset, strides).reshape(-1, self.size)

    def unwritten(self) -> np.ndarray | None:
        """Return a mask, in the shape of the box, of elements with an unwritten byte; None if there are none."""
        marks = self.shadow.unwritten
        if marks is None:
            return None
        found = self._view(marks, 1)
        found = np.asarray(found.any(-1)) if self.size > 1 else found.copy()
        return found if found.any() else None

    def mark_written(self) -> None:
        if self.shadow.unwritten is not None:
            self._view(self.shadow.unwritten, 1)[...] = False

    def cover(self) -> None:
        self._view(self.shadow.make_covered(), 1)[...] = True

    def address(self, position: int) -> int:
        """Return the address of the element at a position of the flattened box."""
        index = np.unravel_index(position, self.shape) if self.shape else ()
        steps = sum(int(i) * step for i, step in zip(index, self._strides))
        return self.shadow.base + self._offset + steps

    def addresses(self) -> np.ndarray:
        """Return the addresses of the elements, as i64, in the shape of the box."""
        found = np.array(self.shadow.base + self._offset, np.int64)
        for extent, step in zip(self.shape, self._strides):
            found = np.add.outer(found, np.arange(extent, dtype=np.int64) * step)
        return found

    def onto(self, tile: np.ndarray, found: np.ndarray) -> None:
        """Put what belongs to the elements where they stand in a tile."""
        if tile.ndim == found.ndim:
            tile[tuple(slice(0, extent) for extent in found.shape)] = found
        else:
            tile[...] = found.reshape(tile.shape) if found.size == tile.size else True

    def _view(self, array: np.ndarray, granule: int) -> np.ndarray:
        width = array.itemsize
        shape, strides = self.shape, tuple([step // granule * width for step in self._strides])
        if self.size > granule:
            shape, strides = (*shape, self.size // granule), (*strides, width)
        return np.ndarray(shape, array.dtype, array, self._offset // granule * width, strides)


class TouchedElements:
    """Elements at single addresses; `lanes` are their positions in the flattened tile."""

    def __init__(self, shadow: Shadow, offsets: np.ndarray, lanes: np.ndarray, size: int) -> None:
        self.shadow = shadow
        self.size = size
        self.before: np.ndarray | None = None
        """The elements before they were stored, as for a box."""
        self.offsets = offsets
        self.lanes = lanes

    @property
    def count(self) -> int:
        return self.lanes.size

    def elements(self) -> Iterator[TouchedElements]:
        """Yield each element."""
        for at in range(self.lanes.size):
            yield TouchedElements(self.shadow, self.offsets[at : at + 1], self.lanes[at : at + 1], self.size)

    def chosen(self, mask: np.ndarray) -> TouchedElements:
        """Return the elements whose lanes are set in a tile."""
        keep = np.ravel(mask)[self.lanes]
        found = TouchedElements(self.shadow, self.offsets[keep], self.lanes[keep], self.size)
        found.before = None if self.before is None else self.before[keep]
        return found

    def cells(self, array: Cells) -> Cells:
        return array[self._indices(self.shadow.granule)]

    def content(self) -> np.ndarray:
        """Return the contents of the elements: a row of bytes for each."""
        allocation = self.shadow.allocation
        first = self.offsets - (allocation.base - self.shadow.base)
        found: np.ndarray = allocation.bytes[np.add.outer(first, np.arange(self.size))]
        return found

    def put(self, array: Cells, values: Cells | int) -> None:
        array[self._indices(self.shadow.granule)] = values

    def unwritten(self) -> np.ndarray | None:
        marks = self.shadow.unwritten
        if marks is None:
            return None
        found = marks[self._indices(1)]
        found = found.any(-1) if self.size > 1 else found
        return found if found.any() else None

    def mark_written(self) -> None:
        if self.shadow.unwritten is not None:
            self.shadow.unwritten[self._indices(1)] = False

    def cover(self) -> None:
        self.shadow.make_covered()[self._indices(1)] = True

    def address(self, position: int) -> int:
        return self.shadow.base + int(self.offsets[position])

    def addresses(self) -> np.ndarray:
        return self.offsets + np.int64(self.shadow.base)

    def onto(self, tile: np.ndarray, found: np.ndarray) -> None:
        tile.reshape(-1)[self.lanes] = found

    def repeated(self, sharing: int = 1) -> np.ndarray:
        """Return the positions of elements whose address an earlier one has too; of elements that share bytes, of those
        in a byte that more than `sharing` have."""
        if self.offsets.size < 2 or (self.offsets[1:] > self.offsets[:-1]).all():
            return self.lanes[:0]
        if sharing > 1:
            _, inverse, counts = np.unique(self.offsets, return_inverse=True, return_counts=True)
            return np.flatnonzero(counts[inverse] > sharing)
        _, first = np.unique(self.offsets, return_index=True)
        again = np.ones(self.offsets.size, np.bool_)
        again[first] = False
        return np.flatnonzero(again)

    def _indices(self, granule: int) -> np.ndarray:
        first = self.offsets // granule
        if self.size <= granule:
            return first
        return np.add.outer(first, np.arange(self.size // granule))


Touched = TouchedBox | TouchedElements
"""The elements of one tile that lie in one allocation."""
