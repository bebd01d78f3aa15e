"""How a launch ends before its time: it takes too long, or its tile blocks wait for ever.

Knows: what time a launch has, who is told of its progress, and when waiting is in vain.
Does not know: in which order tile blocks run (`scheduler`), nor what counts as a change (`api.BlockState`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from time import perf_counter

from tileir.host import limits
from tileir.host.running import only_one
from tileir.interp.api import BlockState, LaunchState

PERIOD = 0.05
"""Seconds between two reports of progress."""
SLEEP = 1e-3
"""Seconds between two rounds of tile blocks that all wait."""


class Watch:
    """Watches a launch of `total` tile blocks; `begun` counts those that have begun."""

    def __init__(self, launch: LaunchState, total: int) -> None:
        self._launch, self._total = launch, total
        self.begun = 0
        begin = perf_counter()
        timeout = launch.options.timeout
        launch.deadline = math.inf if timeout is None else begin + timeout
        self._report = begin + PERIOD if launch.options.progress is not None else math.inf
        self._due = min(launch.deadline, self._report)
        self._unchanged = -1
        self._since = begin

    @property
    def changes(self) -> int:
        """How often something has changed that a tile block may wait for."""
        return self._launch.memory.changes

    def look(self) -> None:
        """Raise LaunchTimeout if the time is up; tell of the progress."""
        now = perf_counter()
        if now < self._due:
            return
        if now > self._launch.deadline:
            raise self._launch.timed_out()
        if self._launch.options.progress is not None:
            self._launch.options.progress(self.begun, self._total)
            self._report = now + PERIOD
        self._due = min(self._launch.deadline, self._report)

    def wait(self, live: Sequence[BlockState]) -> None:
        """All tile blocks have begun, and a round has changed nothing. Raises Trap if nothing ever will."""
        if self._unchanged != self.changes:
            self._unchanged, self._since = self.changes, perf_counter()
        if not all(state.waits for state in live):
            return
        if perf_counter() - self._since < limits.GRACE or not only_one():
            time.sleep(SLEEP)
            return
        waiting = sorted(live, key=lambda state: state.id[::-1])
        found = [(state.id, state.loop) for state in waiting if state.loop is not None]
        raise limits.deadlock(self._launch.kernel, found, "", self._launch.source)
