"""Direct launches of one program, and what they leave to Python.

Knows: the plan of a kernel but for its arguments, how a launch goes on that needs helpers, and what has ended one.
Does not know: arguments (`runtime.direct_rows`), how the machine code is loaded (`cpu.run.direct`).
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tileir.cpu.emit.record import LIMIT, SLOTS, LaunchRecord, block_at, grid_at
from tileir.cpu.run.arena import Arena
from tileir.cpu.run.direct import DirectLauncher, DirectMethod
from tileir.cpu.run.execution import Runner
from tileir.cpu.run.launch import Settings
from tileir.cpu.run.seats import Seat, wait_for
from tileir.cpu.run.traps import FaultyAccess, report_of, trap_of
from tileir.host.access_faults import AccessFault
from tileir.host.planned import Planned

Fault = Callable[[tuple[object, ...], FaultyAccess], AccessFault]
"""From the arguments as they were given, and an access that was stopped, to what is wrong with it."""


_NEVER = 1 << 62
"""Bytes that no arena has."""


@dataclass(frozen=True)
class DirectRows:
    """What a plan says of arguments: `rows` (`cpu.emit.direct_record`) for so many `given`; the `slots` as they are
    before those of the arguments are filled in; whether arguments come `packed` in a tuple; of how many `arrays` no two
    may have memory in common. `kept` are the objects that rows refer to.
    """

    rows: bytes
    given: int
    slots: tuple[int, ...]
    kept: Sequence[object]
    packed: bool = False
    arrays: int = 0


class DirectRuns:
    """Direct launches with these settings, over grids of `extent` tile blocks along an axis at most; `fault` says what
    is wrong with accesses."""

    def __init__(self, launcher: DirectLauncher, runner: Runner, settings: Settings, extent: int, fault: Fault) -> None:
        self._extent = extent
        self._launcher, self._runner, self._settings, self._fault = launcher, runner, settings, fault
        self._alone = runner.runs_alone and settings.timeout is None and settings.progress is None
        """Whether a launch without helpers needs nothing of Python."""

    def method(
        self, holder: Planned, rows: DirectRows, doc: str, otherwise: object = None, target: str | None = None
    ) -> DirectMethod:
        """The method ``launch(grid, *arguments)`` of `holder`; with a `target` it takes this and other keywords.

        Unusual arguments go to `otherwise`, or NotImplemented is given.
        """
        runner, settings = self._runner, self._settings
        record = LaunchRecord(len(rows.slots), runner.program.code)
        record.fill(0, 0, settings.max_iterations, (1, 1, 1), rows.slots)
        size = SLOTS + 8 * len(rows.slots)
        template = ctypes.create_string_buffer(ctypes.string_at(record.address, size), size)
        shared, ended = self._shared, self._ended
        words = {
            "given": rows.given,
            "words": size // 8,
            "template": ctypes.addressof(template),
            "arena": runner.program.arena_size if self._alone else _NEVER,
            "driver": ctypes.cast(runner.program.driver, ctypes.c_void_p).value or 0,
            "seconds": ctypes.addressof(runner.seconds),
            "worth": int.from_bytes(struct.pack("<d", runner.worth_sharing), "little"),
            "threads": settings.threads,
            "otherwise": 0 if otherwise is None else id(otherwise),
            "shared": id(shared),
            "ended": id(ended),
            "target": 0 if target is None else id(target),
            "packed": rows.packed,
            "arrays": rows.arrays,
            "extent": self._extent,
        }
        kept = (*rows.kept, template, runner, shared, ended, otherwise, target)
        return self._launcher.method(holder, words, rows.rows, kept, doc)

    def _shared(self, address: int, given: tuple[object, ...], threads: int) -> None:
        """A launch whose record is at `address`, on so many threads, or on this one where no arena was free."""
        runner = self._runner
        slots = struct.unpack(f"<{runner.slots}Q", ctypes.string_at(address + SLOTS, 8 * runner.slots))
        settings = self._settings if threads == self._settings.threads else replace(self._settings, threads=threads)
        runner.run(grid_at(address), slots, settings, lambda access: self._fault(given, access))
        if self._alone:
            x, y, z = grid_at(address)
            self._launcher.provide(runner.program.arena_size, runner.threads_of(x * y * z, threads) - 1)

    def _ended(self, address: int, given: tuple[object, ...], status: int, seat: Seat) -> None:
        """A launch has ended with this status, after a trap or a call, or its helpers have not. Raises the Trap of the
        first tile block that has one, or what a call raised."""
        launcher, record = self._launcher, ctypes.c_int64.from_address(address + LIMIT)
        helpers = launcher.helpers_of(seat)

        def stop() -> None:
            record.value = 0

        try:
            if _failed(seat.arena):
                stop()
            wait_for(helpers, stop)
            ended = [(seat.arena, status), *((helper.arena, helper.status) for helper in helpers)]
            raised = [_taken(arena) for arena, _ in ended if _failed(arena)]
            if raised:
                raise raised[0]
            self._raise_trap(address, given, [(arena, status) for arena, status in ended if status > 0])
        finally:
            if not any(helper.at_work for helper in helpers):
                seat.set("settled", 1)
                launcher.dismiss(helpers)
                launcher.back(seat)

    def _raise_trap(self, address: int, given: tuple[object, ...], trapped: Sequence[tuple[Arena, int]]) -> None:
        """Raise the trap of the first tile block of those that arenas have, with their statuses."""
        if not trapped:
            return
        program, settings = self._runner.program, self._settings
        reports = [report_of(program.traps[status - 1], arena) for arena, status in trapped]
        report = min(reports, key=lambda report: report.block)
        block = block_at(report.block, grid_at(address), program.columns)
        fault = lambda access: self._fault(given, access)  # noqa: E731
        raise trap_of(report, block, program.name, settings.source, fault, settings.max_iterations)


def _failed(arena: Arena) -> bool:
    """Whether a call on it has raised something."""
    return arena.raised is not None or not arena.usable


def _taken(arena: Arena) -> BaseException:
    """What a call on it has raised, which it has no more then."""
    raised, arena.raised = arena.raised, None
    return raised or KeyboardInterrupt()
