"""Bytes of memory as runs at regular distances, and whether two such sets meet.

A tile of 128 rows of 64 elements of f16, in a matrix whose rows are 192 elements apart, is runs of 128 bytes:

    Extent(low=0, high=127 * 384 + 128, start=0, dims=((128, 384),), run=128)

Two tiles of a matrix have a byte in common if ``384 * i + j`` is in some interval for a difference of rows ``i`` in
-127..127 and a difference of bytes in a row ``j`` in -127..127. The largest distance leaves few choices: only ``i`` for
which the rest can still reach. The search goes from the largest distance down, with a limit on its steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import gcd
from typing import NamedTuple

import numpy as np

Dims = tuple[tuple[int, int], ...]
"""Pairs of a count, more than 1, and a distance in bytes, more than 0; the farthest apart first."""


@dataclass(frozen=True)
class Extent:
    """The bytes ``start + sum(i_k * distance_k) + [0, run)`` for all ``0 <= i_k < count_k``, if in [`low`, `high`).

    Offsets are from the beginning of a memory. ``exact``: these bytes and no others; otherwise no others, but perhaps
    not all of them. ``box``: for an access through a view, the first index and the one behind the last along each
    dimension of the tensor.
    """

    low: int
    high: int
    start: int
    dims: Dims
    run: int
    exact: bool
    box: tuple[tuple[int, int], ...] = ()

    @property
    def empty(self) -> bool:
        return self.low >= self.high

    @property
    def contiguous(self) -> bool:
        """True if the bytes have no gaps."""
        return not self.dims

    def within(self, size: int) -> bool:
        """Return whether all bytes lie in a memory of `size` bytes."""
        return self.empty or (self.low >= 0 and self.high <= size)

    def starts(self) -> np.ndarray:
        """Return the offsets of the runs, in no order; there may be very many."""
        found = np.array([self.start], np.int64)
        for count, distance in self.dims:
            found = np.add.outer(found, np.arange(count, dtype=np.int64) * distance).ravel()
        return found

    def mask(self, low: int, high: int) -> np.ndarray:
        """Return a mask of the bytes of [`low`, `high`) that belong to it."""
        edges = np.zeros(high - low + 1, np.int64)
        starts = self.starts()
        np.add.at(edges, np.clip(starts - low, 0, high - low), 1)
        np.add.at(edges, np.clip(starts + self.run - low, 0, high - low), -1)
        found: np.ndarray = edges[:-1].cumsum() > 0
        places = np.arange(low, high)
        return found & (places >= self.low) & (places < self.high)


def empty(box: tuple[tuple[int, int], ...] = ()) -> Extent:
    return Extent(0, 0, 0, (), 0, True, box)


def extent(start: int, dims: Iterable[tuple[int, int]], size: int, exact: bool) -> Extent:
    """Return the bytes of elements of `size` bytes: the first at `start`, the others at counts and distances of any
    sign."""
    upward = []
    for count, distance in dims:
        if distance < 0:
            start += (count - 1) * distance
        if count > 1 and distance:
            upward.append((count, abs(distance)))
    run, kept = merged(upward, size)
    high = start + sum((count - 1) * distance for count, distance in kept) + run
    return Extent(start, high, start, kept, run, exact)


def merged(dims: Iterable[tuple[int, int]], run: int) -> tuple[int, Dims]:
    """Return the same bytes in the fewest dimensions: runs that touch become one, rows without gaps one dimension."""
    found: list[tuple[int, int]] = []
    for count, distance in sorted(dims, key=lambda dim: dim[1]):
        if not found and distance <= run:
            run += (count - 1) * distance
        elif found and distance % found[-1][1] == 0 and distance <= found[-1][0] * found[-1][1]:
            inner, step = found[-1]
            found[-1] = (inner + (count - 1) * (distance // step), step)
        else:
            found.append((count, distance))
    return run, tuple(reversed(found))


def common(a: Extent, b: Extent) -> int | None:
    """Return the offset of a byte that both may have, if both have all that they may; None if they have none.

    Raises `TooHard` where that takes too long to find out.
    """
    low, high = max(a.low, b.low), min(a.high, b.high)
    if low >= high:
        return None
    terms = [Term(distance, 0, count - 1) for count, distance in a.dims]
    terms += [Term(-distance, 0, count - 1) for count, distance in b.dims]
    apart = b.start - a.start
    numbers = reached(apart - a.run + 1, apart + b.run - 1, terms)
    if numbers is None:
        return None
    first = a.start + sum(n * distance for n, (_, distance) in zip(numbers, a.dims))
    second = b.start + sum(n * distance for n, (_, distance) in zip(numbers[len(a.dims) :], b.dims))
    return max(first, second)


# ---------------------------------------------------------------- sums of multiples that reach an interval


MOST_STEPS = 4096


class Term(NamedTuple):
    """``distance * n`` for an integer n from `low` to `high`; `distance` is not 0."""

    distance: int
    low: int
    high: int


class TooHard(Exception):
    """The search has taken `MOST_STEPS` and found nothing."""


def reached(low: int, high: int, terms: Iterable[Term]) -> list[int] | None:
    """Return numbers for the terms, in their order, whose sum lies in [`low`, `high`]; None if there are none.

    Raises `TooHard`.
    """
    given = list(terms)
    order = sorted(range(len(given)), key=lambda at: -abs(given[at].distance))
    search = _Search([given[at] for at in order])
    found = search.run(0, low, high)
    if found is None:
        return None
    numbers = dict(zip(order, found))
    return [numbers[at] for at in range(len(given))]


class _Search:
    """`terms` from the largest distance to the smallest."""

    def __init__(self, terms: Sequence[Term]) -> None:
        self.terms = terms
        self.steps = 0
        self.reach = [(0, 0)]
        for term in reversed(terms):
            ends = (term.distance * term.low, term.distance * term.high)
            low, high = self.reach[-1]
            self.reach.append((low + min(ends), high + max(ends)))
        self.reach.reverse()
        self.divisors = [gcd(*(term.distance for term in terms[at:])) for at in range(len(terms))]

    def run(self, at: int, low: int, high: int) -> list[int] | None:
        """Return numbers for the terms from `at` on."""
        if at == len(self.terms):
            return [] if low <= 0 <= high else None
        if low + -low % self.divisors[at] > high:
            return None
        distance, least, most = self.terms[at]
        rest_low, rest_high = self.reach[at + 1]
        # distance * n + rest lies in [low, high] for some rest.
        first, last = low - rest_high, high - rest_low
        if distance < 0:
            first, last = -last, -first
        size = abs(distance)
        begin, end = max(least, -(-first // size)), min(most, last // size)
        for number in _nearest(begin, end):
            self.steps += 1
            if self.steps > MOST_STEPS:
                raise TooHard
            found = self.run(at + 1, low - distance * number, high - distance * number)
            if found is not None:
                return [number, *found]
        return None


def _nearest(begin: int, end: int) -> Iterable[int]:
    """Yield the numbers from `begin` to `end`, from the middle outward, where a solution is found soonest."""
    if begin > end:
        return
    middle = (begin + end) // 2
    yield middle
    for step in range(1, end - middle + 1):
        yield middle + step
        if middle - step >= begin:
            yield middle - step
