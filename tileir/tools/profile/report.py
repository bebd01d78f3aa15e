"""The report of a profile: time, operations, bytes and flops by line, and a trace of tile blocks for a viewer."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from math import prod
from typing import Any

from tileir.analysis.effects import MemoryAccess, access_of
from tileir.cpu.run.profiling import Peaks
from tileir.ir import types as t
from tileir.ir.attributes import AtomicMode
from tileir.ir.core import Op
from tileir.ir.diagnostics import Coordinates, UnsupportedError
from tileir.ops import atomics, extension, floating, functions, matmul, reduction
from tileir.ops.control import For, Loop
from tileir.ops.module import Entry
from tileir.tools.profile.measure import BlockTime, LaunchMeasurement
from tileir.tools.program_lines import LinePlace, ProgramLines


@dataclass
class ProfileSums:
    """Sums of one launch. `count` is how many operations ran, those in the body of a reduction for each pair of
    scalars; bytes are those of the elements that were accessed; `seconds` those of all threads together, None where
    they could not be taken; `waited` while set aside.
    """

    count: int = 0
    read: int = 0
    written: int = 0
    flops: int = 0
    samples: int = 0
    seconds: float | None = None
    waits: float = 0.0
    waited: float = 0.0

    def add(self, other: ProfileSums) -> None:
        for name in ("count", "read", "written", "flops", "samples", "waits", "waited"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        if other.seconds is not None:
            self.seconds = (self.seconds or 0.0) + other.seconds

    @property
    def bytes(self) -> int:
        return self.read + self.written

    @property
    def intensity(self) -> float | None:
        """Flops for each byte; None where there are none of the one or the other."""
        return self.flops / self.bytes if self.flops and self.bytes else None

    def to_json(self) -> dict[str, Any]:
        found = {name: getattr(self, name) for name in ("count", "read", "written", "flops", "samples", "seconds")}
        return {**found, "waits": self.waits, "waited": self.waited, "intensity": self.intensity}


@dataclass(frozen=True)
class LoopProfile:
    """A loop, or the kernel, with all that is in it."""

    name: str
    place: LinePlace | None
    sums: ProfileSums


@dataclass(frozen=True)
class ProfileReport:
    """The numbers of the profile of a launch on native code.

    Attributes
    ----------
    kernel : str
        The kernel.
    grid : tuple of int
        Tile blocks along each axis.
    threads : int
        Threads that ran them.
    runs : int
        Launches under samples.
    seconds : float
        The median time of a launch without samples.
    peaks : Peaks
        The machine's measured peaks with so many threads, per second.
    notes : list of str
        What could not be measured, and why.
    """

    kernel: str
    grid: Coordinates
    threads: int
    runs: int
    seconds: float
    peaks: Peaks
    ops: list[tuple[Op, ProfileSums]] = field(repr=False)
    lines: ProgramLines = field(repr=False)
    elsewhere: float | None = field(repr=False)
    blocks: list[BlockTime] = field(repr=False)
    notes: list[str] = field(repr=False)

    @cached_property
    def by_line(self) -> dict[LinePlace, ProfileSums]:
        """The sums of each line of the program, and of the innermost Python line of what was made of Python."""
        found: dict[LinePlace, ProfileSums] = {}
        for op, sums in self.ops:
            for place in self._places(op):
                found.setdefault(place, ProfileSums()).add(sums)
        return dict(sorted(found.items(), key=lambda item: (item[0].file, item[0].line)))

    def _places(self, op: Op) -> list[LinePlace]:
        places = self.lines.of(op)
        own = [place for place in places if place.file == self.lines.program.name][:1]
        return own + [place for place in places if place not in own][:1]

    @property
    def files(self) -> list[str]:
        """The files with lines, Python first: what the kernel was written in."""
        names = dict.fromkeys(place.file for place in self.by_line)
        return sorted(names, key=lambda name: name == self.lines.program.name)

    @cached_property
    def loops(self) -> list[LoopProfile]:
        """The kernel, then its loops, each with what is in it."""
        return [_loop(op, self) for op, _ in self.ops if isinstance(op, For | Loop) or self._is_kernel(op)]

    def _is_kernel(self, op: Op) -> bool:
        return isinstance(op, Entry) and op.sym_name == self.kernel

    @cached_property
    def total(self) -> ProfileSums:
        """The sums of everything."""
        return _sum(sums for _, sums in self.ops)

    def flop_share(self, sums: ProfileSums) -> float | None:
        """Return the share of the peak of arithmetic that was reached in the time of `sums`."""
        return self._share(sums.flops, sums.seconds, self.peaks.flops)

    def byte_share(self, sums: ProfileSums) -> float | None:
        """Return the share of the peak of reading memory that was reached; more than 1 is traffic with caches."""
        return self._share(sums.bytes, sums.seconds, self.peaks.bytes)

    def cache_share(self, sums: ProfileSums) -> float | None:
        """Return the share of the peak of reading the first cache that was reached."""
        return self._share(sums.bytes, sums.seconds, self.peaks.cached)

    def _share(self, amount: int, seconds: float | None, peak: float) -> float | None:
        return amount * self.threads / seconds / peak if seconds and amount else None

    def to_json(self) -> dict[str, Any]:
        """Return everything as data for `json.dumps`."""
        return {
            "kernel": self.kernel,
            "grid": list(self.grid),
            "threads": self.threads,
            "runs": self.runs,
            "seconds": self.seconds,
            "elsewhere": self.elsewhere,
            "peaks": asdict(self.peaks),
            "ops": [
                {"name": op.spec.name, "places": [[p.file, p.line] for p in self.lines.of(op)], **sums.to_json()}
                for op, sums in self.ops
            ],
            "lines": [
                {"file": place.file, "line": place.line, **self._line_json(sums)}
                for place, sums in self.by_line.items()
            ],
            "loops": [
                {"name": one.name, "line": one.place and one.place.line, **self._line_json(one.sums)}
                for one in self.loops
            ],
            "notes": self.notes,
        }

    def _line_json(self, sums: ProfileSums) -> dict[str, Any]:
        shares = {"flop_share": self.flop_share, "byte_share": self.byte_share, "cache_share": self.cache_share}
        return {**sums.to_json(), **{name: share(sums) for name, share in shares.items()}}


def counts_of(found: LaunchMeasurement) -> dict[Op, int]:
    """Return how often each operation ran; in the body of a reduction, how often it was applied to scalars."""
    counts: dict[Op, int] = {}
    for op in found.ops:
        counts.setdefault(op, found.counters.executed(op) or 0)
        times = applications(op)
        if times is not None:
            inner = [one for body in op.regions if body is not None for one in body.ops]
            counts.update((one, counts[op] * times) for one in inner)
    return counts


def sums_of(op: Op, count: int, found: LaunchMeasurement) -> ProfileSums:
    sums = ProfileSums(count, flops=count * flops_of(op))
    access = access_of(op)
    if access is not None:
        elements = found.counters.accessed(op)
        amount = bytes_of(op, elements)
        sums.read, sums.written = amount * access.reads, amount * access.writes
        sums.flops += flops_of_update(op, elements)
    if found.samples is not None:
        sums.samples, sums.seconds = found.samples[op], found.seconds_of(op)
    waits = found.waits.get(op)
    if waits is not None:
        sums.waits, sums.waited = waits.count, waits.seconds
    return sums


def bytes_of(op: Op, elements: int) -> int:
    """Return the bytes of so many elements of the memory that an operation accesses."""
    access = MemoryAccess.of(op)
    tile = access.value or access.result
    assert tile is not None, "an access moves a tile"
    return elements * tile.tile.element.memory_bits // 8


def _loop(op: Op, profile: ProfileReport) -> LoopProfile:
    inside = set(op.walk())
    sums = _sum(sums for one, sums in profile.ops if one in inside)
    places = profile.lines.of(op)
    name = f"@{profile.kernel}" if isinstance(op, Entry) else op.spec.name
    if isinstance(op, Entry):
        sums = profile.total
    return LoopProfile(name, places[-1] if places else None, sums)


def _sum(parts: Iterable[ProfileSums]) -> ProfileSums:
    total = ProfileSums()
    for part in parts:
        total.add(part)
    return total


def trace(profile: ProfileReport) -> str:
    """Return the document. Raises UnsupportedError if the launch was not traced."""
    if not profile.blocks:
        raise UnsupportedError("no trace: expected a profile that was asked for one", "cpu")
    process = os.getpid()
    start = min(one.begin for one in profile.blocks)
    events: list[dict[str, Any]] = [_name("process_name", process, 0, f"@{profile.kernel}")]
    for thread in sorted({one.thread for one in profile.blocks}):
        events.append(_name("thread_name", process, thread, f"thread {thread}"))
    for one in sorted(profile.blocks, key=lambda one: one.begin):
        events.append(
            {
                "name": ",".join(map(str, one.block)),
                "cat": "tile block",
                "ph": "X",
                "ts": (one.begin - start) / 1e3,
                "dur": (one.end - one.begin) / 1e3,
                "pid": process,
                "tid": thread_of(one.thread),
            }
        )
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ns"}, separators=(",", ":"))


def thread_of(number: int) -> int:
    """Return the number of a thread in a trace: some viewers do not show thread 0."""
    return number + 1


def _name(what: str, process: int, thread: int, name: str) -> dict[str, Any]:
    tid = thread_of(thread) if what == "thread_name" else 0
    return {"name": what, "ph": "M", "pid": process, "tid": tid, "args": {"name": name}}


# ---------------------------------------------------------------- floating-point operations


ONE: frozenset[type[Op]] = frozenset(
    (
        floating.AddF,
        floating.SubF,
        floating.MulF,
        floating.DivF,
        floating.RemF,
        floating.Sqrt,
        functions.Rsqrt,
        functions.Exp,
        functions.Exp2,
        functions.Log,
        functions.Log2,
        functions.FPowF,
        functions.FPowI,
        functions.Sin,
        functions.Cos,
        functions.Tan,
        functions.Sinh,
        functions.Cosh,
        functions.Tanh,
        functions.Atan2,
        extension.Asin,
    )
)
"""Operations with one for each element of the result."""
NONE: frozenset[type[Op]] = frozenset(
    (
        floating.AbsF,
        floating.NegF,
        floating.Ceil,
        floating.Floor,
        floating.MaxF,
        floating.MinF,
        floating.CmpF,
    )
)
"""Operations on floats that have none."""


def flops_of(op: Op) -> int:
    """Return the number of floating-point operations in one execution; operations in bodies of reductions, scans and
    generators have their own."""
    if type(op) in ONE:
        return op.results[0].tile.count
    if isinstance(op, floating.Fma):
        return 2 * op.result.type.count
    if isinstance(op, matmul.MmaF | matmul.MmaFScaled):
        return 2 * op.result.type.count * op.lhs.type.shape[-1]
    return 0


def flops_of_update(op: Op, elements: int) -> int:
    """Return the number of floating-point operations in an update of `elements` elements of memory."""
    adds = isinstance(op, atomics.AtomicRmw | atomics.AtomicRedView) and op.mode is AtomicMode.ADDF
    return elements if adds else 0


def applications(op: Op) -> int | None:
    """Return how often the body of a reduction, scan or generator is applied to scalars; None for another operation.

    Combining a row takes one application fewer than it has elements.
    """
    if isinstance(op, extension.Generate):
        return op.result.type.count
    if not isinstance(op, reduction.Reduce | reduction.Scan):
        return None
    shape = t.checked_cast(op.sources[0].type, t.TileType).shape
    return prod(shape) - prod(shape[: op.dim] + shape[op.dim + 1 :])
