"""Memory for the tiles of a running tile block: one arena per thread, kept from launch to launch.

Knows: how it is allocated. Does not know: what lies in it (`cpu.emitter`), but for the report in its first line
(`cpu.record`).
"""

from __future__ import annotations

import ctypes
import mmap
import threading

from tileir.cpu.record import LINE, REPORTED_BLOCK, REPORTED_COUNT

_HUGE_PAGE = 1 << 21
_SMALLEST = 1 << 16


class Arena:
    """At least `size` bytes, and the line of the report in front of them."""

    def __init__(self, size: int) -> None:
        wanted = max(_SMALLEST, size + LINE)
        alignment = _HUGE_PAGE if wanted >= _HUGE_PAGE else mmap.PAGESIZE
        self.size = wanted - LINE
        self._memory = mmap.mmap(-1, wanted + alignment)
        if alignment == _HUGE_PAGE and hasattr(mmap, "MADV_HUGEPAGE"):
            self._memory.madvise(mmap.MADV_HUGEPAGE)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self.address = -(-address // alignment) * alignment
        self._block = ctypes.c_int64.from_address(self.address + REPORTED_BLOCK)
        self._count = ctypes.c_int64.from_address(self.address + REPORTED_COUNT)

    @property
    def block(self) -> int:
        """The number of the tile block that trapped."""
        return self._block.value

    @property
    def count(self) -> int:
        """How many tile blocks the driver has run."""
        return self._count.value

    def content(self, offset: int, size: int) -> bytes:
        """A copy of bytes that native code left behind; offsets are those of `Emitter.buffer`."""
        return ctypes.string_at(self.address + LINE + offset, size)


class Arenas(threading.local):
    """The arena of each thread."""

    def __init__(self) -> None:
        self._free: list[Arena] = []

    def take(self, size: int) -> Arena:
        """An arena of this thread that nothing else uses: a launch may start another, when it prints."""
        arena = self._free.pop() if self._free else None
        return arena if arena is not None and arena.size >= size else Arena(size)

    def give(self, arena: Arena) -> None:
        self._free.append(arena)
