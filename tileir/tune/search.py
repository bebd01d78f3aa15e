"""Ways to search a space: everything, a random part, or led by a model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Protocol, cast

from tileir.ir.usage import UsageError, pip_install
from tileir.tune.space import Point, TuneSpace

SEARCHES = ("exhaustive", "random", "optuna")
DEFAULT_TRIALS = 32
_BATCH = 8


class SpaceSearch(Protocol):
    """Proposes batches of points until one is empty, and receives the result of each."""

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
    """Points that Optuna's sampler (TPE) suggests from what was measured, the first configuration before all.

    A study that is kept in the file `study`, of SQLite, goes on: the first batch has the first configuration and the
    fastest, which are timed again beside those to come.
    """

    def __init__(self, space: TuneSpace, trials: int, seed: int, study: Path | None = None) -> None:
        try:
            import optuna
        except ImportError:
            raise UsageError(f"--search optuna: needs optuna: {pip_install('tune')}") from None
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._space, self._trials = space, min(trials, space.size)
        sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=_BATCH)
        storage = None if study is None else f"sqlite:///{study.resolve()}"
        name = "tileir:" + hashlib.sha256(repr(space.values).encode()).hexdigest()
        try:
            self._study = optuna.create_study(sampler=sampler, storage=storage, study_name=name, load_if_exists=True)
        except Exception as error:  # of SQLAlchemy, many kinds
            raise UsageError(f"--study: cannot use '{study}': {str(error).splitlines()[0]}") from None
        self._failed = optuna.trial.TrialState.FAIL
        indices = {name: list(range(len(values))) for name, values in space.values.items()}
        distribution = optuna.distributions.CategoricalDistribution
        self._choices: dict[str, Any] = {name: distribution(found) for name, found in indices.items()}
        self._asked: dict[str, list[Any]] = {}
        self._known: dict[str, float | None] = {}
        self._again = self._resumed()
        if not self._again:
            self._study.enqueue_trial(dict.fromkeys(indices, 0))

    def _resumed(self) -> list[Point]:
        """Take what a study knows; gives the points to time again. A trial that was under way has failed."""
        points: dict[str, Point] = {}
        for trial in self._study.trials:
            point = self._point(trial)
            if trial.state.is_finished():
                points[name_of(point)] = point
                self._known[name_of(point)] = trial.value
            elif trial.params:
                self._study.tell(trial.number, state=self._failed)
        timed = [name for name, seconds in self._known.items() if seconds is not None]
        fastest = sorted(timed, key=lambda name: cast(float, self._known[name]))[: _BATCH - 1]
        names = dict.fromkeys([name_of(self._space.at(0)), *fastest]) if points else {}
        return [points.get(name, self._space.at(0)) for name in names]

    def _point(self, trial: Any) -> Point:
        return {name: self._space.values[name][index] for name, index in trial.params.items()}

    def batch(self) -> list[Point]:
        """Return up to `_BATCH` points that were not tried; a suggestion that was is answered from memory."""
        found, self._again = self._again, []
        self._asked = {}
        if found:
            return found
        for _ in range(50 * _BATCH):
            if len(found) == _BATCH or len(self._known) + len(found) >= self._trials:
                break
            trial = self._study.ask(self._choices)
            point = self._point(trial)
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


def search_of(how: str, space: TuneSpace, trials: int | None, seed: int, study: Path | None = None) -> SpaceSearch:
    """Return the search of that name. Raises UsageError if it is not there."""
    if how == "optuna":
        return OptunaSearch(space, trials or DEFAULT_TRIALS, seed, study)
    if study is not None:
        raise UsageError("--study: only the search of optuna has one")
    if how == "exhaustive":
        return ListedSearch(list(space)[:trials])
    chosen = sorted(Random(seed).sample(range(1, space.size), min((trials or DEFAULT_TRIALS) - 1, space.size - 1)))
    return ListedSearch([space.at(number) for number in (0, *chosen)])
