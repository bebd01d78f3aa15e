"""Limits that end a kernel that runs too long or wants too much, in the same words on every target."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache

from tileir.analysis.effects import accesses_of
from tileir.ir.core import Op
from tileir.ir.diagnostics import Coordinates, LaunchTimeout, Note, Trap, UnsupportedError
from tileir.ir.loc import Source
from tileir.ops.control import Loop

MAX_ITERATIONS = 1 << 30
"""Iterations of `for` and `loop` that one tile block may run, if a launch does not say another number."""
GRACE = 1.0
"""Seconds without any change after which tile blocks that all wait count as waiting for ever."""
MAX_STORAGE = 1 << 30
"""Bytes of `alloca` that one launch may hold at a time, and the largest alignment of one."""
MAX_GLOBALS = 1 << 32
"""Bytes that the globals of a module may take."""
_SHOWN = 3


def no_storage(size: int, alignment: int) -> str:
    """Return the message of an `alloca` that asks for too much."""
    return f"cannot allocate {size} bytes aligned to {alignment}: the limit of a launch is {MAX_STORAGE}"


def no_memory(size: int, target: str = "cpu") -> UnsupportedError:
    """Return the error of a kernel whose tiles do not fit the memory there is."""
    most = f"this machine has {physical_memory()} bytes of memory"
    return UnsupportedError(f"a kernel whose tiles take {size} bytes at a time: {most}", target)


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def physical_memory() -> int:
    """Return bytes of the memory of this machine; where the system does not tell, more than there can be."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 1 << 62


def hang_text(max_iterations: int) -> str:
    """Return the message of a tile block that ran its loops too often."""
    return f"hang: a tile block ran more than {max_iterations} iterations of its loops (max_iterations says how many)"


def timed_out(kernel: str, seconds: float, source: Source | None) -> LaunchTimeout:
    """Return the error of a launch that took longer than it was given."""
    return LaunchTimeout(f"the launch took more than {seconds:g} s", kernel=kernel, source=source)


def weak_waiting(loop: Op) -> tuple[Note, ...]:
    """Return a note for each weak load by which a loop that never ended may have waited."""
    accesses = list(accesses_of(loop)) if isinstance(loop, Loop) else []
    if any(access.is_strong for access in accesses):
        return ()
    what = "is weak: it need not see what another tile block writes, so to wait by it is undefined"
    hint = "an ordering of relaxed or acquire makes it see that"
    return tuple(Note(f"'{access.op.spec.name}' {what}; {hint}", access.op.loc) for access in accesses if access.reads)


def deadlock(kernel: str, waiting: Sequence[tuple[Coordinates, Op]], missing: str, source: Source | None) -> Trap:
    """Return the trap of tile blocks that all wait, each in a loop; `missing` adds to the message."""
    block, first = waiting[0]
    message = _message(waiting, missing)
    notes = [note for loop in dict.fromkeys(loop for _, loop in waiting) for note in _notes(loop, waiting)]
    return Trap(
        message, kernel=kernel, block=block, op=first.spec.name, loc=first.loc, source=source, notes=tuple(notes)
    )


def _message(waiting: Sequence[tuple[Coordinates, Op]], missing: str) -> str:
    if not any(access.reads for _, loop in waiting for access in accesses_of(loop)):
        return f"hang: nothing changes from one iteration to the next{missing}"
    count = len(waiting)
    blocks = "the only tile block that runs waits" if count == 1 else f"all {count} tile blocks that run wait"
    return f"deadlock: {blocks}, and nothing changes{missing}"


def _notes(loop: Op, waiting: Sequence[tuple[Coordinates, Op]]) -> list[Note]:
    """Return notes that name the tile blocks waiting in a loop, and the operations they wait by."""
    blocks = [block for block, one in waiting if one is loop]
    more = f" and {len(blocks) - _SHOWN} more" if len(blocks) > _SHOWN else ""
    named = ", ".join(map(str, blocks[:_SHOWN]))
    reading = [access.op for access in accesses_of(loop) if access.reads and access.is_strong]
    who = f"tile block{'' if len(blocks) == 1 else 's'} {named}{more}"
    found = [Note(f"{who} wait{'s' if len(blocks) == 1 else ''} by this '{op.spec.name}'", op.loc) for op in reading]
    return [*found, *weak_waiting(loop)]


# ---------------------------------------------------------------- live launches


running: set[object] = set()
"""The launches that run in this process, on whatever target of it."""
launch_begins, launch_ends = running.add, running.discard
"""Launches are told apart by identity, not by their contents."""


def live_launches() -> list[object]:
    """Return the launches that run in this process, on whatever target of it."""
    return list(running)


def only_one_runs() -> bool:
    """Return whether exactly one launch runs, so that no other can help it on."""
    return len(running) == 1


if hasattr(os, "register_at_fork"):
    # A child has none of the threads that its parent's launches run on.
    os.register_at_fork(after_in_child=running.clear)
