"""Executors on clusters, beside those that only real clusters show (`test_clusters`)."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

from tileir.farm.executors import DaskExecutor


class _Client:
    """A client of Dask that loses its connection while it is given the first task."""

    def __init__(self) -> None:
        self.status, self.scheduler_comm, self.given = "running", object(), list[Future[int]]()

    def get_executor(self, pure: bool) -> _Client:
        return self

    def submit(self, function: Any, *arguments: Any) -> Future[int]:
        future: Future[int] = Future()
        self.given.append(future)
        if len(self.given) == 1:
            self.scheduler_comm = object()
        else:
            future.set_result(function(*arguments))
        return future

    def sync(self, function: Any) -> None:
        function().close()


def test_a_task_that_is_given_as_the_connection_is_lost_is_given_again() -> None:
    client = _Client()
    assert DaskExecutor(client).submit(pow, 3, 2).result(timeout=5) == 9
    first, second = client.given
    assert first.cancelled() and second.done()
