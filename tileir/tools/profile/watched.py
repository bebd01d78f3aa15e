"""Native code that is watched while it runs: samples, when threads were in it, and how long tile blocks waited.

Knows: what happens around the calls of native code. Does not know: what its instructions belong to.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from time import perf_counter_ns

from tileir.cpu.emit.record import BLOCK, SET_ASIDE, WAITING
from tileir.cpu.run.profiling import Sampler
from tileir.cpu.run.program import InstrumentedProgram


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
    """What was seen since the last `clear`."""

    calls: list[NativeCall] = field(default_factory=list)
    waits: list[tuple[int, int]] = field(default_factory=list)
    """For each time that a tile block was set aside: the number of the loop, and nanoseconds until it went on."""

    def clear(self) -> None:
        self.calls.clear()
        self.waits.clear()

    @property
    def nanoseconds(self) -> int:
        """In native code, of all threads together, with the way into it and back."""
        return sum(call.end - call.begin for call in self.calls)


class Watcher:
    """Stands around the native functions of a program."""

    def __init__(self, program: InstrumentedProgram) -> None:
        self.seen = Watched()
        self._sampler: Sampler | None = None
        self._aside: dict[int, tuple[int, int]] = {}
        """By arena: the loop in which its tile block waits, and since when."""
        self._driver = program.driver
        program.driver = self._run  # type: ignore[assignment]
        if program.waiting:
            self._resume = program.resume
            program.resume = self._go_on  # type: ignore[assignment]

    @contextmanager
    def sampling(self, sampler: Sampler | None) -> Iterator[None]:
        """While inside, native code is sampled."""
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
