"""Tile blocks that wait for others, on a bounded number of threads: they are set aside, and taken up in turn.

Coroutines suspend and resume native code (`cpu.emit.coroutines`).

Each thread has tile blocks of its own. It takes them up in turn, and lets in as many new ones as it has when a whole
round of turns has changed nothing: so every tile block is begun at last, and few rounds are in vain. When all have
begun, and nothing has changed in any thread for some rounds and some time, none will ever go on.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from time import perf_counter

from tileir.cpu.emit.record import SET_ASIDE, LaunchRecord, block_at
from tileir.cpu.run.arena import Arena, give_back, taken
from tileir.cpu.run.launch import Launch
from tileir.host import limits
from tileir.host.limits import only_one_runs

MOST_BYTES = 4 << 30
"""Memory that the tiles of waiting tile blocks may take."""
SHORTEST_SLEEP, LONGEST_SLEEP = 1e-5, 1e-3
"""Seconds between two rounds of a thread without a change."""
ROUNDS = 2
"""Rounds without a change, beside one for each loop that may be left in between, after which nothing will change."""

Trapped = Callable[[int, Arena], None]
"""Is told of a status that is a trap, and of the arena that says more."""


class Waiting:
    """The state shared by the threads of a launch whose tile blocks wait for each other."""

    def __init__(self, launch: Launch, record: LaunchRecord) -> None:
        self.launch, self.record = launch, record
        self._lock = threading.Lock()
        self._needed = ROUNDS + len(launch.program.waiting)
        self._since = perf_counter()
        self._quiet: dict[Turns, int] = {}
        """For each working thread, the rounds since the last change."""
        self._bytes = 0

    def join(self, turns: Turns) -> None:
        with self._lock:
            self._quiet[turns] = 0

    def leave(self, turns: Turns) -> None:
        with self._lock:
            self._quiet.pop(turns, None)

    def keep(self, arena: Arena) -> None:
        """Note that a tile block begins that may be set aside with its tiles; until it ends it is not done."""
        with self._lock:
            self._bytes += arena.size
            self.launch.aside += 1

    def let_go(self, arena: Arena) -> None:
        with self._lock:
            self._bytes -= arena.size
            self.launch.aside -= 1

    @property
    def full(self) -> bool:
        """True if no more tile blocks can be set aside."""
        return self._bytes > MOST_BYTES

    def changed(self) -> None:
        """Note a change: waiting tile blocks may go on."""
        with self._lock:
            self._since = perf_counter()
            for turns in self._quiet:
                self._quiet[turns] = 0

    def unchanged(self, turns: Turns) -> None:
        """Note that a round of a thread has changed nothing. Ends the launch if nothing will ever change."""
        with self._lock:
            self._quiet[turns] += 1
            for_ever = min(self._quiet.values()) >= self._needed and perf_counter() - self._since > limits.GRACE
            threads = list(self._quiet)
        if for_ever and only_one_runs() and not self.launch.stopped:
            self._end([arena for one in threads for arena in list(one.aside.values())])

    def _end(self, waiting: list[Arena]) -> None:
        program = self.launch.program
        found = sorted((arena.block, program.waiting[arena.waiting]) for arena in waiting)
        named = [(block_at(number, self.record.grid), loop) for number, loop in found]
        left = self.launch.total - self.launch.begun
        missing = f"; {left} tile blocks have not begun, as those that wait take {MOST_BYTES} bytes" if left else ""
        self.launch.fail(limits.deadlock(program.name, named, missing, self.launch.settings.source))


class Turns:
    """The tile blocks of one thread."""

    def __init__(self, shared: Waiting, free: list[Arena], trapped: Trapped) -> None:
        self._shared, self._free, self._trapped = shared, free, trapped
        self._launch, self._record = shared.launch, shared.record
        self._program = shared.launch.program
        self.aside: dict[int, Arena] = {}
        """Tile blocks that are set aside, by their numbers."""
        self._used: dict[int, Arena] = {}
        """The arenas with a tile block of this thread."""

    def run(self) -> None:
        """Run tile blocks until there are none left, or the launch ends."""
        self._shared.join(self)
        try:
            self._take_turns()
        finally:
            self._shared.leave(self)
            self._give_up()

    def _take_turns(self) -> None:
        wanted, sleep = 1, 0.0
        while not self._launch.cut_short:
            more = self._begin(wanted)
            if not self.aside and not more:
                return
            if self.aside and self._round():
                self._shared.changed()
                wanted, sleep = 1, 0.0
            elif more and not self._shared.full:
                wanted = max(1, len(self.aside))
            else:
                self._shared.unchanged(self)
                time.sleep(sleep)
                wanted, sleep = 0, min(LONGEST_SLEEP, 2 * sleep + SHORTEST_SLEEP)

    def _begin(self, wanted: int) -> bool:
        """Run new tile blocks until so many have been set aside; whether there may be more."""
        while wanted and self._next():
            wanted -= 1
        return not self._launch.all_begun

    def _next(self) -> bool:
        """Run new tile blocks until one has been set aside; whether one has."""
        if self._launch.all_begun or self._shared.full:
            return False
        arena = taken(self._free, self._program.arena_size)
        self._used[id(arena)] = arena
        self._shared.keep(arena)
        self._launch.enter(arena)
        status = self._program.driver(self._record.address, arena.address)
        self._shared.changed()
        if status != SET_ASIDE:
            self._shared.let_go(arena)
            self._done(arena, status)
            return False
        self.aside[arena.block] = arena
        return True

    def _round(self) -> bool:
        """Give every tile block that is set aside its turn; whether anything has changed."""
        changed = False
        for number, arena in list(self.aside.items()):
            if self._launch.cut_short:
                return True
            before = arena.changes
            self._launch.goes_on(arena)
            status = self._program.resume(self._record.address, arena.address, arena.handle)
            if status != SET_ASIDE:
                del self.aside[number]
                self._shared.let_go(arena)
                self._done(arena, status)
            changed = changed or status != SET_ASIDE or arena.changes != before
        return changed

    def _done(self, arena: Arena, status: int) -> None:
        """Note that no tile block uses `arena` any more; the last one gave `status`."""
        if status > 0:
            self._trapped(status, arena)
        del self._used[id(arena)]
        self._launch.leave(arena)
        give_back(self._free, arena)

    def _give_up(self) -> None:
        """Give up every tile block. An interrupt may have come anywhere: the arenas know which are set aside."""
        self.aside.clear()
        while self._used:
            _, arena = self._used.popitem()
            handle = arena.take_handle()
            if handle:
                self._program.destroy(handle)
            self._launch.leave(arena)
            give_back(self._free, arena)
