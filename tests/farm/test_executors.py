"""Executors on clusters, beside those that only real clusters show (`test_clusters`)."""

from __future__ import annotations

import asyncio
import signal
import threading
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import Any

import pytest

from tileir.farm.executors import DaskExecutor, RayExecutor, attempts, processes
from tileir.farm.job import JobLimits

PATIENCE = 5.0


class _Client:
    """A client of Dask, and its loop, which may lose its connection as it is given or asked for a task."""

    def __init__(self, lost: str = "never") -> None:
        self.status, self.scheduler_comm, self.given, self.loop = "running", object(), list[Future[int]](), self
        self.lost = lost

    def submit(self, function: Any, *arguments: Any, pure: bool) -> Future[int]:
        future: Future[int] = Future()
        self.given.append(future)
        if self.lost == "as given" and len(self.given) == 1:
            self.scheduler_comm = object()
        else:
            future.set_result(function(*arguments))
        return future

    def sync(self, function: Any) -> None:
        function().close()

    def add_callback(self, function: Any, *arguments: Any) -> None:
        if self.lost != "for good":
            with suppress(asyncio.CancelledError):
                asyncio.run(function(*arguments))

    async def gather(self, task: Future[int], asynchronous: bool) -> int:
        if self.lost == "as asked":
            raise OSError("the scheduler is gone")
        if self.lost == "as closed":
            raise asyncio.CancelledError
        return task.result(timeout=PATIENCE)


def test_a_task_has_a_future() -> None:
    assert DaskExecutor(_Client()).submit(pow, 3, 2).result(PATIENCE) == 9


def test_a_task_that_is_given_as_the_connection_is_lost_is_given_again() -> None:
    client = _Client("as given")
    assert DaskExecutor(client).submit(pow, 3, 2).result(PATIENCE) == 9
    first, second = client.given
    assert first.cancelled() and second.done()


def test_a_result_that_is_lost_on_its_way_ends_the_future() -> None:
    with pytest.raises(OSError, match="the scheduler is gone"):
        DaskExecutor(_Client("as asked")).submit(pow, 3, 2).result(PATIENCE)


def test_the_end_of_the_loop_of_dask_cancels_the_future() -> None:
    future = DaskExecutor(_Client("as closed")).submit(pow, 3, 2)
    assert wait([future], PATIENCE).done and future.cancelled()


def test_an_executor_ends_without_the_futures_that_were_cancelled() -> None:
    executor = DaskExecutor(_Client("for good"))
    future = executor.submit(pow, 3, 2)
    ending = threading.Thread(target=lambda: executor.shutdown(cancel_futures=True), daemon=True)
    ending.start()
    ending.join(PATIENCE)
    assert future.cancelled() and not ending.is_alive()


class _Ray:
    """A cluster of Ray whose head does no tasks, and with a node that has ended."""

    def nodes(self) -> list[dict[str, Any]]:
        resources = [{"memory": 800.0}, {"CPU": 2.0, "memory": 200.0}, {"CPU": 4.0, "memory": 800.0}]
        return [*({"Alive": True, "Resources": one} for one in resources), {"Alive": False, "Resources": {"CPU": 9.0}}]

    def remote(self, function: Any) -> Any:
        return function


def test_memory_of_nodes_of_ray_without_processors_is_no_memory_of_tasks() -> None:
    executor = RayExecutor(_Ray())
    assert (executor.count, executor.memory) == (6, 100)


def test_a_worker_leaves_an_interrupt_to_the_driver_and_begins_no_more_jobs() -> None:
    with processes(1).open() as executor:
        executor.submit(signal.raise_signal, signal.SIGINT).result()
        assert executor.submit(len, "worker").result() == 6
        with pytest.raises(KeyboardInterrupt):
            executor.submit(attempts, [], JobLimits()).result()
