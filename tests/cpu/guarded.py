"""Arrays that end where memory does: a read or write beyond one ends the process."""

from __future__ import annotations

import ctypes
import mmap

import numpy as np


class Guarded:
    """Memory in front of a page that nobody may read. Linux only."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._kept: list[mmap.mmap] = []

    def copy(self, array: np.ndarray) -> np.ndarray:
        size = -(-array.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
        memory = mmap.mmap(-1, size + mmap.PAGESIZE)
        begin = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        protected = self._libc.mprotect(ctypes.c_void_p(begin + size), ctypes.c_size_t(mmap.PAGESIZE), 0)
        assert protected == 0
        self._kept.append(memory)
        found = np.frombuffer(memory, np.uint8, array.nbytes, size - array.nbytes).view(array.dtype)
        found = found.reshape(array.shape)
        found[...] = array
        return found
