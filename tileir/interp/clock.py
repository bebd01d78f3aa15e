"""The clock of a launch: when its time is up, and when its progress is told."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import perf_counter

from tileir.host import limits
from tileir.ir.loc import Source

PERIOD = 0.05
"""Seconds between two reports of progress."""


class LaunchClock:
    """Started with a launch of `total` tile blocks, of which `done` have ended; to be looked at when it is `due`."""

    def __init__(
        self,
        kernel: str,
        total: int,
        timeout: float | None,
        progress: Callable[[int, int], object] | None,
        source: Source | None,
    ) -> None:
        self._kernel, self._total, self._timeout, self._source = kernel, total, timeout, source
        self._progress = progress
        self.done = 0
        begin = perf_counter()
        self._deadline = math.inf if timeout is None else begin + timeout
        self._report = math.inf if progress is None else begin + PERIOD
        self.due = min(self._deadline, self._report)

    def look(self) -> None:
        """Raise LaunchTimeout if the time is up; tell of the progress."""
        now = perf_counter()
        if now < self.due:
            return
        if now > self._deadline:
            raise limits.timed_out(self._kernel, self._timeout or 0.0, self._source)
        if self._progress is not None:
            self._progress(self.done, self._total)
            self._report = perf_counter() + PERIOD
        self.due = min(self._deadline, self._report)
