"""Real local clusters: processes of Dask and of Ray, killed at random, lose nothing but time."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.farm.probes import job, register
from tests.farm.scheduler import ScheduledCluster
from tileir.farm.driver import drive
from tileir.farm.executors import of_client, opened
from tileir.farm.job import Ending, JobLimits
from tileir.farm.store import JobStore

LIMITS = JobLimits(seconds=10.0)
PATIENCE = 90.0


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A client of two workers, which are processes of this machine and are started again when they die."""
    distributed = pytest.importorskip("distributed", reason="needs dask: pip install '.[dask]'")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, protocol="tcp", silence_logs=50
    )
    with cluster, distributed.Client(cluster, timeout=PATIENCE) as made:
        made.register_worker_callbacks(register)
        yield made


def worker_pids(client: Any) -> list[int]:
    return list(client.run(os.getpid).values())


def test_jobs_on_dask_end_as_on_this_machine(client: Any, tmp_path: Path) -> None:
    jobs = [job(number, harm) for number, harm in enumerate(["none"] * 20 + ["crash", "refuse", "memory"])]
    with JobStore(tmp_path / "store.db") as store:
        drive(store, of_client(client), jobs, LIMITS)
        assert store.counts() == {"done": 20, "failed": 1, "crashed": 1, "memory": 1}
        assert [row.answer["square"] for row in store.rows("done")] == [number**2 for number in range(20)]


@pytest.mark.thorough
def test_workers_killed_at_random_lose_no_job(client: Any, tmp_path: Path) -> None:
    count, killed, stop = 200, [], threading.Event()
    choose = random.Random(5)

    def kill() -> None:
        while not stop.wait(1.5) and len(killed) < 3:
            try:
                pids = worker_pids(client)
                killed.append(choose.choice(pids))
                os.kill(killed[-1], signal.SIGKILL)
            except (OSError, IndexError, ValueError, RuntimeError):
                continue

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    begin = time.monotonic()
    with JobStore(tmp_path / "store.db") as store:
        numbers = iter(range(10**6))

        def until_killed() -> Iterator[Any]:
            """Jobs for as long as workers are killed, and so many at least."""
            for number in numbers:
                if number >= count and (len(killed) >= 2 or time.monotonic() - begin > PATIENCE / 2):
                    return
                yield job(number, "slow")

        drive(store, of_client(client), until_killed(), LIMITS)
        stop.set()
        killer.join(PATIENCE)
        assert killed, "a worker was killed while jobs ran"
        total = sum(store.counts().values())
        assert store.counts() == {"done": total} and total >= count and store.conflicts() == []
        assert [row.answer["square"] for row in store.rows()] == [number**2 for number in range(total)]


@pytest.mark.thorough
def test_a_scheduler_that_is_started_again_loses_no_job(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="needs dask: pip install '.[dask]'")
    begin = time.monotonic()
    with ScheduledCluster(tmp_path) as cluster, JobStore(tmp_path / "store.db") as store:

        def until_restarted() -> Iterator[Any]:
            for number in range(10**6):
                if number >= 100 and (cluster.restarts or time.monotonic() - begin > PATIENCE):
                    return
                yield job(number, "slow")

        with opened(f"dask:{cluster.address}") as found:
            restart = cluster.restarted_after(2.0)
            summary = drive(store, found, until_restarted(), LIMITS)
            restart.join(PATIENCE)
        total = sum(store.counts().values())
        assert cluster.restarts == 1 and summary.attempts[Ending.LOST] > 0, "jobs were under way"
        assert store.counts() == {"done": total} and store.conflicts() == []
        assert [row.answer["square"] for row in store.rows()] == [number**2 for number in range(total)]


def test_workers_of_ray_that_are_killed_lose_no_job(tmp_path: Path) -> None:
    ray = pytest.importorskip("ray", reason="needs ray: pip install '.[ray]'")
    harms = ["kill the worker" if number % 10 == 3 else "none" for number in range(40)]
    jobs = [job(number, harm, mark=str(tmp_path / f"{number}")) for number, harm in enumerate(harms)]
    setup = {"worker_process_setup_hook": "tests.farm.probes.register"}
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False, runtime_env=setup)
    try:
        with JobStore(tmp_path / "store.db") as store, opened("ray", 2) as found:
            drive(store, found, jobs, LIMITS)
            assert store.counts() == {"done": 40} and store.conflicts() == []
            assert [row.answer["square"] for row in store.rows()] == [number**2 for number in range(40)]
    finally:
        ray.shutdown()
    assert len(list(tmp_path.glob("[0-9]*"))) == 4, "four workers were killed"


@pytest.mark.thorough
def test_jobs_on_ray_end_as_on_this_machine(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="needs ray: pip install '.[ray]'")
    from tests.farm.test_farm_command import DOUBLE
    from tileir.farm.launching import launch_job
    from tileir.runtime.loading import parse

    module = parse(DOUBLE)
    jobs = [launch_job(module, {"grid": 1, "arguments": ["f32[16]:randn", "16"], "seed": seed}) for seed in range(30)]
    answers = []
    for place in ("processes", "ray"):
        with JobStore(tmp_path / f"{place}.db") as store, opened(place, 2) as workers:
            drive(store, workers, jobs, LIMITS)
            assert store.counts() == {"done": 30}
            answers.append([row.answer for row in store.rows()])
    assert answers[0] == answers[1]
