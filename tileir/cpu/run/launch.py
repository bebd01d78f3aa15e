"""A launch in progress: the state that its threads share, and how it ends early.

Calls from native code handle signals, the time limit and operations of the host, ask for code that is rarely needed,
and tell every thread to stop.

The thread that launched is called every now and then, as only there Python handles signals, and an interrupt can end
the launch. Every thread is called when the launch is to end, and after a trap, when later tile blocks need not go on.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from dataclasses import dataclass
from threading import get_ident
from time import perf_counter

import numpy as np

from tileir.cpu.emit.record import ABANDON, GO_ON, SAFEPOINT, SINGLE, WARNING, LaunchRecord
from tileir.cpu.run.arena import Arena
from tileir.cpu.run.program import NativeProgram
from tileir.host import limits
from tileir.ir import types as t
from tileir.ir.core import Op
from tileir.ir.loc import Source
from tileir.ir.storage import dtype_of
from tileir.ops.views import MakeTensorView

HostCall = Callable[[Op, list[np.ndarray]], "np.ndarray | None"]
"""Does what the operations of `NativeProgram.prints` leave to the host, given their tiles: writes what a `print_tko`
prints, gives the result of an `experimental$extern_elementwise`."""
Progress = Callable[[int, int], object]
"""Is told now and then how many tile blocks are done, of how many."""


@dataclass(frozen=True)
class Settings:
    """The settings of a launch: `max_iterations` of a tile block in its loops, `timeout` in seconds, if there is
    one."""

    threads: int
    call_host: HostCall
    max_iterations: int
    source: Source | None = None
    timeout: float | None = None
    progress: Progress | None = None


class Launch:
    """The state that the threads of a launch share; reused by later launches until one `raised` an error.

    `total` is the number of its tile blocks.
    """

    __slots__ = (
        "_deadline",
        "_done",
        "_lock",
        "_others",
        "_record",
        "_stopped",
        "_thread",
        "aside",
        "main",
        "program",
        "raised",
        "settings",
        "total",
        "warnings",
    )

    settings: Settings
    total: int
    _thread: int
    _deadline: float | None
    _done: int
    aside: int
    """Number of tile blocks that are set aside, or are running and may be."""

    def __init__(self, program: NativeProgram, record: LaunchRecord) -> None:
        self.program = program
        self._record = record
        self._others: dict[int, Arena] = {}
        """The arenas of helpers."""
        self.main: Arena | None = None
        """The arena of the launching thread, while it runs native code."""
        self._lock = threading.Lock()
        self.raised: BaseException | None = None
        self._stopped = False
        self.warnings: dict[Op, tuple[int, str, tuple[int, ...]]] = {}
        """The warning of each operation that has one: the number of the tile block that gave it, the message, and of a
        view that claims too much the words of `cpu.memory.checks.check_claim`."""

    def begin(self, settings: Settings, total: int) -> None:
        """Begin the launch on this thread."""
        self.settings, self.total, self._thread = settings, total, get_ident()
        self._done = self.aside = 0
        if self.warnings:
            self.warnings = {}
        self._deadline = None if settings.timeout is None else perf_counter() + settings.timeout

    # ------------------------------------------------------------ threads

    def enter(self, arena: Arena) -> None:
        """Run native code on `arena` from now on, on this thread."""
        arena.raised, arena.answer = None, self.answer
        self.goes_on(arena)
        if self._stopped:
            arena.call_soon()

    def goes_on(self, arena: Arena) -> None:
        """Continue native code on `arena`, on this thread."""
        if get_ident() == self._thread:
            self.main = arena
        else:
            self._others[id(arena)] = arena

    def leave(self, arena: Arena) -> None:
        """Release `arena` on this thread; the error that a call on it ended with ends the launch."""
        if self.main is arena:
            self.main = None
        else:
            self._others.pop(id(arena), None)
        if arena.raised is not None or not arena.usable:
            self.fail(arena.raised or KeyboardInterrupt())

    # ------------------------------------------------------------ the end

    def fail(self, error: BaseException) -> None:
        """End the launch with an error; the first one counts."""
        if self.raised is None:
            self.raised = error
        self.stop()

    def stop(self) -> None:
        """Have every thread leave off."""
        self._stopped = True
        self._record.stop()
        self.trapped()

    def trapped(self) -> None:
        """Have every thread look whether it still needs to go on."""
        for arena in list(self._others.values()):
            arena.call_soon()
        self.tick()

    # ------------------------------------------------------------ calls

    def tick(self) -> None:
        """Have the launching thread called."""
        arena = self.main
        if arena is not None:
            arena.call_soon()

    def look(self) -> None:
        """Check the time limit, from the launching thread at intervals. Raises LaunchTimeout; Python handles signals
        meanwhile."""
        if self._deadline is not None and perf_counter() > self._deadline:
            raise limits.timed_out(self.program.name, self.settings.timeout or 0.0, self.settings.source)
        if self.settings.progress is not None:
            self.settings.progress(self.done, self.total)

    @property
    def stopped(self) -> bool:
        """True if no thread is to go on."""
        return self._stopped

    @property
    def cut_short(self) -> bool:
        """True if some tile blocks will not run, because the launch was stopped or one trapped."""
        return self._record.limit < self.total

    @property
    def all_begun(self) -> bool:
        return self._record.started >= self.total

    @property
    def begun(self) -> int:
        return min(self._record.started, self.total)

    @property
    def done(self) -> int:
        """Return how many tile blocks have ended, up to those that still run."""
        self._done = max(self._done, self.begun - self.aside - self._left())
        return self._done

    def _left(self) -> int:
        """Return how many tile blocks have been handed out to threads but not run yet."""
        if self.program.waits:
            return 0
        chunk = min(self._record.chunk, self.total)
        main = [] if self.main is None else [self.main]
        return sum(chunk - arena.block % chunk for arena in [*list(self._others.values()), *main])

    def answer(self, arena: Arena, number: int) -> int:
        """Answer a call of native code, on any arena of the launch."""
        if number <= WARNING:
            self._note(WARNING - number, arena)
            return ABANDON if self._stopped else GO_ON
        if number == SINGLE:
            self._record.use(self.program.single)
            return ABANDON if self._stopped else GO_ON
        if number != SAFEPOINT:
            self._carry_out(arena, number)
            return ABANDON if self._stopped else GO_ON
        if arena is self.main:
            arena.called()
            self.look()
        elif not self._stopped:
            arena.called()
        return ABANDON if self._record.limit <= arena.block else GO_ON

    def _note(self, number: int, arena: Arena) -> None:
        """Keep the warning if no tile block before this one has given one for the operation."""
        (op, message), block = self.program.warnings[number], arena.block
        claim = tuple(arena.handed(4)) if isinstance(op, MakeTensorView) else ()
        with self._lock:
            if op not in self.warnings or block < self.warnings[op][0]:
                self.warnings[op] = block, message, claim

    def _carry_out(self, arena: Arena, number: int) -> None:
        """Run an operation that is left to the host, one at a time."""
        op = self.program.prints[number]
        types = [value.tile for value in op.operand_group(0)]
        tiles = [_array_at(place, type) for place, type in zip(arena.handed(len(types)), types)]
        with self._lock:
            result = self.settings.call_host(op, tiles)
        if result is not None:
            *_, place = arena.handed(len(types) + 1)
            ctypes.memmove(place, np.ascontiguousarray(result).ctypes.data, result.nbytes)


def _array_at(address: int, type: t.TileType) -> np.ndarray:
    """Return a copy of the dense tile at `address`. Of i4 the native code keeps the four bits, an array the number."""
    dtype = dtype_of(type.element)
    tile = np.frombuffer(ctypes.string_at(address, dtype.itemsize * type.count), dtype).reshape(type.shape)
    return (tile ^ np.int8(8)) - np.int8(8) if type.element is t.I4 else tile
