"""How a launch ends when its tile blocks wait for ever."""

from __future__ import annotations

import time
from collections.abc import Sequence
from time import perf_counter

from tileir.host import limits
from tileir.host.running import only_one
from tileir.interp.api import BlockState, LaunchState

SLEEP = 1e-3
"""Seconds between two rounds of tile blocks that all wait."""


class Watch:
    """Watches a launch."""

    def __init__(self, launch: LaunchState) -> None:
        self._launch = launch
        self.clock = launch.clock
        self._unchanged = -1
        self._since = perf_counter()

    @property
    def changes(self) -> int:
        """How often something has changed that a tile block may wait for."""
        return self._launch.memory.changes

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
