"""Arrays between canaries and forbidden pages: touching anything beside them is noticed, or ends the process."""

from __future__ import annotations

import ctypes
import mmap
from math import prod

import numpy as np

CANARY = 0xA5
_PAGE = mmap.PAGESIZE
_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


class GuardedArray:
    """An array of zeros, `shape` elements of `dtype`, in pages of its own between two pages without access.

    ``at_end``: its last byte is the last before the page behind; otherwise its first byte is the first behind the page
    before. All other bytes of its pages are canaries.
    """

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype, at_end: bool) -> None:
        size = prod(shape) * dtype.itemsize
        pages = max(1, -(-size // _PAGE))
        self._memory = mmap.mmap(-1, (pages + 2) * _PAGE)
        whole = np.frombuffer(self._memory, np.uint8)
        self._inner = whole[_PAGE : (pages + 1) * _PAGE]
        self._inner[:] = CANARY
        begin = self._inner.size - size if at_end else 0
        self._begin, self._end = begin, begin + size
        self._inner[begin : self._end] = 0
        self.array = self._inner[begin : self._end].view(dtype).reshape(shape)
        for page in (0, pages + 1):
            _forbid(whole.ctypes.data + page * _PAGE)

    @property
    def intact(self) -> bool:
        """Whether no byte beside the array has changed."""
        before, behind = self._inner[: self._begin], self._inner[self._end :]
        return bool((before == CANARY).all() and (behind == CANARY).all())


def _forbid(address: int) -> None:
    if _LIBC.mprotect(address, _PAGE, 0):
        raise OSError(ctypes.get_errno(), "mprotect")
