"""Ways to search a space: everything, a random part, or led by a model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Protocol

from tileir.ir.usage import UsageError, pip_install
from tileir.tune.space import Point, TuneSpace

SEARCHES = ("exhaustive", "random", "optuna")
DEFAULT_TRIALS = 32
_BATCH = 8


class SpaceSearch(Protocol):
    """Gives batches of points until one is empty, and is told what came of each."""

    def batch(self) -> list[Point]: ...

    def tell(self, seconds: Mapping[str, float | None]) -> None:
        """Take the median seconds, by `name_of`, of the points of the last batch, None where there are none."""
        ...


def name_of(point: Point) -> str:
    """Return a point as text."""
    return json.dumps(dict(point), sort_keys=True)


class ListedSearch:
    """All points of a list at once."""

    def __init__(self, points: Sequence[Point]) -> None:
        self._left = list(points)

    def batch(self) -> list[Point]:
        found, self._left = self._left, []
        return found

    def tell(self, seconds: Mapping[str, float | None]) -> None:
        """Ignore the results, as nothing depends on them."""


class OptunaSearch:
    """Points that Optuna's sampler (TPE) suggests from what was measured, the first configuration before all."""

    def __init__(self, space: TuneSpace, trials: int, seed: int) -> None:
        try:
            import optuna
        except ImportError:
            raise UsageError(f"--search optuna: needs optuna: {pip_install('tune')}") from None
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._space, self._trials = space, min(trials, space.size)
        self._study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed, n_startup_trials=_BATCH))
        self._failed = optuna.trial.TrialState.FAIL
        indices = {name: list(range(len(values))) for name, values in space.values.items()}
        distribution = optuna.distributions.CategoricalDistribution
        self._choices: dict[str, Any] = {name: distribution(found) for name, found in indices.items()}
        self._study.enqueue_trial(dict.fromkeys(indices, 0))
        self._asked: dict[str, list[Any]] = {}
        self._known: dict[str, float | None] = {}

    def batch(self) -> list[Point]:
        """Return up to `_BATCH` points that were not tried; a suggestion that was is answered from memory."""
        found: list[Point] = []
        self._asked = {}
        for _ in range(50 * _BATCH):
            if len(found) == _BATCH or len(self._known) + len(found) >= self._trials:
                break
            trial = self._study.ask(self._choices)
            point: Point = {name: self._space.values[name][index] for name, index in trial.params.items()}
            name = name_of(point)
            if name in self._known:
                self._answer(trial, self._known[name])
            else:
                found += [] if name in self._asked else [point]
                self._asked.setdefault(name, []).append(trial)
        return found

    def tell(self, seconds: Mapping[str, float | None]) -> None:
        self._known |= seconds
        for name, trials in self._asked.items():
            for trial in trials:
                self._answer(trial, seconds[name])

    def _answer(self, trial: Any, seconds: float | None) -> None:
        if seconds is None:
            self._study.tell(trial, state=self._failed)
        else:
            self._study.tell(trial, seconds)


def search_of(how: str, space: TuneSpace, trials: int | None, seed: int) -> SpaceSearch:
    """Return the search of that name. Raises UsageError if it is not there."""
    if how == "optuna":
        return OptunaSearch(space, trials or DEFAULT_TRIALS, seed)
    if how == "exhaustive":
        return ListedSearch(list(space)[:trials])
    chosen = sorted(Random(seed).sample(range(1, space.size), min((trials or DEFAULT_TRIALS) - 1, space.size - 1)))
    return ListedSearch([space.at(number) for number in (0, *chosen)])
