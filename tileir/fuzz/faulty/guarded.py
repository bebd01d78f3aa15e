"""Arrays between canaries and forbidden pages: touching anything beside them is noticed, or ends the process."""

from __future__ import annotations

import ctypes
import mmap

import numpy as np

CANARY = 0xA5
_PAGE = mmap.PAGESIZE
_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


class GuardedArray:
    """An array of zeros, `shape` elements of `dtype`, in pages of its own between two pages without access.

    ``at_end``: its last byte is the last before the page behind; otherwise its first byte is the first behind the page
    before. All other bytes of its pages are canaries, those between its elements too; `strides` count bytes.
    """

    def __init__(self, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype, at_end: bool) -> None:
        size = 0 if 0 in shape else dtype.itemsize + sum((n - 1) * step for n, step in zip(shape, strides))
        pages = max(1, -(-size // _PAGE))
        self._memory = mmap.mmap(-1, (pages + 2) * _PAGE)
        whole = np.frombuffer(self._memory, np.uint8)
        self._inner = whole[_PAGE : (pages + 1) * _PAGE]
        self._inner[:] = CANARY
        begin = self._inner.size - size if at_end else 0
        self.array = np.ndarray(shape, dtype, self._inner, begin, strides)
        self._beside = np.ones(self._inner.size, np.bool_)
        np.ndarray((*shape, dtype.itemsize), np.bool_, self._beside, begin, (*strides, 1))[...] = False
        self._inner[~self._beside] = 0
        for page in (0, pages + 1):
            _forbid(whole.ctypes.data + page * _PAGE)

    @property
    def intact(self) -> bool:
        """Whether no byte beside its elements has changed."""
        return bool((self._inner[self._beside] == CANARY).all())


def _forbid(address: int) -> None:
    if _LIBC.mprotect(address, _PAGE, 0):
        raise OSError(ctypes.get_errno(), "mprotect")
