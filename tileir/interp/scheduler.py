"""The order in which tile blocks run, and when all of them wait in vain (spec: machine#scheduling).

Tile blocks start x fastest. Each runs until it is done, or until it has used up its budget of switch points; the others
that are alive get their turn then. When a whole round finishes none of them, they may be waiting for one that has not
started: more are let in, twice as many if the round has changed nothing, so that every tile block is started at last
and a spin-wait on it ends. Rounds go forward and backward in turn, so that a chain of tile blocks that wait for each
other does not cost a round per link.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from itertools import islice, product
from random import Random
from time import perf_counter

from tileir.host import limits
from tileir.host.limits import only_one_runs
from tileir.interp.api import BlockState, LaunchState
from tileir.ir.diagnostics import Coordinates

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
        """Number of changes so far that a tile block may wait for."""
        return self._launch.memory.changes

    def wait(self, live: Sequence[BlockState]) -> None:
        """Wait, when all tile blocks have begun and a round has changed nothing. Raises Trap if nothing ever will."""
        if self._unchanged != self.changes:
            self._unchanged, self._since = self.changes, perf_counter()
        if not all(state.waits for state in live):
            return
        if not only_one_runs():
            self._since = perf_counter()  # what another launch does last may not have been seen yet
        if perf_counter() - self._since < limits.GRACE:
            time.sleep(SLEEP)
            return
        waiting = sorted(live, key=lambda state: state.id[::-1])
        found = [(state.id, state.loop) for state in waiting if state.loop is not None]
        raise limits.deadlock(self._launch.kernel, found, "", self._launch.source)


FIRST_WINDOW = 32
"""Tile blocks alive at a time, at first."""
BUDGET = 32
"""Switch points that a tile block may pass in one turn."""

Running = tuple[BlockState, Generator[None, None, object]]
_DONE = object()


def coordinates(grid: Coordinates) -> Iterable[Coordinates]:
    """Yield all tile blocks of a grid, x fastest."""
    width, height, depth = grid
    return ((x, y, z) for z, y, x in product(range(depth), range(height), range(width)))


def run_all(
    blocks: Iterable[Coordinates], start: Callable[[Coordinates], Running], watch: Watch, seed: int | None = None
) -> None:
    """Run every tile block to its end; `start` makes one. With a seed, turns come at random and last a random time.

    Raises Trap if all that run wait for ever, and what `watch` raises.
    """
    turns = _InOrder() if seed is None else _AtRandom(seed)
    waiting = iter(blocks)
    live: deque[Running] = deque()
    window = FIRST_WINDOW
    while True:
        for block in islice(waiting, max(0, window - len(live))):
            live.append(start(block))
        if not live:
            return
        before = watch.changes
        if not _round(live, turns, watch):
            quiet = watch.changes == before
            if len(live) == window:
                window += window if quiet else FIRST_WINDOW
            elif quiet:
                watch.wait([state for state, _ in live])
        live.reverse()


def _round(live: deque[Running], turns: _InOrder | _AtRandom, watch: Watch) -> int:
    """Run as many turns as there are live tile blocks; return how many of these ended."""
    before = len(live)
    for _ in range(before):
        state, flow = turns.take(live)
        state.budget = turns.budget()
        if next(flow, _DONE) is not _DONE:
            live.append((state, flow))
        else:
            watch.clock.done += 1
        watch.clock.look()
    return before - len(live)


class _InOrder:
    """Tile blocks take turns."""

    def take(self, live: deque[Running]) -> Running:
        return live.popleft()

    def budget(self) -> int:
        return BUDGET


class _AtRandom:
    """Any live tile block gets the next turn, which is of any length."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def take(self, live: deque[Running]) -> Running:
        live.rotate(self._random.randrange(len(live)))
        return live.popleft()

    def budget(self) -> int:
        return self._random.randrange(BUDGET)
