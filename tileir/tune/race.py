"""A race: candidates are timed in turns, and leave when they are slower beyond doubt.

In every round each candidate that is left is timed once, in a new random order, so that what else the machine does
falls on all alike. The interval of a median comes from order statistics (the sign test), which assumes nothing of how
times are distributed.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

LEAST_ROUNDS = 7
MOST_ROUNDS = 100
_QUANTILE = 0.98
"""Half of 1.96: the normal approximation of the binomial distribution, at 95 %."""


@dataclass
class RaceLane:
    """The samples of one candidate, in seconds; `left` is the round in which it left the race, None if it did not."""

    samples: list[float] = field(default_factory=list)
    left: int | None = None

    @property
    def median(self) -> float:
        return statistics.median(self.samples)

    @property
    def interval(self) -> tuple[float, float]:
        """The interval in which the true median lies with a probability of about 95 %."""
        ordered, count = sorted(self.samples), len(self.samples)
        reach = _QUANTILE * math.sqrt(count)
        low, high = math.floor(count / 2 - reach), math.ceil(count / 2 + reach)
        return ordered[max(0, low)], ordered[min(count - 1, high)]


def race(
    clocks: Sequence[Callable[[], float]],
    now: Callable[[], float],
    seconds: float,
    seed: int = 0,
    rounds: int = MOST_ROUNDS,
) -> list[RaceLane]:
    """Time candidates until one is left, or for `rounds` rounds, or for `seconds` by `now` and `LEAST_ROUNDS` rounds.

    Each of `clocks` runs its candidate once and gives the seconds that it took.
    """
    lanes = [RaceLane() for _ in clocks]
    random, end = Random(seed), now() + seconds
    for number in range(rounds):
        running = [at for at, lane in enumerate(lanes) if lane.left is None]
        if number >= LEAST_ROUNDS and (len(running) == 1 or now() > end):
            break
        random.shuffle(running)
        for at in running:
            lanes[at].samples.append(clocks[at]())
        if number + 1 >= LEAST_ROUNDS:
            _let_leave([lanes[at] for at in running], number)
    return lanes


def _let_leave(lanes: Sequence[RaceLane], number: int) -> None:
    """Remove the lanes whose whole interval lies above that of the fastest."""
    best = min(lanes, key=lambda lane: lane.median)
    for lane in lanes:
        if lane is not best and lane.interval[0] > best.interval[1]:
            lane.left = number
