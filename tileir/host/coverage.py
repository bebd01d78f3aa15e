"""Coverage of memory by an array that is not contiguous: its bytes between the first and the last.

Knows: the runs of bytes that a shape and strides touch, for one array or several that overlap.
Does not know: addresses or element types; offsets count bytes from the lowest byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

import numpy as np


@dataclass(frozen=True)
class Runs:
    """Byte runs of equal `length`, repeated along `extents` with positive `strides`, from byte `start` on."""

    start: int
    length: int
    extents: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()

    @property
    def end(self) -> int:
        """One past the last byte."""
        return self.start + self.length + sum((n - 1) * step for n, step in zip(self.extents, self.strides))

    @property
    def dense(self) -> bool:
        return not self.extents

    def shifted(self, distance: int) -> Runs:
        return Runs(self.start + distance, self.length, self.extents, self.strides)

    def nested(self) -> list[Runs]:
        """The same bytes as runs in which each stride, from the shortest on, leads past all that is repeated along it.

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
    """The runs of an array, and the byte offset of its first element from its lowest byte.

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
        """For each offset (int64, inside the extent) whether `length` bytes from it on are all covered."""
        first = offsets // self.granule
        last = (offsets + (length - 1)) // self.granule
        counted: np.ndarray = self._before[last + 1] - self._before[first] == last + 1 - first
        return counted
