"""Sums of multiples of given distances that reach an interval.

Two tiles of a matrix have a byte in common if ``384 * i + j`` is in some interval for a difference of rows ``i`` in
-127..127 and a difference of bytes in a row ``j`` in -127..127. The largest distance leaves few choices: only ``i`` for
which the rest can still reach.

Knows: the search, from the largest distance down, with a limit on its steps. Does not know: what distances mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd
from typing import NamedTuple

MOST_STEPS = 4096


class Term(NamedTuple):
    """``distance * n`` for an integer n from `low` to `high`; `distance` is not 0."""

    distance: int
    low: int
    high: int


class TooHard(Exception):
    """The search has taken `MOST_STEPS` and found nothing."""


def reached(low: int, high: int, terms: Iterable[Term]) -> list[int] | None:
    """Numbers for the terms, in their order, whose sum lies in [`low`, `high`]; None if there are none.

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
        """Numbers for the terms from `at` on."""
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
    """The numbers from `begin` to `end`, from the middle outward, where a solution is found soonest."""
    if begin > end:
        return
    middle = (begin + end) // 2
    yield middle
    for step in range(1, end - middle + 1):
        yield middle + step
        if middle - step >= begin:
            yield middle - step
