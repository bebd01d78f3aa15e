"""Asks running launches, some twenty times a second, to look up from native code.

Knows: which launches run, and when they are asked. Does not know: what they do then (`cpu.run.launch`).

One thread does it for all launches. It sleeps while there are none.
"""

from __future__ import annotations

import _thread
import threading
import time
from typing import Protocol, runtime_checkable

from tileir.host import running

PERIOD = 0.05
"""Seconds between two requests: what an interrupt of long-running native code takes at most, and a tile's time."""
IDLE = 20
"""Periods without a launch after which the thread sleeps: one that is awake makes a launch cost less."""


@runtime_checkable
class Ticking(Protocol):
    """What can be asked."""

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
            time.sleep(PERIOD)
            launches = [launch for launch in running.launches() if isinstance(launch, Ticking)]
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
            if running.launches():
                self.awake = True
                return
        self._sleep.acquire()
