"""Running a compiled entry over a grid.

Knows: how tile blocks are shared out, when helpers pay, what the functions do that native code calls back, and how a
trap is put into words. Does not know: how code is made (`cpu.program`), arrays (`runtime.native`).
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from time import perf_counter

import numpy as np

from tileir.cpu.arena import Arena, Arenas
from tileir.cpu.emitter import TrapSite
from tileir.cpu.pauses import ABANDON, GO_ON, HANG, HANGS, TURNS
from tileir.cpu.pool import Job, Pool
from tileir.cpu.program import Program
from tileir.cpu.record import Coordinates, Record, block_at
from tileir.ir import types as t
from tileir.ir.core import Op
from tileir.ir.diagnostics import Trap, UnsupportedError
from tileir.ir.loc import Source
from tileir.ir.storage import dtype_of
from tileir.ops.control import Assert

PRINT = ctypes.CFUNCTYPE(None, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p)
PAUSE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)

HostCall = Callable[[Op, list[np.ndarray]], "np.ndarray | None"]
"""Does what the operations of `Program.prints` leave to the host, given their tiles: writes what a `print_tko` prints,
gives the result of an `experimental$extern_elementwise`."""
AssertionText = Callable[[Assert, Coordinates, np.ndarray], str]
"""What a failed `assert` reports, given the tile block and the condition."""

WORTH_SHARING = 40e-6
"""Seconds of work below which waking a helper costs more than it brings."""
CHUNKS_PER_THREAD = 16
LARGEST_CHUNK = 64
LARGEST_GRID = 1 << 62
PATIENCE = 2e-3
"""Seconds without a finished tile block after which tile blocks that wait are joined by another one."""
IMPATIENT = 16
"""Pauses after which a tile block that waits sleeps rather than look again at once."""
LONG_WAIT = 1e-4
HOPELESS = 2.0
"""Seconds without progress after which the most tile blocks that may wait are too few."""
MOST_WAITING = 1024
"""Tile blocks that may wait for each other at a time: each takes a thread."""


@dataclass(frozen=True)
class Settings:
    """How a launch runs. `max_iterations`: of one `loop` in one tile block before it counts as hanging."""

    threads: int
    call_host: HostCall
    assertion_text: AssertionText
    source: Source | None = None
    max_iterations: int | None = None


@cache
def _pool() -> Pool:
    return Pool()


@cache
def _arenas() -> Arenas:
    return Arenas()


class Runner:
    """Runs one program; keeps what launches share. Launches may come from any number of threads at once."""

    def __init__(self, program: Program, slots: int) -> None:
        self._program = program
        self._slots = slots
        self._records: list[Record] = []
        self._seconds = 1.0
        """What a tile block has taken, at the last launch."""

    def run(self, grid: Coordinates, values: list[int], settings: Settings) -> None:
        """Run every tile block. Raises the Trap of the first tile block that traps.

        `values`: the low 8 bytes of each argument, then the address of each global.
        """
        program = self._program
        total = grid[0] * grid[1] * grid[2]
        if total > LARGEST_GRID:
            raise UnsupportedError(f"a grid of more than {LARGEST_GRID} tile blocks", "cpu")
        record = self._records.pop() if self._records else Record(self._slots + 2)
        if program.pauses or program.prints:
            _Attended(program, record, settings).run(grid, values, total)
        elif total == 1 or settings.threads == 1 or total * self._seconds < WORTH_SHARING:
            self._run_here(record, grid, values, total, settings)
        else:
            self._run_shared(record, grid, values, total, settings)
        self._records.append(record)

    def _run_here(self, record: Record, grid: Coordinates, values: list[int], total: int, settings: Settings) -> None:
        record.fill(total, total, grid, (*values, 0, 0))
        work = _Work(self._program, record)
        work()
        self._seconds = work.seconds
        if work.reports:
            work.raise_trap(grid, settings)

    def _run_shared(self, record: Record, grid: Coordinates, values: list[int], total: int, settings: Settings) -> None:
        threads = min(settings.threads, total)
        record.fill(total, _chunk(total, threads), grid, (*values, 0, 0))
        work = _Work(self._program, record)
        Job(_pool(), work, record.stop).run(threads - 1)
        self._seconds = work.seconds
        if work.reports:
            work.raise_trap(grid, settings)


def _chunk(total: int, threads: int) -> int:
    return max(1, min(LARGEST_CHUNK, total // (threads * CHUNKS_PER_THREAD)))


@dataclass(frozen=True)
class _Report:
    """A trap: the number of the tile block, the site, and the tile it tells about."""

    block: int
    site: TrapSite
    evidence: np.ndarray | None


class _Work:
    """What each thread does in a launch, the traps that came of it, and the seconds that a tile block took."""

    __slots__ = ("_driver", "_program", "_record", "reports", "seconds")

    def __init__(self, program: Program, record: Record) -> None:
        self._program = program
        self._driver = program.driver
        self._record = record
        self.reports: list[_Report] = []
        self.seconds = 0.0

    def __call__(self) -> None:
        arenas = _arenas()
        arena = arenas.take(self._program.arena_size)
        begin = perf_counter()
        status = self._driver(self._record.address, arena.address)
        self.seconds = (perf_counter() - begin) / (arena.count or 1)
        if status > 0:
            self.reports.append(_report(self._program, status, arena))
        arenas.give(arena)

    def raise_trap(self, grid: Coordinates, settings: Settings) -> None:
        """Raise the trap of the first tile block that has one, if there is any."""
        first = min(self.reports, key=lambda report: report.block, default=None)
        if first is not None:
            raise _trap(self._program.name, first, grid, settings)


def _report(program: Program, status: int, arena: Arena) -> _Report:
    site = program.traps[status - 1]
    if site.evidence is None:
        return _Report(arena.block, site, None)
    place, type = site.evidence
    dtype = dtype_of(type.element)
    content = arena.content(place, dtype.itemsize * type.count)
    return _Report(arena.block, site, np.frombuffer(content, dtype).reshape(type.shape))


def _trap(kernel: str, report: _Report, grid: Coordinates, settings: Settings) -> Trap:
    site, block = report.site, block_at(report.block, grid)
    message, index = site.message, None
    if isinstance(site.op, Assert):
        type = site.op.condition.type
        condition = np.zeros(type.shape, np.bool_) if report.evidence is None else report.evidence
        message = settings.assertion_text(site.op, block, condition)
        index = tuple(int(at) for at in np.unravel_index(int(np.argmin(condition)), type.shape))
    elif message == HANGS:
        message = f"hang: a tile block ran more than {settings.max_iterations} iterations of 'loop'"
    return Trap(
        message, kernel=kernel, block=block, op=site.op.spec.name, loc=site.op.loc, index=index, source=settings.source
    )


class _Attended:
    """A launch whose native code calls back, to print or to pause. What is raised meanwhile ends the launch."""

    def __init__(self, program: Program, record: Record, settings: Settings) -> None:
        self._program, self._record, self._settings = program, record, settings
        self._raised: BaseException | None = None
        self._lock = threading.Lock()
        self._total = 0
        self._threads = 1
        self._progress = 0
        self._since = 0.0

    def run(self, grid: Coordinates, values: list[int], total: int) -> None:
        program, record, settings = self._program, self._record, self._settings
        printing, pausing = PRINT(self._print), PAUSE(self._pause)
        callbacks = [ctypes.cast(callback, ctypes.c_void_p).value or 0 for callback in (printing, pausing)]
        self._threads = 1 if program.prints and not program.waits else min(settings.threads, total)
        self._total = total
        chunk = 1 if program.waits else _chunk(total, self._threads)
        record.fill(total, chunk, grid, (*values, *callbacks))
        work = _Work(program, record)
        self._job = Job(_pool(), work, record.stop)
        self._job.run(self._threads - 1)
        if self._raised is not None:
            raise self._raised
        work.raise_trap(grid, settings)

    def _print(self, number: int, addresses: ctypes._Pointer[ctypes.c_void_p], block: int) -> None:
        try:
            op = self._program.prints[number]
            types = [value.type for value in op.operand_group(0)]
            tiles = [_array_at(addresses[position], type) for position, type in enumerate(types)]
            with self._lock:
                result = self._settings.call_host(op, tiles)
            if result is not None:
                ctypes.memmove(addresses[len(types)], np.ascontiguousarray(result).ctypes.data, result.nbytes)
        except BaseException as error:
            self._end(error)

    def _pause(self, turns: int) -> int:
        try:
            if self._record.limit < self._total:
                return ABANDON
            limit = self._settings.max_iterations
            if limit is not None and turns >= limit:
                return HANG
            if self._program.waits:
                self._give_way(turns)
            return GO_ON
        except BaseException as error:
            self._end(error)
            return ABANDON

    def _end(self, error: BaseException) -> None:
        self._raised = self._raised or error
        self._record.stop()

    def _give_way(self, turns: int) -> None:
        """Let other threads run; after some time without progress let in other tile blocks."""
        time.sleep(0 if turns < IMPATIENT * TURNS else LONG_WAIT)
        started, now = self._record.started, perf_counter()
        with self._lock:
            if started != self._progress:
                self._progress, self._since = started, now
            if now - self._since < PATIENCE or self._threads >= self._total:
                return
            if self._threads >= MOST_WAITING:
                if now - self._since < HOPELESS:
                    return
                raise UnsupportedError(f"more than {MOST_WAITING} tile blocks that wait for each other", "cpu")
            more = min(self._threads, MOST_WAITING - self._threads, self._total - self._threads)
            self._threads, self._since = self._threads + more, now
        self._job.enlist(more)


def _array_at(address: int, type: t.Type) -> np.ndarray:
    """A copy of the dense tile at `address`. Of i4 the native code keeps the four bits, an array the number."""
    assert isinstance(type, t.TileType)
    dtype = dtype_of(type.element)
    tile = np.frombuffer(ctypes.string_at(address, dtype.itemsize * type.count), dtype).reshape(type.shape)
    return (tile ^ np.int8(8)) - np.int8(8) if type.element is t.I4 else tile
