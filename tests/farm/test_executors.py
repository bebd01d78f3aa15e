"""Executors on clusters, beside those that only real clusters show (`test_clusters`)."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from typing import Any

import pytest

from tileir.farm.executors import DaskExecutor

PATIENCE = 5.0


class _Client:
    """A client of Dask, and its loop, which may lose its connection as it is given or asked for the first task."""

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
        asyncio.run(function(*arguments))

    async def gather(self, task: Future[int], asynchronous: bool) -> int:
        if self.lost == "as asked":
            raise OSError("the scheduler is gone")
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
