"""Running a compiled entry over a grid.

Tile blocks are shared out among threads, with helpers where they pay. `cpu.run.launch` ends a launch early.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from functools import cache
from math import inf
from time import perf_counter

from tileir.cpu.emit.record import LaunchRecord, block_at
from tileir.cpu.run.arena import KEPT, Arena, Arenas, give_back, taken
from tileir.cpu.run.launch import Launch, Settings
from tileir.cpu.run.program import NativeProgram
from tileir.cpu.run.threads import Job, Pool, Ticker
from tileir.cpu.run.traps import LaunchMemory, TrapReport, report_of, trap_of
from tileir.cpu.run.waiting import Turns, Waiting
from tileir.host import limits
from tileir.host.address_space import AccessFault
from tileir.host.kernel_warnings import KernelWarning, issue
from tileir.ir.diagnostics import Coordinates, UnsupportedError
from tileir.ops.views import MakeTensorView

try:
    from tileir.cpu.run._launcher import Launcher
except ImportError:  # it is built where there is a C compiler
    Launcher = None  # type: ignore[assignment, misc]

ParameterWords = tuple[bytes, int, int, int, "set[object]"]
"""A parameter for a launcher: ``p``, ``i``, ``f`` or ``x`` for a pointer, an integer, f32 or another number; the slot
of its bounds; its least and greatest integer; the element types that its arrays may have."""
MemoryOf = Callable[[object, "tuple[object, ...]"], "tuple[Coordinates, LaunchMemory]"]
WORTH_SHARING = 40e-6
"""Seconds of work below which waking a helper costs more than it brings."""
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


class Runner:
    """Runs one program; keeps what launches use. Launches may come from any number of threads at once."""

    def __init__(self, program: NativeProgram, slots: int) -> None:
        self._program, self._slots = program, slots
        self._free: list[_Work] = []
        self._make = _WaitingWork if program.waits else _Work
        self._most_threads = limits.physical_memory() // max(1, program.arena_size)
        self._seconds = ctypes.c_double(1.0)
        """Seconds that a tile block took in the last launch."""
        self._worth_sharing = WORTH_SHARING if self._most_threads and not program.waits else 0.0
        """Seconds of work below which the launching thread does it alone, whatever else would have to be asked."""

    def run(self, grid: Coordinates, slots: tuple[int, ...], settings: Settings, memory: LaunchMemory) -> None:
        """Run every tile block. Raises the Trap of the first tile block that traps.

        `slots` are the arguments, the addresses of globals and the bounds of all memory; `memory` says what is wrong
        with a use of it. Whatever it raises, no thread is at work any more.
        """
        x, y, z = grid
        total = x * y * z
        if total > LARGEST_GRID:
            raise UnsupportedError(f"a grid of more than {LARGEST_GRID} tile blocks", "cpu")
        if total * self._seconds.value < self._worth_sharing:
            threads, chunk = 1, total
        else:
            threads = self._threads(total, settings.threads)
            chunk = self._chunk(total, threads)
        work = self._free.pop() if self._free else self._make(self._program, self._slots)
        launch = work.launch
        launch.begin(settings, total)
        work.record.fill(total, chunk, settings.max_iterations, grid, slots)
        try:
            if threads == 1:
                work.run_alone()
            else:
                work.run(threads - 1)
        finally:
            if launch.warnings:
                self._warn(work, grid, memory)
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
            inf if settings.threads == 1 else self._worth_sharing,
            (*types, work.launch, work.launch.own_answer, shared.arenas, shared.ticker, limits.running, ended),
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
            Job(shared.pool, self, launch.stop, launch.look).run(helpers)
        finally:
            limits.launch_ends(launch)
        if launch.raised is not None:
            raise launch.raised

    def run_alone(self) -> None:
        """Run here alone. It repeats `__call__` inline, as calls are the cost of a short launch."""
        launch = self.launch
        shared = self._shared = _shared()
        program, free = launch.program, shared.arenas.free
        arena = free.pop() if free else None
        if arena is None or arena.size < program.arena_size:
            arena = Arena(program.arena_size)
        arena.raised, arena.answer, launch.main = None, launch.own_answer, arena
        try:
            limits.launch_begins(launch)
            if not shared.ticker.awake:
                shared.ticker.wake()
            begin = perf_counter()
            status = program.driver(self.record.address, arena.address)
            self.seconds = (perf_counter() - begin) / launch.total
        finally:
            limits.launch_ends(launch)
            launch.main = None
        if status or arena.raised is not None or not arena.usable:
            self.ended_early(status, arena)
        elif len(free) < KEPT:
            free.append(arena)

    def ended_early(self, status: int, arena: Arena) -> None:
        """A launch without helpers has ended with this status before its time. Raises what ended it, but no trap."""
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

    def run_alone(self) -> None:
        self.run(0)

    def __call__(self) -> None:
        Turns(self._waiting, self._shared.arenas.free, self._trapped).run()
