"""Seats of direct launches: an arena for one thread at a time, and helpers, which have a thread too.

Knows: what native code asks on them, how a helper's thread begins and ends, and how helpers that are still at work are
waited for. Does not know: the lists of free ones (`cpu.run.direct`), how they are woken (`cpu.emit.direct_helpers`).
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Sequence

from tileir.cpu.emit.direct_record import AT_WORK, AWAITED, GONE, SEAT, WORD
from tileir.cpu.emit.record import ABANDON, GO_ON, LIMIT
from tileir.cpu.run.arena import Arena

_SEMAPHORE = 64
"""Bytes of a semaphore, and more: 32 on Linux."""
PERIOD = 1e-3
"""Seconds between two looks at a helper that is at work for long."""


class Seat:
    """An arena for one direct launch at a time; in the set of launches that run, it stands for the launch."""

    def __init__(self, size: int) -> None:
        self.arena = Arena(size)
        self.words = (ctypes.c_int64 * len(SEAT))()
        self.address = ctypes.addressof(self.words)
        for name, value in (("arena", self.arena.address), ("size", self.arena.size), ("object", id(self))):
            self.set(name, value)
        self.arena.answer = self._answer

    def word(self, name: str) -> int:
        return self.words[SEAT[name] // WORD]

    def set(self, name: str, value: int) -> None:
        self.words[SEAT[name] // WORD] = value

    def tick(self) -> None:
        """Have the launching thread called."""
        self.set("called", 1)
        self.arena.call_soon()

    @property
    def status(self) -> int:
        """The status with which a helper has ended."""
        return self.word("status")

    def _answer(self, arena: Arena, number: int) -> int:
        """Answers safepoints, the only calls of kernels launched directly; Python handles signals meanwhile."""
        arena.called()
        limit = ctypes.c_int64.from_address(self.word("record") + LIMIT).value
        return ABANDON if limit <= arena.block else GO_ON


class Semaphores:
    """Semaphores of the system. Raises AttributeError where it has none, OSError where it makes none."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._make, self._post = library.sem_init, library.sem_post
        self._make.argtypes, self._post.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_uint), (ctypes.c_void_p,)
        self.made(ctypes.create_string_buffer(_SEMAPHORE))

    def made(self, memory: ctypes.Array[ctypes.c_char]) -> int:
        """The address of a new one in that memory."""
        address = ctypes.addressof(memory)
        if self._make(address, 0, 0):
            raise OSError("this system makes no semaphores")
        return address

    def post(self, address: int) -> None:
        self._post(address)


class Helper(Seat):
    """A seat whose thread runs `serve` on it, until it is closed."""

    def __init__(self, size: int, semaphores: Semaphores, serve: Callable[[int], object]) -> None:
        super().__init__(size)
        self._semaphores = semaphores
        self._memory = [ctypes.create_string_buffer(_SEMAPHORE) for _ in range(2)]
        for name, memory in zip(("wake", "ended"), self._memory):
            self.set(name, semaphores.made(memory))
        self._serve = serve
        threading.Thread(target=self._run, name="tileir helper", daemon=True).start()

    def _run(self) -> None:
        self._serve(self.address)

    @property
    def at_work(self) -> bool:
        return self.word("state") in (AT_WORK, AWAITED)

    def close(self) -> None:
        """Have the thread end, which has nothing to do."""
        self.set("state", GONE)
        self._semaphores.post(self.word("wake"))


def wait_for(helpers: Sequence[Helper], stop: Callable[[], None]) -> None:
    """Wait until none is at work. What an interrupt raises meanwhile has them stop, and is raised when they have."""
    raised: BaseException | None = None
    while True:
        try:
            while any(helper.at_work for helper in helpers):
                for helper in helpers:
                    helper.arena.call_soon()
                time.sleep(PERIOD)
            break
        except BaseException as error:
            raised = raised or error
            stop()
    if raised is not None:
        raise raised
