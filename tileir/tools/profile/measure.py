"""Measure a launch: counted once, then run again and again under samples; its arrays end as those of one launch.

Two versions of the code are made of the kernel: one counts what it runs, the other is the usual code with the lines of
its instructions. So counting does not slow down the measured code.
"""

from __future__ import annotations

import ctypes
import statistics
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from math import prod
from time import perf_counter, perf_counter_ns

import numpy as np

from tileir.cpu.emit.driver import STAMP
from tileir.cpu.emit.record import BLOCK, LINE, SET_ASIDE, WAITING, block_at
from tileir.cpu.llvm.metadata import CodePlace
from tileir.cpu.llvm.object_files import NoLines
from tileir.cpu.lowering.functions import Instruments
from tileir.cpu.lowering.state import Counters
from tileir.cpu.run.profiling import PERIOD_NS, Histogram, Sampler, require_samples
from tileir.cpu.run.program import NativeProgram
from tileir.host.printing import ignored
from tileir.ir.core import Op
from tileir.ir.diagnostics import Coordinates, UnsupportedError
from tileir.runtime.arguments import Argument
from tileir.runtime.grid import Grid
from tileir.runtime.memory import give_memory
from tileir.runtime.module import Kernel
from tileir.runtime.native import NativeLaunches, program_of
from tileir.runtime.options import LaunchOptions
from tileir.sanitize.memory import WatchedMemory


@dataclass(frozen=True)
class NativeCall:
    """A stay of a thread in native code, by its arena, in nanoseconds; `resumed` is the tile block it went on with."""

    thread: int
    arena: int
    begin: int
    end: int
    resumed: int | None = None


@dataclass
class Watched:
    """The observations since the last `clear`."""

    calls: list[NativeCall] = field(default_factory=list)
    waits: list[tuple[int, int]] = field(default_factory=list)
    """For each time that a tile block was set aside: the number of the loop, and nanoseconds until it went on."""

    def clear(self) -> None:
        self.calls.clear()
        self.waits.clear()

    @property
    def nanoseconds(self) -> int:
        """Return the time in native code of all threads together, including entry and exit."""
        return sum(call.end - call.begin for call in self.calls)


class Watcher:
    """Stands around the native functions of a program."""

    def __init__(self, program: NativeProgram) -> None:
        self.seen = Watched()
        self._sampler: Sampler | None = None
        self._aside: dict[int, tuple[int, int]] = {}
        """The loop in which an arena's tile block waits, and since when."""
        self._driver = program.driver
        program.driver = self._run  # type: ignore[assignment]
        if program.waiting:
            self._resume = program.resume
            program.resume = self._go_on  # type: ignore[assignment]

    @contextmanager
    def sampling(self, sampler: Sampler | None) -> Iterator[None]:
        """Sample native code inside the block."""
        with nullcontext() if sampler is None else sampler.installed():
            self._sampler = sampler
            try:
                yield
            finally:
                self._sampler = None
                self._aside.clear()

    def _run(self, record: int, arena: int) -> int:
        self._begin()
        begin = perf_counter_ns()
        status: int = self._driver(record, arena)
        end = perf_counter_ns()
        self._note(NativeCall(threading.get_ident(), arena, begin, end), status)
        return status

    def _go_on(self, record: int, arena: int, handle: int) -> int:
        block = _word(arena + BLOCK)
        loop, since = self._aside.pop(arena, (0, 0))
        begin = perf_counter_ns()
        status: int = self._resume(record, arena, handle)
        end = perf_counter_ns()
        if since:
            self.seen.waits.append((loop, begin - since))
        self._note(NativeCall(threading.get_ident(), arena, begin, end, block), status)
        return status

    def _begin(self) -> None:
        if self._sampler is not None:
            self._sampler.begin()

    def _note(self, call: NativeCall, status: int) -> None:
        self.seen.calls.append(call)
        if status == SET_ASIDE:
            self._aside[call.arena] = _word(call.arena + WAITING), call.end


