"""Driving a store: its jobs go to workers, what comes of them into the store."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass, field
from itertools import islice

from tileir.farm.executors import Workers, attempts
from tileir.farm.job import Attempt, Ending, FarmJob, JobLimits
from tileir.farm.store import WAITING, JobStore

AHEAD = 3
"""Tasks that are handed over for each worker, so that none waits for the driver."""
TASK_SECONDS = 0.1
"""Short jobs are handed over together, as many as take so long, so that the price of a task is that of them all."""
LEAST_SECONDS = 1e-3
"""Jobs that take less count as much."""
_BATCH = 64
_PATIENCE = 1.0
"""Seconds between two looks at the clock while nothing ends."""


@dataclass
class DriveSummary:
    """The result of a drive: attempts by ending, and whether it stopped before the last job."""

    attempts: dict[Ending, int] = field(default_factory=dict)
    stopped: bool = False


Report = Callable[[FarmJob, Attempt, str], object]
"""Is told of each attempt: the job, how it ended, the job's state."""


def drive(
    store: JobStore,
    workers: Workers,
    jobs: Iterable[FarmJob] = (),
    limits: JobLimits = JobLimits(),  # noqa: B008  (a frozen value)
    report: Report | None = None,
    seconds: float | None = None,
) -> DriveSummary:
    """Run the jobs that wait in a store, then `jobs`, which are added as workers get free and may have no end.

    Parameters
    ----------
    store : JobStore
        Where jobs are and answers go; jobs that are done there are not run again.
    workers : Workers
        Who runs them.
    jobs : iterable of FarmJob
        Further jobs.
    limits : JobLimits
        Of each attempt.
    report : callable
        Is told of each attempt, in this process.
    seconds : float
        After that time no job is begun.

    Raises
    ------
    UsageError
        If another process drives the store, or it cannot be written: then what is recorded stays, and a later drive
        goes on.
    """
    with store.driven():
        end = None if seconds is None else time.monotonic() + seconds
        return _Drive(store, workers, limits, report, end).run(jobs)


@dataclass
class _Drive:
    store: JobStore
    workers: Workers
    limits: JobLimits
    report: Report | None
    end: float | None
    summary: DriveSummary = field(default_factory=DriveSummary)
    running: dict[Future[list[Attempt]], list[FarmJob]] = field(default_factory=dict)
    again: list[FarmJob] = field(default_factory=list)
    executor: Executor | None = None
    job_seconds: float = TASK_SECONDS
    """What a job takes, from those that have ended."""

    def run(self, jobs: Iterable[FarmJob]) -> DriveSummary:
        source = self._source(jobs)
        try:
            while self._fill(source) or self.running:
                self._collect()
        finally:
            self._leave()
        return self.summary

    def _source(self, jobs: Iterable[FarmJob]) -> Iterator[FarmJob]:
        """Yield the waiting jobs of the store, then the new ones of `jobs`."""
        after = -1
        while found := self.store.waiting(_BATCH, after):
            after = found[-1][0]
            yield from (job for _, job in found)
        given = iter(jobs)
        while some := list(islice(given, self._together)):
            self.store.add(some)
            yield from (job for job in some if self.store.state_of(job.key) == WAITING)

    def _fill(self, source: Iterator[FarmJob]) -> bool:
        """Hand jobs over until every worker has some; whether any was."""
        begun = False
        while len(self.running) < AHEAD * self.workers.count:
            if self.end is not None and time.monotonic() > self.end:
                self.summary.stopped = True
                self.again.clear()
                break
            jobs = self._next(source)
            if not jobs:
                break
            self._submit(jobs)
            begun = True
        return begun

    def _next(self, source: Iterator[FarmJob]) -> list[FarmJob]:
        """Return the jobs of the next task: one that is tried again comes alone, as it may be harmful."""
        if self.again:
            return [self.again.pop(0)]
        return list(islice(source, self._together))

    @property
    def _together(self) -> int:
        """How many jobs are handed over together."""
        return max(1, int(TASK_SECONDS / self.job_seconds))

    def _submit(self, jobs: list[FarmJob]) -> None:
        given = [(job.kind, job.text, job.content) for job in jobs]
        for fresh in (False, True):
            if self.executor is None or fresh:
                self.executor = self.workers.open()
            try:
                self.running[self.executor.submit(attempts, given, self.limits)] = jobs
                return
            except BrokenExecutor:
                if fresh:
                    raise

    def _collect(self) -> None:
        """Record what has ended."""
        timeout = _PATIENCE if self.end is not None else None
        done, _ = wait(self.running, timeout=timeout, return_when=FIRST_COMPLETED)
        for future in done:
            jobs = self.running.pop(future)
            found = _attempts_of(future, len(jobs))
            states = self.store.record([(job.key, one) for job, one in zip(jobs, found)], self.limits)
            for job, one, state in zip(jobs, found, states):
                self._note(job, one, state)

    def _note(self, job: FarmJob, found: Attempt, state: str) -> None:
        if found.ending is not Ending.LOST:
            self.job_seconds += (max(found.seconds, LEAST_SECONDS) - self.job_seconds) / 4
        self.summary.attempts[found.ending] = self.summary.attempts.get(found.ending, 0) + 1
        if state == WAITING:
            self.again.append(job)
        if self.report is not None:
            self.report(job, found, state)

    def _leave(self) -> None:
        """Give back what was not begun, and wait for what was: an attempt has an end."""
        for future in self.running:
            future.cancel()
        if self.executor is not None:
            self.executor.shutdown(wait=True)


def _attempts_of(future: Future[list[Attempt]], count: int) -> list[Attempt]:
    """Return how the attempts of a task ended; those whose worker is gone were lost."""
    try:
        return future.result()
    except CancelledError:
        lost = "the worker gave it back"
    except Exception as error:
        lost = f"the worker was lost: {type(error).__name__}: {str(error)[:300]}"
    return [Attempt(Ending.LOST, lost)] * count
