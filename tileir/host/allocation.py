"""One piece of memory that a kernel may use: a parameter's array, a global, an `alloca`.

It knows its addresses, its bytes and who may use them, and can be seen as a flat array of a dtype.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

import numpy as np

from tileir.ir.diagnostics import Coordinates


@dataclass(frozen=True)
class Runs:
    """Byte runs of equal `length`, repeated along `extents` with positive `strides`, from byte `start` on."""

    start: int
    length: int
    extents: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()

    @property
    def end(self) -> int:
        """Return the end, one past the last byte."""
        return self.start + self.length + sum((n - 1) * step for n, step in zip(self.extents, self.strides))

    @property
    def dense(self) -> bool:
        return not self.extents

    def shifted(self, distance: int) -> Runs:
        return Runs(self.start + distance, self.length, self.extents, self.strides)

    def nested(self) -> list[Runs]:
        """Return the same bytes as runs in which each stride, from the shortest on, leads past everything repeated
        along it.

        Dimensions for which that does not hold are written out.
        """
        extents, strides, reach, starts = [], [], self.length, [self.start]
        for n, step in zip(self.extents, self.strides):
            if step >= reach:
                extents.append(n)
                strides.append(step)
                reach += step * (n - 1)
            else:
                starts = [start + step * i for start in starts for i in range(n)]
        return [Runs(start, self.length, tuple(extents), tuple(strides)) for start in starts]


def runs_of(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> tuple[int, Runs]:
    """Return the runs of an array, and the byte offset of its first element from its lowest byte.

    Strides count bytes and may be negative or zero. An array without elements has one run of length 0.
    """
    if 0 in shape:
        return 0, Runs(0, 0)
    origin = sum((n - 1) * -step for n, step in zip(shape, strides) if step < 0)
    length = itemsize
    outer: list[tuple[int, int]] = []
    for step, n in sorted((abs(step), n) for n, step in zip(shape, strides) if n > 1):
        times, within = divmod(step, outer[-1][1]) if outer else (0, 0)
        if not outer and step <= length:
            length += step * (n - 1)
        elif outer and not within and times <= outer[-1][0]:
            outer[-1] = outer[-1][0] + times * (n - 1), outer[-1][1]
        else:
            outer.append((n, step))
    return origin, Runs(0, length, tuple(n for n, _ in outer), tuple(step for _, step in outer))


class Coverage:
    """Answers whether byte ranges lie inside any of `runs`.

    Bytes are grouped in granules, the greatest unit in which every run starts and ends; ``_before[i]`` counts the
    covered granules before granule i, so that a range is covered if the count grows by its whole length.
    """

    def __init__(self, runs: Sequence[Runs]) -> None:
        self.size = max((run.end for run in runs), default=0)
        self.granule = gcd(*(number for run in runs for number in (run.start, run.length, *run.strides)))
        covered = np.zeros(-(-self.size // self.granule), np.bool_)
        for run in runs:
            self._mark(covered, run)
        self._before = np.zeros(len(covered) + 1, np.int64 if len(covered) >> 31 else np.int32)
        np.cumsum(covered, out=self._before[1:])

    def _mark(self, covered: np.ndarray, run: Runs) -> None:
        unit = self.granule
        shape = (*run.extents, run.length // unit)
        strides = (*(step // unit for step in run.strides), 1)
        np.ndarray(shape, np.bool_, covered, run.start // unit, strides)[...] = True

    def covers(self, offsets: np.ndarray, length: int) -> np.ndarray:
        """Return, for each offset (int64, inside the extent), whether `length` bytes from it are all covered."""
        first = offsets // self.granule
        last = (offsets + (length - 1)) // self.granule
        counted: np.ndarray = self._before[last + 1] - self._before[first] == last + 1 - first
        return counted


# ---------------------------------------------------------------- allocations


class _Bytes:
    """Raw memory as NumPy accepts it."""

    __slots__ = ("__array_interface__",)

    def __init__(self, address: int, size: int, writable: bool) -> None:
        self.__array_interface__ = {
            "data": (address, not writable),
            "shape": (size,),
            "typestr": "|u1",
            "version": 3,
        }


class Allocation:
    """Bytes `base` to `end` of real memory.

    ``origin`` is the address of element 0, from which byte offsets in messages count (not `base` where a stride is
    negative). ``runs`` are the bytes that belong to it, ``written_runs`` those that may be written. ``owner`` is the
    only tile block that may use it, or None. ``live`` is False once an `alloca` is freed. ``keep`` is whatever must
    stay alive as long as the memory is used. ``parts`` are the arrays that share this memory, usually just this one.
    """

    __slots__ = (
        "_bytes",
        "_coverage",
        "_typed",
        "base",
        "end",
        "keep",
        "live",
        "name",
        "origin",
        "owner",
        "parts",
        "runs",
        "writable",
        "written_runs",
    )

    def __init__(
        self,
        name: str,
        base: int,
        runs: Sequence[Runs],
        *,
        origin: int | None = None,
        writable: bool = True,
        owner: Coordinates | None = None,
        keep: object = None,
    ) -> None:
        self.name = name
        self.base = base
        self.end = base + max(run.end for run in runs)
        self.origin = base if origin is None else origin
        self.runs = runs
        self.writable = writable
        self.written_runs = runs if writable else ()
        self.owner = owner
        self.keep = keep
        self.parts: tuple[Allocation, ...] = (self,)
        self.live = True
        self._bytes: np.ndarray | None = None
        self._coverage: dict[bool, Coverage] = {}
        self._typed: dict[np.dtype, tuple[np.ndarray, int]] = {}

    @property
    def size(self) -> int:
        """Bytes from the first to the last, gaps included."""
        return self.end - self.base

    @property
    def dense(self) -> bool:
        """True if every byte between the first and the last belongs to it."""
        return len(self.runs) == 1 and self.runs[0].dense

    def open(self, write: bool) -> bool:
        """Return whether every byte between the first and the last may be read, or written."""
        return self.dense and (not write or self.written_runs is self.runs)

    @property
    def bytes(self) -> np.ndarray:
        """The memory as ``uint8``, from `base` to `end`, in place."""
        if self._bytes is None:
            self._bytes = np.asarray(_Bytes(self.base, self.size, self.writable))
        return self._bytes

    def typed(self, dtype: np.dtype) -> tuple[np.ndarray, int]:
        """Return the memory as a flat array of `dtype`, and the address of its first element (a multiple of the item
        size)."""
        found = self._typed.get(dtype)
        if found is None:
            skip = -self.base % dtype.itemsize
            count = max(0, self.size - skip) // dtype.itemsize
            flat = self.bytes[skip : skip + count * dtype.itemsize].view(dtype)
            found = self._typed[dtype] = (flat, self.base + skip)
        return found

    def usable_by(self, block: Coordinates | None, write: bool) -> bool:
        """Return whether tile block `block` may read (or write) it now."""
        return self.live and (self.writable or not write) and (self.owner is None or self.owner == block)

    def covers(self, offsets: np.ndarray, length: int, write: bool = False) -> np.ndarray:
        """Return, for each byte offset from `base` (int64, inside), whether `length` bytes from it may be read, or
        written."""
        if self.open(write):
            return offsets + length <= self.size
        coverage = self._coverage.get(write)
        if coverage is None:
            coverage = self._coverage[write] = Coverage(self.written_runs if write else self.runs)
        inside: np.ndarray = offsets + length <= coverage.size
        inside[inside] = coverage.covers(offsets[inside], length)
        return inside

    def overlaps(self, other: Allocation) -> bool:
        return self.base < other.end and other.base < self.end

    def distance(self, address: int) -> int:
        """Return the number of bytes from `address` to the first or last byte; 0 in between."""
        return max(self.base - address, address - self.end + 1, 0)


def merged(allocations: Sequence[Allocation]) -> Allocation:
    """Return one allocation for arrays that share memory; it may be used wherever one of them may."""
    parts = tuple(part for allocation in allocations for part in allocation.parts)
    base = min(part.base for part in parts)
    runs = [run.shifted(part.base - base) for part in parts for run in part.runs]
    if all(run.dense for run in runs):
        runs = [Runs(0, max(run.end for run in runs))]
    whole = Allocation(parts[0].name, base, runs, writable=any(part.writable for part in parts))
    if not all(part.writable for part in parts):
        whole.written_runs = [run.shifted(part.base - base) for part in parts for run in part.written_runs]
    whole.parts = parts
    return whole


def box_covered(
    allocation: Allocation, offset: int, shape: Sequence[int], strides: Sequence[int], size: int, write: bool
) -> bool:
    """Return whether a box of elements of `size` bytes may be read, or written; adjacent elements count as one run."""
    offsets = np.array([offset], np.int64)
    for step, n in sorted(zip(strides, shape)):
        if step == size:
            size *= n
        elif n > 1:
            offsets = np.add.outer(offsets, np.arange(n, dtype=np.int64) * step).ravel()
    return bool(allocation.covers(offsets, size, write).all())