def _word(address: int) -> int:
    return ctypes.c_int64.from_address(address).value


MOST_TRACED = 1 << 22
"""Tile blocks of a launch whose times are kept."""
CLOCKED = 9
"""Launches that are timed without samples."""
_FILE = "operations"
"""Lines of the code under samples are numbers of operations, from one."""


@dataclass(frozen=True)
class BlockTime:
    """When a tile block ran, in nanoseconds of one clock, and on which thread (from 0)."""

    block: Coordinates
    thread: int
    begin: int
    end: int


@dataclass
class LaunchMeasurement:
    """The result of a measurement. `seconds` is the median time of a launch without samples; `samples` are those of
    `runs` launches, by operation, each of `PERIOD_NS`; None where none could be taken.
    """

    ops: list[Op]
    counters: Counters
    threads: int
    runs: int = 0
    seconds: float = 0.0
    samples: dict[Op, int] | None = None
    thread_seconds: float = 0.0
    """Seconds of one launch in native code, of all threads together, with the way into it and back."""
    waits: dict[Op, OpWaits] = field(default_factory=dict)
    """Waits by loop."""
    blocks: list[BlockTime] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def seconds_of(self, op: Op) -> float | None:
        """Return the seconds of one launch in an operation, of all threads together."""
        return None if self.samples is None else self.samples[op] * PERIOD_NS / 1e9 / self.runs

    @property
    def seconds_elsewhere(self) -> float | None:
        """Seconds of one launch outside of all operations."""
        if self.samples is None:
            return None
        return max(0.0, self.thread_seconds - sum(self.samples.values()) * PERIOD_NS / 1e9 / self.runs)


@dataclass(frozen=True)
class OpWaits:
    """The number of times that tile blocks were set aside in a loop, and the seconds they waited, per launch on
    average."""

    count: float
    seconds: float


class ProfiledKernel:
    """A kernel in the two versions."""

    def __init__(self, kernel: Kernel) -> None:
        self.ops = [op for item in kernel.module.items for op in item.walk()]
        number = {op: position for position, op in enumerate(self.ops, 1)}
        self.counters = Counters(self.ops)
        counting = program_of(kernel, instruments=Instruments(counters=self.counters))
        self.counting = NativeLaunches(kernel, counting)
        self.stamps = ctypes.c_int64()
        place = ctypes.addressof(self.stamps)
        instruments = Instruments(lambda op: CodePlace(_FILE, number[op]), _FILE, stamps=place)
        self.timed_program = program_of(kernel, instruments=instruments)
        self.watcher = Watcher(self.timed_program)
        self.timed = NativeLaunches(kernel, self.timed_program)


def measured_launch(
    kernel: Kernel,
    grid: Grid,
    arguments: Sequence[Argument],
    options: LaunchOptions,
    seconds: float,
    traced: bool,
    keep: bool = False,
) -> LaunchMeasurement:
    """Measure a launch for about so many seconds; `keep`: put memory back at the end, and print nothing.

    Raises Trap, UnsupportedError.
    """
    if traced and prod(grid) > MOST_TRACED:
        raise UnsupportedError(f"a trace of more than {MOST_TRACED} tile blocks", "cpu")
    profiled = kernel.memo("profile", lambda: ProfiledKernel(kernel))
    first: LaunchOptions = {**options, "output": ignored} if keep else options
    measuring = _Measuring(profiled, kernel, grid, arguments, first)
    try:
        return measuring.measure(seconds, traced)
    finally:
        if keep:
            measuring.put_back()


