"""Costs of a job in the farm beside those of the engine that runs it: jobs a second, processor time, bytes. Prints a
table.

    python bench/farm.py --jobs 1000
    python bench/farm.py --jobs 10000 --on dask --on ray

Processor times are sums over processes, since a job that does nothing is short and other processes disturb clocks. The
engine's own rows are a function that gives back a part of the job, and one that launches it in the engine's worker,
submitted as often. Clusters are started here: Dask by its command lines, so that its scheduler is a process of its own;
of Ray the scheduler is `gcs_server` and `raylet`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from tileir.farm.driver import drive
from tileir.farm.executors import Workers, opened
from tileir.farm.job import FarmJob
from tileir.farm.launching import launch_job, launched
from tileir.farm.store import JobStore
from tileir.runtime.loading import parse

EMPTY = "entry @empty(%n: tile<i32>) { }"
WARM_UP = 20
SCHEDULERS = ("dask_scheduler", "gcs_server", "raylet")
START_SECONDS = 60.0


@dataclass
class Spent:
    """Processor seconds so far."""

    driver: float = 0.0
    scheduler: float = 0.0
    workers: float = 0.0

    @classmethod
    def now(cls) -> Spent:
        own = psutil.Process()
        found = cls(driver=sum(own.cpu_times()[:2]), workers=sum(own.cpu_times()[2:4]))
        for process in own.children(recursive=True):
            try:
                seconds, command = sum(process.cpu_times()[:4]), process.cmdline()
            except psutil.Error:
                continue
            if any(name in word for name in SCHEDULERS for word in command[:3]):
                found.scheduler += seconds
            else:
                found.workers += seconds
        return found

    def since(self, before: Spent) -> Spent:
        return Spent(*(getattr(self, name) - getattr(before, name) for name in ("driver", "scheduler", "workers")))


def unchanged(job: FarmJob) -> str:
    return job.text


def launch(job: FarmJob) -> object:
    """Launch in the engine's own worker, without what a farm does for a job."""
    return launched({**job.spec}, job.content)


@contextmanager
def cluster(place: str, count: int) -> Iterator[Workers]:
    """Yield workers; those of Dask with their scheduler in a process of its own."""
    with ExitStack() as stack:
        if place == "dask":
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            address = folder / "scheduler.json"
            words = ["--scheduler-file", str(address), "--no-dashboard"]
            for name, more in [("scheduler", ["--port", "0"]), *[("worker", ["--nthreads", "1"])] * count]:
                command = [sys.executable, "-m", f"distributed.cli.dask_{name}", *words, *more]
                process = subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL)
                stack.callback(process.wait)
                stack.callback(process.terminate)
            workers = stack.enter_context(_at(address, count))
        else:
            workers = stack.enter_context(opened(place, count))
        yield workers


@contextmanager
def _at(path: Path, count: int) -> Iterator[Workers]:
    from distributed import Client

    from tileir.farm.executors import of_client

    deadline = time.monotonic() + START_SECONDS
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    with Client(scheduler_file=str(path)) as client:
        client.wait_for_workers(count, START_SECONDS)
        yield of_client(client)


def engine_run(place: str, workers: Workers, function: Callable[[FarmJob], object], jobs: list[FarmJob]) -> None:
    """Have an engine itself do a task for each job."""
    if place == "dask":
        from distributed import default_client

        client = default_client()
        client.gather([client.submit(function, job, pure=False) for job in jobs])
    elif place == "ray":
        import ray

        task = ray.remote(function)
        ray.get([task.remote(job) for job in jobs])
    else:
        with workers.open() as pool:
            list(pool.map(function, jobs))


def farm_run(workers: Workers, jobs: list[FarmJob]) -> float:
    """Drive jobs; gives the bytes in the store of each."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        with JobStore(path) as store:
            drive(store, workers, jobs)
            assert store.counts() == {"done": len(jobs)}
        return path.stat().st_size / len(jobs)


def measured(run: Callable[[], object], count: int, name: str) -> None:
    before, begin = Spent.now(), time.perf_counter()
    found = run()
    wall, spent = time.perf_counter() - begin, Spent.now().since(before)
    parts = (spent.driver, spent.scheduler, spent.workers, spent.driver + spent.scheduler + spent.workers)
    times = " | ".join(f"{one / count * 1e3:.2f}" for one in parts)
    print(f"| {name} | {count / wall:.0f} | {times} | {'' if found is None else f'{found:.0f}'} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--on", action="append", choices=("processes", "dask", "ray"))
    options = parser.parse_args()
    module = parse(EMPTY)
    jobs = [launch_job(module, {"grid": 1, "arguments": [str(number)]}) for number in range(options.jobs + WARM_UP)]
    print(f"launches of an empty kernel, {options.workers} workers, {os.cpu_count()} processors")
    print("| | jobs a second | driver, ms a job | scheduler | workers | all | bytes in the store |")
    print("|---|---|---|---|---|---|---|")
    for place in options.on or ["processes"]:
        with cluster(place, options.workers) as workers:
            rows: dict[str, Callable[[list[FarmJob]], object]] = {
                f"{place} itself": lambda jobs: engine_run(place, workers, unchanged, jobs),  # noqa: B023
                f"{place} itself, launches": lambda jobs: engine_run(place, workers, launch, jobs),  # noqa: B023
                f"farm on {place}": lambda jobs: farm_run(workers, jobs),
            }
            for name, run in rows.items():
                run(jobs[-WARM_UP:])
                measured(lambda: run(jobs[:-WARM_UP]), options.jobs, name)  # noqa: B023


if __name__ == "__main__":
    main()
