"""Memory for the tiles of a running tile block: one arena per thread, kept from launch to launch.

`cpu.emit.record` describes the first line of an arena, through which native code calls back.
"""

from __future__ import annotations

import ctypes
import mmap
import threading
from collections.abc import Callable, Generator
from contextlib import suppress

from tileir.cpu.emit.record import ABANDON, ATTENTION, BLOCK, CHANGES, COUNT, HANDED, HANDLE, HOST, LINE, WAITING
from tileir.host.limits import no_memory

_HUGE_PAGE = 1 << 21
_SMALLEST = 1 << 16
_OWN = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}
"""Memory that is not shared with other processes, as `mmap` has it by itself: shared memory has no huge pages."""

Answer = Callable[["Arena", int], int]
"""Answers a call of native code, given the number of the operation or `SAFEPOINT`."""
_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32)


def _unused(arena: Arena, number: int) -> int:
    return ABANDON


class Arena:
    """At least `size` bytes, and the first line in front of them. `answer` is set by whoever runs code on it.

    Raises UnsupportedError if there is no such memory.
    """

    def __init__(self, size: int) -> None:
        wanted = max(_SMALLEST, size + LINE)
        alignment = _HUGE_PAGE if wanted >= _HUGE_PAGE else mmap.PAGESIZE
        self.size = wanted - LINE
        try:
            self._memory = mmap.mmap(-1, wanted + alignment, **_OWN)
        except (OSError, OverflowError):
            raise no_memory(size) from None
        if alignment == _HUGE_PAGE and hasattr(mmap, "MADV_HUGEPAGE"):
            with suppress(OSError):  # a kernel without huge pages
                self._memory.madvise(mmap.MADV_HUGEPAGE)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self.address = -(-address // alignment) * alignment
        self._block, self._count, self._handed, self._handle, self._changes, self._waiting, host = (
            ctypes.c_int64.from_address(self.address + place)
            for place in (BLOCK, COUNT, HANDED, HANDLE, CHANGES, WAITING, HOST)
        )
        self._attention = ctypes.c_int32.from_address(self.address + ATTENTION)
        self.answer: Answer = _unused
        self.raised: BaseException | None = None
        self.usable = True
        """True if native code can still call: an exception may arise outside all handlers."""
        self._calls = _calls(self)
        next(self._calls)
        self._callback = _CALLBACK(self._calls.send)
        host.value = ctypes.cast(self._callback, ctypes.c_void_p).value or 0

    @property
    def block(self) -> int:
        """The number of the tile block that runs, or that trapped."""
        return self._block.value

    @property
    def count(self) -> int:
        """The number of tile blocks that the driver has run."""
        return self._count.value

    @property
    def handle(self) -> int:
        """The handle of the tile block, if it is set aside."""
        return self._handle.value

    def take_handle(self) -> int:
        """Return the handle, which nobody finds here any more; 0 if no tile block is set aside."""
        handle = self._handle.value
        self._handle.value = 0
        return handle

    @property
    def changes(self) -> int:
        """Number of changes made by the tile blocks that ran here, if they may wait for others."""
        return self._changes.value

    @property
    def waiting(self) -> int:
        """The number of the loop in which the tile block waits."""
        return self._waiting.value

    def call_soon(self) -> None:
        """Have native code on this arena call at its next safepoint."""
        self._attention.value = 1

    def called(self) -> None:
        """Take `call_soon` back."""
        self._attention.value = 0

    def close(self) -> None:
        """Let go of what refers to the arena, and so of its memory."""
        self._calls.close()

    def handed(self, count: int) -> list[int]:
        """Return the addresses that native code handed over with its call."""
        return list((ctypes.c_uint64 * count).from_address(self._handed.value))

    def content(self, offset: int, size: int) -> bytes:
        """Return a copy of bytes that native code left behind; offsets are those of `Emitter.buffer`."""
        return ctypes.string_at(self.address + LINE + offset, size)


def _calls(arena: Arena) -> Generator[int, int, None]:
    """Answer calls one after the other, and the failing ones with `ABANDON`.

    This is a generator because Python handles signals whenever a function begins: it would lose the exception that
    comes of it in front of any `try` of ours. A generator goes on inside the `try`.
    """
    answer = ABANDON
    try:
        while True:
            try:
                number = yield answer
                answer = arena.answer(arena, number)
            except GeneratorExit:
                return
            except BaseException as error:
                answer, arena.raised = ABANDON, error
    finally:
        arena.usable = False


KEPT = 8
"""Arenas of a thread that are kept when it has no use for them: launches within launches, or tile blocks that wait."""


class Arenas(threading.local):
    """The arenas of each thread."""

    def __init__(self) -> None:
        self.free: list[Arena] = []
        """The unused arenas of this thread: a launch may start another when it prints."""


def taken(free: list[Arena], size: int) -> Arena:
    """Return an arena for this thread, of those that are free if the last one is large enough."""
    arena = free.pop() if free else None
    return arena if arena is not None and arena.size >= size else Arena(size)


def give_back(free: list[Arena], arena: Arena) -> None:
    """Let others of this thread use the arena."""
    if arena.usable and len(free) < KEPT:
        free.append(arena)
    else:
        arena.close()
