"""Threads that stay: work is done by the calling thread and by helpers that wait for it.

Knows: how threads are woken, and when a piece of work is done. Does not know: what the work is.

Work is a function that any number of threads may run at the same time; it returns when nothing is left to do. A helper
that wakes up after the caller has returned from it does not begin. Any thread may start work at any time: it gets the
helpers that are idle, and new ones if there are too few.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

Work = Callable[[], None]

KEPT = 256
"""Idle helpers beyond this number end."""


def default_threads() -> int:
    """The number of threads of a launch: ``TILEIR_NUM_THREADS``, else the processors that this process may use.

    Raises ValueError if the variable is no positive integer.
    """
    text = os.environ.get("TILEIR_NUM_THREADS", "").strip()
    if not text:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"TILEIR_NUM_THREADS: expected a positive integer, got {text!r}")
    return int(text)


class Job:
    """One piece of work and the threads that do it. `stop` has them leave off soon, if the caller cannot go on."""

    def __init__(self, pool: Pool, work: Work, stop: Work) -> None:
        self._pool, self._work, self._stop = pool, work, stop
        self._lock = threading.Lock()
        self._open = True
        self._running = 0
        self._done: threading.Lock | None = None

    def enlist(self, helpers: int) -> None:
        """Have so many more helpers join in."""
        for _ in range(helpers):
            self._pool.idle().begin(self)

    def run(self, helpers: int) -> None:
        """Do the work here and with helpers; returns when every thread that began has returned from it."""
        self.enlist(helpers)
        try:
            self._work()
        except BaseException:
            self._stop()
            raise
        finally:
            self._wait()

    def _wait(self) -> None:
        with self._lock:
            self._open = False
            if self._running:
                self._done = threading.Lock()
                self._done.acquire()
        if self._done is not None:
            self._until(self._done)

    def _until(self, done: threading.Lock) -> None:
        """Wait for `done`, whatever comes: helpers must not be left at work on memory that may be given up."""
        interrupt: KeyboardInterrupt | None = None
        while self._running:
            try:
                done.acquire()
            except KeyboardInterrupt as raised:
                interrupt = raised
                self._stop()
        if interrupt is not None:
            raise interrupt

    def help(self) -> None:
        """Run by a helper."""
        with self._lock:
            if not self._open:
                return
            self._running += 1
        try:
            self._work()
        finally:
            self._leave()

    def _leave(self) -> None:
        with self._lock:
            self._running -= 1
            if self._done is not None and not self._running:
                self._done.release()


class Pool:
    """The helpers of this process."""

    def __init__(self) -> None:
        self._idle: list[_Helper] = []

    def idle(self) -> _Helper:
        """A helper that has nothing to do."""
        try:
            return self._idle.pop()
        except IndexError:
            return _Helper(self)

    def back(self, helper: _Helper) -> bool:
        """Take a helper back; false if there are enough."""
        if len(self._idle) >= KEPT:
            return False
        self._idle.append(helper)
        return True


class _Helper:
    """A thread that waits for a job, again and again."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._job: Job | None = None
        self._woken = threading.Lock()
        self._woken.acquire()
        threading.Thread(target=self._loop, name="tileir", daemon=True).start()

    def begin(self, job: Job) -> None:
        self._job = job
        self._woken.release()

    def _loop(self) -> None:
        while True:
            self._woken.acquire()
            job, self._job = self._job, None
            assert job is not None
            job.help()
            del job
            if not self._pool.back(self):
                return
