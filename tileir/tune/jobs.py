"""The kinds of jobs ``tune-space``, ``tune-check`` and ``tune-race``: which configurations a script declares, is a
candidate right, and which of some is the fastest.

    {"task": {...}}                                                                     kind tune-space
    {"task": {...}, "point": {...}, "target": "cpu", "expected": PATH.npz or null}      kind tune-check
    {"task": {...}, "points": [...], "seconds": 10.0, "seed": 0}                        kind tune-race
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from random import Random
from typing import Any, cast

import numpy as np

from tileir.farm.job import Json, WorkResult
from tileir.ir.usage import UsageError
from tileir.tune.candidates import CONFIG, Launchable, TuneTask, launchable, literal_space, search_of_script

TOLERANCES = {1: 0.3, 2: 0.02, 4: 1e-4, 8: 1e-10}
"""Differences that are tolerated, by the bytes of a float, relative to the element and to the largest of the array,
since tiles of other sizes add up in another order. Integers must be equal."""
SAMPLE_SECONDS = 1e-3
"""The time that one sample takes at least: launches that are shorter are timed several at a time."""


def task_of(spec: Mapping[str, Json]) -> TuneTask:
    return TuneTask.of_json(cast("dict[str, Any]", spec["task"]))


def spaced(spec: dict[str, Json], content: bytes) -> WorkResult:
    """Return the space that a cuTile script declares: of the search that a function calls, or of its parameters."""
    task = task_of(spec)
    values = literal_space(task.program, task.function) if task.grid else {CONFIG: search_of_script(task).names}
    return WorkResult({"values": {name: list(found) for name, found in values.items()}})


def checked(spec: dict[str, Json], content: bytes) -> WorkResult:
    """Launch a candidate with checks; without `expected` its arrays are the answer's files, else they are compared."""
    path = cast("str | None", spec["expected"])
    with launchable(task_of(spec), cast(Any, spec["point"]), True, cast(str, spec["target"])) as found:
        found.launch()
    if path is None:
        np.savez(cast(str, spec["save"]), *found.arrays)
        return WorkResult({"right": True})
    with np.load(path) as expected:
        text = difference(found, [expected[name] for name in expected.files])
    if text is not None:
        raise UsageError(text)
    return WorkResult({"right": True})


def difference(found: Launchable, expected: Sequence[np.ndarray]) -> str | None:
    """Return the first array that is not as expected."""
    for name, array, other in zip(found.names, found.arrays, expected):
        if array.shape != other.shape:
            return f"wrong result: array '{name}' has shape {array.shape}, expected {other.shape}"
        wrong = np.flatnonzero(~close(array, other.view(array.dtype)))
        if wrong.size:
            at = wrong[0]
            return f"wrong result: '{name}' is {array.flat[at]} at {at}, expected {other.view(array.dtype).flat[at]}"
    return None


def close(array: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Return a mask of the elements that count as equal."""
    if array.dtype.kind in "iub":
        return np.asarray(array == expected)
    with np.errstate(all="ignore"):
        numbers, others = array.astype(np.float64), expected.astype(np.float64)
        tolerance = TOLERANCES[array.dtype.itemsize]
        largest = np.max(np.abs(others[np.isfinite(others)]), initial=0.0)
        near = np.isclose(numbers, others, rtol=tolerance, atol=tolerance * largest, equal_nan=True)
    return near


def raced(spec: dict[str, Json], content: bytes) -> WorkResult:
    """Time candidates in turns, alone on the device."""
    task, points = task_of(spec), cast("list[dict[str, Any]]", spec["points"])
    with ExitStack() as stack:
        clocks = [_clock(stack.enter_context(launchable(task, point, False))) for point in points]
        lanes = race(clocks, time.monotonic, cast(float, spec["seconds"]), cast(int, spec["seed"]))
    rows: list[Json] = [
        {"median": lane.median, "low": lane.interval[0], "high": lane.interval[1], "samples": len(lane.samples),
         "left": lane.left} for lane in lanes
    ]  # fmt: skip
    return WorkResult({"lanes": rows})


def _clock(found: Launchable) -> Callable[[], float]:
    """Return a clock of samples that are long enough to be measured. The first launches compile and warm up."""
    found.launch()
    estimate = min(found.clock() for _ in range(2))
    launches = max(1, int(SAMPLE_SECONDS / max(estimate, 1e-9)))
    return lambda: sum(found.clock() for _ in range(launches)) / launches


# ---------------------------------------------------------------- a race of candidates


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
