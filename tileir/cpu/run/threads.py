"""Threads that stay: helpers, which do work together with the thread that calls, and the ticker.

Work is a function that any number of threads may run at the same time; it returns when nothing is left to do. A helper
that wakes up after the caller has returned from it does not begin. Any thread may start work at any time: it gets the
helpers that are idle, and new ones if there are too few.
"""

from __future__ import annotations

import _thread
import ctypes
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Protocol, runtime_checkable

from tileir.host import limits

Work = Callable[[], None]

PERIOD = 0.05
"""Seconds between two looks of a caller that waits for its helpers."""
KEPT = 256
"""Idle helpers beyond this number end."""


def default_threads() -> int:
    """Return the number of threads of a launch: ``TILEIR_NUM_THREADS``, else the processors that this process may use.

    Raises ValueError if the variable is no positive integer.
    """
    text = os.environ.get("TILEIR_NUM_THREADS", "").strip()
    if not text:
        return limits.processors()
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"TILEIR_NUM_THREADS: expected a positive integer, got {text!r}")
    return int(text)


def _nothing() -> None:
    pass


class Job:
    """One piece of work and the threads that do it.

    `stop` has them leave off soon, if the caller cannot go on; `look` is called now and then while the caller has
    nothing to do but wait for the others, and may raise.
    """

    def __init__(self, pool: Pool, work: Work, stop: Work, look: Work = _nothing) -> None:
        self._pool, self._work, self._stop, self._look = pool, work, stop, look
        self._lock = threading.Lock()
        self._open = True
        self._running = 0
        self._done: threading.Lock | None = None
        self._raised: BaseException | None = None

    def run(self, helpers: int) -> None:
        """Do the work here and with helpers; returns, or raises, when every thread that began has returned from it.

        An error of a helper is raised here. Interrupts may come anywhere; a second one while the first ends the work
        does not end the waiting: helpers must not be left at work on memory that may be given up.
        """
        try:
            here = processor()
            for _ in range(helpers):
                self._pool.idle().begin(self, here)
            self._work()
            self._close()
            self._wait()
        except BaseException:
            try:
                self._end()
            except BaseException:
                self._end()
                raise
            raise
        if self._raised is not None:
            raise self._raised

    def _end(self) -> None:
        """Stop, and wait whatever comes."""
        self._stop()
        raised: BaseException | None = None
        while True:
            try:
                self._close()
                self._wait()
                break
            except BaseException as error:
                raised = error
        if raised is not None:
            raise raised

    def _close(self) -> None:
        """Let nobody begin any more."""
        with self._lock:
            self._open = False
            if self._running and self._done is None:
                self._done = threading.Lock()
                self._done.acquire()

    def _wait(self) -> None:
        """Wait until no helper is at work."""
        if self._done is not None:
            while self._running and not self._done.acquire(timeout=PERIOD):
                self._look()

    def help(self) -> None:
        """Run by a helper."""
        with self._lock:
            if not self._open:
                return
            self._running += 1
        try:
            self._work()
        except BaseException as error:
            self._raised = self._raised or error
            self._stop()
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
        """Return a helper that has nothing to do."""
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


@cache
def _sched_getcpu() -> Callable[[], int] | None:
    """Return the C library's function; None where threads cannot be kept from a processor."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    found: Callable[[], int] | None = getattr(ctypes.CDLL(None), "sched_getcpu", None)
    return found


def processor() -> int | None:
    """Return the number of the processor that runs this thread, or None if the system does not tell."""
    ask = _sched_getcpu()
    return None if ask is None else ask()


class _Helper:
    """A thread that waits for a job, again and again.

    It keeps off the processor of the thread that calls it. Left to itself, the system may wake it there when all other
    processors are busy, if only with the idle threads of a library that spin, and then the two take turns.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._job: Job | None = None
        self._number: int | None = None
        """The system's number of the thread, once it runs."""
        self._avoided: int | None = None
        self._woken = threading.Lock()
        self._woken.acquire()
        threading.Thread(target=self._loop, name="tileir", daemon=True).start()

    def begin(self, job: Job, caller: int | None) -> None:
        """Wake the thread for a job of a thread that runs on the processor `caller`."""
        if caller != self._avoided and self._number is not None:
            self._avoid(caller, self._number)
        self._job = job
        self._woken.release()

    def _avoid(self, caller: int | None, number: int) -> None:
        others = os.sched_getaffinity(0) - {caller}
        if others:
            with suppress(OSError):  # it may be forbidden, and then the system decides
                os.sched_setaffinity(number, others)
        self._avoided = caller

    def _loop(self) -> None:
        self._number = threading.get_native_id()
        while True:
            self._woken.acquire()
            job, self._job = self._job, None
            assert job is not None
            job.help()
            del job
            if not self._pool.back(self):
                return


# ---------------------------------------------------------------- the ticker
#
# One thread asks all running launches, some twenty times a second, to look up from native code. It sleeps while there
# are none.


TICK = 0.05
"""Seconds between two requests: what an interrupt of long-running native code takes at most, and a tile's time."""
IDLE = 20
"""Periods without a launch after which the thread sleeps: one that is awake makes a launch cost less."""


@runtime_checkable
class Ticking(Protocol):
    """An object that can be asked to tick."""

    def tick(self) -> None: ...


class Ticker:
    """The thread that asks; to be woken when a launch begins and it is not `awake`."""

    def __init__(self) -> None:
        self.awake = False
        self._lock = threading.Lock()
        self._sleep = threading.Lock()
        self._sleep.acquire()
        self._begun = False

    def wake(self) -> None:
        with self._lock:
            if self.awake:
                return
            # An interrupt may come between any two of these, so that one thread more may run, but not one too few.
            if not self._begun:
                _thread.start_new_thread(self._loop, ())
                self._begun = True
            elif self._sleep.locked():
                self._sleep.release()
            self.awake = True

    def _loop(self) -> None:
        idle = 0
        while True:
            time.sleep(TICK)
            launches = [launch for launch in limits.live_launches() if isinstance(launch, Ticking)]
            for launch in launches:
                launch.tick()
            idle = 0 if launches else idle + 1
            if idle > IDLE:
                idle = 0
                self._rest()

    def _rest(self) -> None:
        """Sleep until there is a launch."""
        with self._lock:
            self.awake = False
            if limits.live_launches():
                self.awake = True
                return
        self._sleep.acquire()
