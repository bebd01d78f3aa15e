"""Running a compiled entry over a grid.

Tile blocks are shared out among threads, with helpers where they pay. `cpu.run.launch` ends a launch early.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable, Sequence
from functools import cache
from math import inf
from time import perf_counter

from tileir.cpu.emit.record import NO_MEMORY, SET_ASIDE, LaunchRecord, block_at
from tileir.cpu.run.arena import Arena, Arenas, give_back, taken
from tileir.cpu.run.launch import Launch, Settings
from tileir.cpu.run.program import NativeProgram
from tileir.cpu.run.threads import Job, Pool, Ticker
from tileir.cpu.run.traps import LaunchMemory, TrapReport, report_of, trap_of
from tileir.host import limits
from tileir.host.address_space import AccessFault
from tileir.host.kernel_warnings import KernelWarning, issue
from tileir.host.limits import only_one_runs
from tileir.ir.diagnostics import Coordinates, UnsupportedError
from tileir.ops.views import MakeTensorView

try:
    from tileir.cpu.run._launcher import Launcher
except ImportError:  # it is built where there is a C compiler
    Launcher = None  # type: ignore[assignment, misc]

ParameterWords = tuple[bytes, int, int, int, "set[object]"]
"""A parameter for a launcher: ``p``, ``s``, ``i``, ``f`` or ``x`` for a pointer to an array, one into the storage of a
tensor, an integer, f32 or another number; the slot of its bounds; its least and greatest integer; the element types
that its arrays may have."""
MemoryOf = Callable[[object, "tuple[object, ...]"], "tuple[Coordinates, LaunchMemory]"]
LEAST_SHARED, MOST_ALONE = 40e-6, 1e-3
"""Seconds of work that one thread does alone at least, and at most."""
_worth_sharing, _never = ctypes.c_double(LEAST_SHARED), ctypes.c_double(inf)
"""Seconds of work below which waking a helper costs more than it brings, as far as launches have shown, and the same
for launches by one thread."""
CHUNKS_PER_THREAD = 16
LARGEST_CHUNK = 64
LARGEST_GRID = 1 << 62


class _Shared:
    """The state that launches of this process share."""

    def __init__(self) -> None:
        self.pool, self.arenas, self.ticker = Pool(), Arenas(), Ticker()


@cache
def _shared() -> _Shared:
    return _Shared()


if hasattr(os, "register_at_fork"):
    # A child has none of the threads that its parent has.
    os.register_at_fork(after_in_child=_shared.cache_clear)


def _note_shared(work: float, spent: float) -> None:
    """Learn from a launch of so many seconds of `work` that took several threads the time `spent`."""
    found = _worth_sharing.value
    if spent < work:  # less is tried again in the end
        _worth_sharing.value = max(LEAST_SHARED, 0.99 * found)
    elif work < MOST_ALONE:
        _worth_sharing.value = max(found, 1.25 * work)


class Runner:
    """Runs one program; keeps what launches use. Launches may come from any number of threads at once."""

    def __init__(self, program: NativeProgram, slots: int) -> None:
        self._program, self._slots = program, slots
        self._free: list[_Work] = []
        self._make = _WaitingWork if program.waits else _Work
        self._most_threads = limits.physical_memory() // max(1, program.arena_size)
        self._seconds = ctypes.c_double(1.0)
        """Seconds that a tile block took in the last launch."""
        self._may_be_alone = bool(self._most_threads) and not program.waits
        """True if the launching thread may do little work alone, without anything else being asked."""

    def run(self, grid: Coordinates, slots: tuple[int, ...], settings: Settings, memory: LaunchMemory) -> None:
        """Run every tile block. Raises the Trap of the first tile block that traps.

        `slots` are the arguments, the addresses of globals and the bounds of all memory; `memory` says what is wrong
        with a use of it. Whatever it raises, no thread is at work any more.
        """
        x, y, z = grid
        total = x * y * z
        if total > LARGEST_GRID:
            raise UnsupportedError(f"a grid of more than {LARGEST_GRID} tile blocks", "cpu")
        if self._may_be_alone and total * self._seconds.value < _worth_sharing.value:
            threads, chunk = 1, total
        else:
            threads = self._threads(total, settings.threads)
            chunk = self._chunk(total, threads)
        work = self._free.pop() if self._free else self._make(self._program, self._slots)
        launch = work.launch
        launch.begin(settings, total)
        work.record.fill(total, chunk, settings.max_iterations, grid, slots)
        begin = perf_counter()
        try:
            work.run(threads - 1)
        finally:
            if launch.warnings:
                self._warn(work, grid, memory)
        if threads > 1:
            _note_shared(total * work.seconds, perf_counter() - begin)
        self._seconds.value = work.seconds
        self._raise_trap(work, grid, settings, memory)
        self._free.append(work)

    def _raise_trap(self, work: _Work, grid: Coordinates, settings: Settings, memory: LaunchMemory) -> None:
        if work.reports:
            block = block_at(work.first.block, grid, self._program.columns)
            limit, source = settings.max_iterations, settings.source
            raise trap_of(work.first, block, self._program.name, source, memory, limit)

    def launcher(
        self,
        parameters: Sequence[ParameterWords],
        types: tuple[object, object, object, frozenset[type]],
        slots: tuple[int, ...],
        settings: Settings,
        memory: MemoryOf,
    ) -> Launcher | None:
        """Return a launcher for arguments like those in `slots`, or None for a kernel that always needs `run`.

        `types` are those of arrays and tensors, the layout that tensors must have, and the types of bound arguments;
        `memory` makes the grid and the memory of a launch of what it was called with, for messages.
        """
        program, shared = self._program, _shared()
        if Launcher is None or program.waits or program.prints or not self._most_threads:
            return None
        work = _Work(program, self._slots)
        work.launch.begin(settings, 1)
        work.record.fill(1, 1, settings.max_iterations, (1, 1, 1), slots)

        def ended(status: int, arena: Arena, grid: object, values: tuple[object, ...]) -> None:
            extents, used = memory(grid, values)
            try:
                work.ended_early(status, arena)
            finally:
                if work.launch.warnings:
                    self._warn(work, extents, used)
            self._raise_trap(work, extents, settings, used)

        return Launcher(
            tuple(parameters),
            work.record.address,
            program.driver_address,
            settings.max_iterations,
            program.arena_size,
            ctypes.addressof(self._seconds),
            ctypes.addressof(_never if settings.threads == 1 else _worth_sharing),
            (*types, work.launch, work.launch.answer, shared.arenas, shared.ticker, limits.running, ended),
        )

    def _warn(self, work: _Work, grid: Coordinates, memory: LaunchMemory) -> None:
        """Issue the warnings of the tile blocks up to the one that trapped."""
        last = work.first.block if work.reports else LARGEST_GRID
        for op, (block, message, claim) in work.launch.warnings.items():
            found = memory.overclaim(op, *claim) if isinstance(op, MakeTensorView) else AccessFault(message)
            if block <= last and found is not None:
                place = block_at(block, grid, self._program.columns)
                issue(KernelWarning(found.message, self._program.name, place, op.spec.name, op.loc))

    def _threads(self, total: int, threads: int) -> int:
        """Return how many threads run `total` tile blocks: `threads` at most, and no more than have room for their
        tiles."""
        threads = min(threads, self._most_threads, total)
        if not threads:
            raise limits.no_memory(self._program.arena_size)
        if threads == 1 or self._program.waits:
            return threads
        return 1 if self._program.prints else threads

    def _chunk(self, total: int, threads: int) -> int:
        """Return how many tile blocks a thread takes at a time."""
        if threads == 1 or self._program.waits:
            return 1 if self._program.waits else total
        return max(1, min(LARGEST_CHUNK, total // (threads * CHUNKS_PER_THREAD)))


class _Work:
    """The work of each thread in a launch, the resulting traps, and the seconds per tile block.

    It is reused if nothing has gone wrong.
    """

    __slots__ = ("_shared", "launch", "record", "reports", "seconds")

    def __init__(self, program: NativeProgram, slots: int) -> None:
        self.record = LaunchRecord(slots, program.code)
        self.launch = Launch(program, self.record)
        self.reports: list[TrapReport] = []
        self.seconds = 0.0
        self._shared: _Shared

    @property
    def first(self) -> TrapReport:
        """The trap that counts."""
        return min(self.reports, key=lambda report: report.block)

    def run(self, helpers: int) -> None:
        """Run here and with helpers. Raises the error that ended the launch, unless that is a trap."""
        launch = self.launch
        shared = self._shared = _shared()
        try:
            limits.launch_begins(launch)
            if not shared.ticker.awake:
                shared.ticker.wake()
            if helpers or launch.program.waits:
                Job(shared.pool, self, launch.stop, launch.look).run(helpers)
            else:
                self()
        finally:
            limits.launch_ends(launch)
        if launch.raised is not None:
            raise launch.raised

    def ended_early(self, status: int, arena: Arena) -> None:
        """A launch that a `Launcher` began has ended early with this status. Raises what ended it, but no trap."""
        if status > 0:
            self._trapped(status, arena)
        launch = self.launch
        launch.leave(arena)
        give_back(_shared().arenas.free, arena)
        if launch.raised is not None:
            raise launch.raised

    def __call__(self) -> None:
        launch, free = self.launch, self._shared.arenas.free
        program = launch.program
        arena = taken(free, program.arena_size)
        launch.enter(arena)
        try:
            begin = perf_counter()
            status = program.driver(self.record.address, arena.address)
            spent = perf_counter() - begin
            self.seconds = spent if launch.total == 1 else spent / (arena.count or 1)
            if status > 0:
                self._trapped(status, arena)
        finally:
            launch.leave(arena)
        give_back(free, arena)

    def _trapped(self, status: int, arena: Arena) -> None:
        self.reports.append(report_of(self.launch.program.traps[status - 1], arena))
        self.launch.trapped()


class _WaitingWork(_Work):
    """The work of a launch whose tile blocks may wait for each other."""

    __slots__ = ("_waiting",)

    def run(self, helpers: int) -> None:
        self._waiting = Waiting(self.launch, self.record)
        super().run(helpers)

    def __call__(self) -> None:
        Turns(self._waiting, self._shared.arenas.free, self._trapped).run()


# ---------------------------------------------------------------- tile blocks that wait


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
        if for_ever and not only_one_runs():
            self.changed()  # what another launch does last may not have been seen yet
        elif for_ever and not self.launch.stopped:
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
        elif status == NO_MEMORY:
            self._launch.fail(UnsupportedError("tile blocks that wait: no memory is left for what they keep", "cpu"))
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