class _Measuring:
    """The runs of one launch."""

    def __init__(
        self,
        profiled: ProfiledKernel,
        kernel: Kernel,
        grid: Grid,
        arguments: Sequence[Argument],
        options: LaunchOptions,
    ) -> None:
        self._profiled, self._grid, self._arguments = profiled, grid, arguments
        self._settings = profiled.timed.settings({**options, "output": ignored})
        self._first = profiled.counting.settings(options)
        memory = WatchedMemory((), kernel.module.globals.addresses)
        give_memory(memory, arguments, kernel.module.globals)
        self._memory = memory.writable_bytes()
        self._before = [one.copy() for one in self._memory]
        self._found = LaunchMeasurement(profiled.ops, profiled.counters, self._settings.threads)

    def measure(self, seconds: float, traced: bool) -> LaunchMeasurement:
        profiled, found = self._profiled, self._found
        profiled.counters.clear()
        profiled.counting.runs(self._first)(self._grid, self._arguments)
        self._again()
        self._clock(seconds)
        histogram, sampler = self._sampler()
        with profiled.watcher.sampling(sampler):
            self._repeat(seconds)
        if histogram is not None:
            self._attribute(histogram)
        if traced:
            self._trace()
        return found

    def _again(self) -> float:
        """Run once more, from the memory of the beginning; gives the seconds that took."""
        self.put_back()
        begin = perf_counter()
        self._profiled.timed.runs(self._settings)(self._grid, self._arguments)
        return perf_counter() - begin

    def put_back(self) -> None:
        """Give memory the contents of the beginning."""
        for one, content in zip(self._memory, self._before):
            one[...] = content

    def _sampler(self) -> tuple[Histogram | None, Sampler | None]:
        program = self._profiled.timed_program
        try:
            require_samples()
            histogram = Histogram(program.map.size)
            return histogram, Sampler(program.base, histogram)
        except UnsupportedError as error:
            self._found.notes.append(error.what)
        except NoLines as error:
            self._found.notes.append(f"time per line: {error}")
        return None, None

    def _clock(self, seconds: float) -> None:
        """Measure the time of a launch without samples: the median of a few."""
        times = [self._again()]
        while len(times) < CLOCKED and sum(times) < seconds / 4:
            times.append(self._again())
        self._found.seconds = statistics.median(times)

    def _repeat(self, seconds: float) -> None:
        """Repeat the launch as often as fits into the time; copying memory back takes some of it."""
        seen, begin = self._profiled.watcher.seen, perf_counter()
        times: list[float] = []
        seen.clear()
        while not times or (sum(times) < seconds and perf_counter() - begin < 4 * seconds):
            times.append(self._again())
        found, loops = self._found, self._profiled.timed_program.waiting
        found.runs, found.thread_seconds = len(times), seen.nanoseconds / 1e9 / len(times)
        for loop in range(len(loops)):
            waits = [waited for number, waited in seen.waits if number == loop]
            if waits:
                found.waits[loops[loop]] = OpWaits(len(waits) / len(times), sum(waits) / 1e9 / len(times))

    def _attribute(self, histogram: Histogram) -> None:
        """Attribute samples of instructions to the operations that these come from."""
        found, code = self._found, self._profiled.timed_program.map
        samples = dict.fromkeys(found.ops, 0)
        counts = histogram.numbers
        for offset in np.flatnonzero(counts[:-1]).tolist():
            place = code.at(offset)
            if place is not None and place.line:
                samples[found.ops[place.line - 1]] += int(counts[offset])
        found.samples = samples

    def _trace(self) -> None:
        """Run once more, with the times of tile blocks kept."""
        table = np.zeros((prod(self._grid), STAMP // 8), np.int64)
        seen = self._profiled.watcher.seen
        seen.clear()
        self._profiled.stamps.value = table.ctypes.data
        try:
            self._again()
        finally:
            self._profiled.stamps.value = 0
        threads = {thread: number for number, thread in enumerate(dict.fromkeys(one.thread for one in seen.calls))}
        lines = {call.arena: threads[call.thread] for call in seen.calls}
        for number, (begin, end, space) in enumerate(table.tolist()):
            if begin:
                thread = lines.get(space - LINE, 0)
                self._found.blocks.append(BlockTime(block_at(number, self._grid), thread, begin, end))
        for call in seen.calls:
            if call.resumed is not None:
                block = block_at(call.resumed, self._grid)
                self._found.blocks.append(BlockTime(block, threads[call.thread], call.begin, call.end))
