"""Bytes of arrays that travel: packed from runs at regular distances, put back in the same places.

Knows: dense arrays as bytes, and arrays that take memory only where they are touched. Does not know: which bytes are
needed (`plan`).
"""

from __future__ import annotations

import mmap
import sys
from dataclasses import dataclass
from math import prod

import numpy as np

from tileir.analysis.extents import Extent

_PAGE = 4096
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

    @property
    def pages(self) -> int:
        """Bytes of the pages that they lie in, at most."""
        apart = (self.run // _PAGE + 2) * prod(count for count, _ in self.dims)
        return _PAGE * min(apart, (self.end - self.start) // _PAGE + 2)

    @property
    def end(self) -> int:
        """One past the last byte."""
        return self.start + sum((count - 1) * distance for count, distance in self.dims) + self.run

    def of(self, array: np.ndarray) -> np.ndarray:
        """These bytes of a dense array, in place."""
        flat = array.reshape(-1).view(np.uint8)
        shape = (*(count for count, _ in self.dims), self.run)
        strides = (*(distance for _, distance in self.dims), 1)
        return np.lib.stride_tricks.as_strided(flat[self.start :], shape, strides)


def box_of(extent: Extent, size: int) -> ByteBox | None:
    """The bytes of an extent in an array of `size` bytes: those alone if all lie inside, else all between the first and
    the last that do; None if there are none."""
    if extent.within(size) and not extent.empty:
        runs = ByteBox(extent.start, extent.dims, extent.run)
        # What an extent may have is what lies between its bounds.
        if runs.start >= extent.low and runs.end <= extent.high and runs.size <= extent.high - extent.low:
            return runs
    low, high = max(0, extent.low), min(size, extent.high)
    return ByteBox(low, (), high - low) if low < high else None


def lazy_array(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Zeros in pages of their own, which take memory when they are touched first."""
    size = prod(shape) * dtype.itemsize
    if not size:
        return np.zeros(shape, dtype)
    if hasattr(mmap, "MAP_ANONYMOUS"):
        pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE)
        return np.ndarray(shape, dtype, pages)
    return np.zeros(shape, dtype)
