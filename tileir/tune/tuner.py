"""Tuning: points of a space are checked side by side, then timed alone, in turns."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from tileir.cache import default_directory
from tileir.farm.driver import drive
from tileir.farm.executors import processes
from tileir.farm.isolation import attempt
from tileir.farm.job import Ending, FarmJob, JobLimits, Json
from tileir.farm.store import JobStore
from tileir.ir.usage import UsageError, pip_install
from tileir.runtime.module import DeviceTarget, target_named
from tileir.tune.candidates import TuneTask
from tileir.tune.record import TuneRecord, machine, ordered
from tileir.tune.search import SpaceSearch, name_of
from tileir.tune.space import Point, PointValue

FINALISTS = 6
"""The fastest of several batches race once more, against each other."""
_WAIT_SECONDS = 3600.0


def declared_values(task: TuneTask, limits: JobLimits) -> dict[str, tuple[PointValue, ...]]:
    """Return the space that a cuTile script declares, run in a process of its own. Raises UsageError if that fails."""
    _import_cutile()
    job = FarmJob("tune-space", {"task": task.to_json()})
    found = attempt(job.kind, job.text, b"", limits)
    if found.result is None:
        raise UsageError(f"'{task.program}': {found.reason}")
    values = cast("dict[str, list[PointValue]]", found.result.answer["values"])
    return {name: tuple(listed) for name, listed in values.items()}


class Tuner:
    """Tunes one task; ``report`` receives progress messages, a line each."""

    def __init__(
        self,
        task: TuneTask,
        limits: JobLimits,
        workers: int | None = None,
        seconds: float = 10.0,
        seed: int = 0,
        report: Callable[[str], object] = lambda text: None,
    ) -> None:
        if task.function:
            _import_cutile()
        self.task = task
        self.limits = limits
        self.workers = processes(workers)
        self.seconds = seconds
        self.seed = seed
        self.report = report
        self.rows: dict[str, dict[str, Any]] = {}

    def tune(self, name: str, search: SpaceSearch, reference: str, about: dict[str, Any]) -> TuneRecord:
        """SpaceSearch; the result of the first point on the target `reference` is what all others must give.

        Raises UsageError if the first point fails, or no point can be timed.
        """
        with tempfile.TemporaryDirectory(prefix="tileir-tune-") as folder:
            self.folder, batches = Path(folder), 0
            while batch := search.batch():
                if not batches:
                    self._make_expected(batch[0], reference)
                right = self._checked(batch)
                self._race(right)
                search.tell({name_of(point): self.rows[name_of(point)].get("median") for point in batch})
                batches += 1
            if batches > 1:
                self._final()
        rows = ordered(list(self.rows.values()))
        if not rows or "median" not in rows[0]:
            raise UsageError("no configuration could be timed")
        return TuneRecord(name, self.task, rows, {**about, "reference": reference, "machine": machine()})

    # ------------------------------------------------------------ correctness

    @property
    def _expected(self) -> str:
        return str(self.folder / "expected.npz")

    def _make_expected(self, point: Point, reference: str) -> None:
        """Run the first point, in a process of its own."""
        spec = {"task": self.task.to_json(), "point": dict(point), "target": reference, "expected": None}
        job = FarmJob("tune-check", {**cast("dict[str, Json]", spec), "save": self._expected})
        found = attempt(job.kind, job.text, b"", self.limits)
        if found.ending is not Ending.DONE:
            raise UsageError(f"the first configuration, {name_of(point)}, fails on '{reference}': {found.reason}")

    def _checked(self, points: Sequence[Point]) -> list[Point]:
        """Return the points whose result is right; they are compiled beside each other, each in a process of its
        own."""
        jobs = {name_of(point): self._check_job(point) for point in points}
        with JobStore(self.folder / "store.db") as store:
            drive(store, self.workers, jobs.values(), self.limits)
            found = {row.key: row for row in store.rows()}
        for point in points:
            name = name_of(point)
            row = found[jobs[name].key]
            state = "right" if row.state == Ending.DONE.value else row.state
            self.rows[name] = {"point": dict(point), "state": state, "reason": row.reason}
            if state != "right":
                self.report(f"{name}: {state}: {row.reason}")
        return [point for point in points if self.rows[name_of(point)]["state"] == "right"]

    def _check_job(self, point: Point) -> FarmJob:
        spec: dict[str, Json] = {"task": self.task.to_json(), "point": dict(point), "target": self.task.target}
        return FarmJob("tune-check", {**spec, "expected": self._expected})

    # ------------------------------------------------------------ time

    def _race(self, points: Sequence[Point]) -> None:
        """Time points in turns, in one process, while no other race runs on this machine."""
        if not points:
            return
        spec: dict[str, Json] = {"task": self.task.to_json(), "points": [dict(point) for point in points]}
        job = FarmJob("tune-race", {**spec, "seconds": self.seconds, "seed": self.seed})
        longest = self.limits.seconds * len(points) + 2 * self.seconds
        with _alone(self.task.target):
            found = attempt(job.kind, job.text, b"", JobLimits(longest, None))
        if found.result is None:
            raise UsageError(f"the race {found.ending.value}: {found.reason}")
        lanes = cast("list[dict[str, Any]]", found.result.answer["lanes"])
        for point, lane in zip(points, lanes):
            self.rows[name_of(point)] |= lane
        best = min(zip(lanes, points), key=lambda pair: pair[0]["median"])
        self.report(f"{len(points)} timed; fastest {name_of(best[1])}: {best[0]['median'] * 1e3:.4g} ms")

    def _final(self) -> None:
        """Run a last race of the fastest of all batches, which were timed at different times."""
        timed = sorted((row for row in self.rows.values() if "median" in row), key=lambda row: row["median"])
        for row in timed[FINALISTS:]:
            row["left"] = row["left"] if row["left"] is not None else 0
        self._race([row["point"] for row in timed[:FINALISTS]])


def _import_cutile() -> None:
    """Import the library, and what it imports at a launch, once: processes of candidates are copies.

    Raises UsageError if it is not there.
    """
    try:
        import_module("cuda.tile")
    except ImportError:
        raise UsageError(f"needs cuda-tile: {pip_install('cutile')}") from None
    for name in ("torch", "tileir.cutile", "tileir.runtime.native"):
        with suppress(ImportError):
            import_module(name)


@contextmanager
def _alone(target: str) -> Iterator[None]:
    """Let no other process of this user time on the device while the body runs."""
    device = "gpu" if isinstance(target_named(target), DeviceTarget) else "cpu"
    directory = default_directory() or Path(tempfile.gettempdir())
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = sqlite3.connect(directory / f"timing-{device}.lock", isolation_level=None, timeout=_WAIT_SECONDS)
        lock.execute("BEGIN EXCLUSIVE")
    except (OSError, sqlite3.Error) as error:
        raise UsageError(f"cannot have the device alone: {error}") from None
    try:
        yield
    finally:
        lock.close()
