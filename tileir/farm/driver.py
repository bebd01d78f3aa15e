"""Driving a store: its jobs go to workers, what comes of them into the store."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass, field

from tileir.farm.executors import Workers
from tileir.farm.isolation import attempt
from tileir.farm.job import Attempt, Ending, FarmJob, JobLimits
from tileir.farm.store import WAITING, JobStore

AHEAD = 3
"""Jobs that are handed over for each worker, so that none waits for the driver."""
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
        return _Drive(store, workers, limits, report, seconds).run(jobs)


class _Drive:
    def __init__(
        self, store: JobStore, workers: Workers, limits: JobLimits, report: Report | None, seconds: float | None
    ) -> None:
        self.store = store
        self.workers = workers
        self.limits = limits
        self.report = report
        self.end = None if seconds is None else time.monotonic() + seconds
        self.summary = DriveSummary()
        self.running: dict[Future[Attempt], FarmJob] = {}
        self.again: list[FarmJob] = []
        self.executor: Executor | None = None

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
        for job in jobs:
            if self.store.add([job]) or self.store.state_of(job.key) == WAITING:
                yield job

    def _fill(self, source: Iterator[FarmJob]) -> bool:
        """Hand jobs over until every worker has some; whether any was."""
        begun = False
        while len(self.running) < AHEAD * self.workers.count:
            if self.end is not None and time.monotonic() > self.end:
                self.summary.stopped = True
                self.again.clear()
                break
            job = self.again.pop(0) if self.again else next(source, None)
            if job is None:
                break
            self._submit(job)
            begun = True
        return begun

    def _submit(self, job: FarmJob) -> None:
        for fresh in (False, True):
            if self.executor is None or fresh:
                self.executor = self.workers.open()
            try:
                future = self.executor.submit(attempt, job.kind, job.text, job.content, self.limits)
                self.running[future] = job
                return
            except BrokenExecutor:
                if fresh:
                    raise

    def _collect(self) -> None:
        """Record what has ended."""
        timeout = _PATIENCE if self.end is not None else None
        done, _ = wait(self.running, timeout=timeout, return_when=FIRST_COMPLETED)
        for future in done:
            job = self.running.pop(future)
            found = _attempt_of(future)
            state = self.store.record(job.key, found, self.limits)
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


def _attempt_of(future: Future[Attempt]) -> Attempt:
    """Return how an attempt ended; one whose worker is gone was lost."""
    try:
        return future.result()
    except CancelledError:
        return Attempt(Ending.LOST, "the worker gave it back")
    except Exception as error:
        return Attempt(Ending.LOST, f"the worker was lost: {type(error).__name__}: {str(error)[:300]}")
