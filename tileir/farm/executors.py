"""The workers of a farm: processes of this machine, a Dask cluster, a Ray cluster."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, TypeVar
from weakref import WeakSet

from tileir.farm import isolation
from tileir.farm.isolation import Given
from tileir.farm.job import Attempt, JobLimits
from tileir.host.child import watch_parent
from tileir.host.limits import processors
from tileir.ir.usage import UsageError, pip_install

_T = TypeVar("_T")

PLACES = "processes, dask, dask:ADDRESS, ray or ray:ADDRESS"
RETURN_SECONDS = 120.0
"""Seconds that a scheduler may be away."""


@dataclass(frozen=True)
class Workers:
    """Workers to give jobs to: `open` makes an executor, again if one has broken down."""

    open: Callable[[], Executor]
    count: int
    name: str


def processes(count: int | None = None) -> Workers:
    """Return `count` processes of this machine, by default one for each processor."""
    number = count or processors()

    def start() -> Executor:
        context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
        return ProcessPoolExecutor(number, context, initializer=_begin, initargs=(os.getpid(),))

    return Workers(start, number, f"{number} processes of this machine")


def _begin(parent: int) -> None:
    """Prepare a worker: end with the driver, leave interrupts of a terminal to it, and have ready what most jobs
    use."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _left_to_driver)
    watch_parent(parent)
    warm_up()


def _left_to_driver(number: int, frame: object) -> None:
    """Begin no more jobs: an interrupt of a terminal reaches the driver too, which ends this process."""
    signal.signal(signal.SIGINT, _interrupted)


def _interrupted(number: int, frame: object) -> None:
    """Ignore a further interrupt."""


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let an interrupt end the jobs of a worker, and begin none after one."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is _interrupted:
        raise KeyboardInterrupt
    if handler is not _left_to_driver:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        handler = _interrupted
        raise
    finally:
        signal.signal(signal.SIGINT, handler)


@cache
def warm_up() -> None:
    """Import, and launch once, which makes ready all that a launch needs: jobs run in copies of this process."""
    for name in ("numpy", "ml_dtypes", "tileir.runtime.interpreter", "tileir.runtime.native"):
        import_module(name)
    from tileir.farm.launching import launch_job, launched
    from tileir.runtime.loading import parse

    job = launch_job(parse("entry @nothing() { }"), {"grid": 1, "options": {"threads": 1}})
    launched({**job.spec}, job.content)


def attempts(jobs: list[Given], limits: JobLimits) -> list[Attempt]:
    """Attempt jobs in a worker that has been warmed up, or is now."""
    warm_up()
    with _interruptible():
        return isolation.attempts(jobs, limits)


@contextmanager
def opened(place: str, count: int | None = None) -> Iterator[Workers]:
    """Yield the workers at a place, one of `PLACES`. Raises UsageError if there are none."""
    what, _, address = place.partition(":")
    if what == "processes" and not address:
        yield processes(count)
    elif what == "dask":
        with _dask(address, count) as workers:
            yield workers
    elif what == "ray":
        with _ray(address, count) as workers:
            yield workers
    else:
        raise UsageError(f"no workers '{place}': expected {PLACES}")


# ---------------------------------------------------------------- Dask


@contextmanager
def _dask(address: str, count: int | None) -> Iterator[Workers]:
    """Yield the workers of a Dask scheduler; without an address, a cluster of processes of this machine."""
    distributed = _imported("distributed", "dask")
    try:
        client = distributed.Client(
            **{"address": address}
            if address
            else {"n_workers": count or processors(), "threads_per_worker": 1, "dashboard_address": None}
        )
    except OSError as error:
        raise UsageError(f"no Dask scheduler at '{address}': {error}") from None
    with client:
        yield of_client(client)


def of_client(client: Any) -> Workers:
    """Return the workers of a Dask client."""
    return Workers(lambda: DaskExecutor(client), thread_count(client), f"Dask at {client.scheduler.address}")


class DaskExecutor(Executor):
    """Tasks of a Dask cluster as an executor, which waits for a scheduler that is started again.

    Dask's own leaves a future without an end where the scheduler goes away as it is asked for a result.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._futures: WeakSet[Future[Any]] = WeakSet()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        # A job is pure: it may be run again by the scheduler, and gives the same answer.
        task = handed_over(self._client, lambda: self._client.submit(fn, *args, pure=False, **kwargs))
        future: Future[Any] = Future()
        future.add_done_callback(lambda done: task.cancel() if done.cancelled() else None)
        self._futures.add(future)
        self._client.loop.add_callback(self._settle, task, future)
        return future

    async def _settle(self, task: Any, future: Future[Any]) -> None:
        """Set a future to the result of its task, or to the error of fetching it."""
        try:
            result = await self._client.gather(task, asynchronous=True)
        except Exception as error:
            if future.set_running_or_notify_cancel():
                future.set_exception(error)
        except BaseException:  # Dask ends its loop
            future.cancel()
            future.set_running_or_notify_cancel()
            raise
        else:
            if future.set_running_or_notify_cancel():
                future.set_result(result)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        futures = list(self._futures)
        if cancel_futures:
            for future in futures:
                future.cancel()
        if wait:
            wait_for([future for future in futures if not future.cancelled()])


def handed_over(client: Any, submit: Callable[[], Any]) -> Any:
    """Return the future of a task that `submit` gives to a scheduler, to another one if the connection was lost
    meanwhile.

    A client cancels the tasks that it knows of when it loses the connection. One that is made just then would have no
    end: whether it was is known when all that the client's loop had to do has been done.
    """
    while True:
        await_scheduler(client)
        connection, future = client.scheduler_comm, submit()
        client.sync(_nothing)
        if client.status == "running" and client.scheduler_comm is connection:
            return future
        future.cancel()


async def _nothing() -> None:
    pass


def thread_count(client: Any) -> int:
    """Return the threads of all workers of a Dask client, 1 if there are none yet."""
    threads: dict[str, int] = asked(client, client.nthreads)
    return max(1, sum(threads.values()))


def asked(client: Any, question: Callable[[], _T]) -> _T:
    """Return what a Dask client answers; it is asked again if the scheduler ends meanwhile.

    Raises UsageError if the scheduler does not come back.
    """
    closed, end = import_module("distributed").comm.CommClosedError, time.monotonic() + RETURN_SECONDS
    while True:
        await_scheduler(client)
        try:
            return question()
        except closed:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def await_scheduler(client: Any) -> None:
    """Wait while a client of Dask connects again: it forgets tasks that it is given as it loses the connection.

    Raises UsageError if it has given up, or does not get a connection within `RETURN_SECONDS`.
    """
    end = time.monotonic() + RETURN_SECONDS
    while client.status != "running":
        if client.status == "closed" or time.monotonic() > end:
            raise UsageError("the connection to the Dask scheduler is lost, and there is no new one")
        time.sleep(0.05)


# ---------------------------------------------------------------- Ray


@contextmanager
def _ray(address: str, count: int | None) -> Iterator[Workers]:
    """Yield the workers of a Ray cluster; without an address, one of processes of this machine."""
    ray = _imported("ray", "ray")
    started = not ray.is_initialized()
    if started:
        given = {"address": address} if address else {"num_cpus": count or processors(), "include_dashboard": False}
        try:
            ray.init(log_to_driver=False, configure_logging=False, **given)
        except (ConnectionError, ValueError) as error:
            raise UsageError(f"no Ray cluster at '{address}': {error}") from None
    try:
        executor = RayExecutor(ray)
        yield Workers(lambda: executor, executor.count, "Ray")
    finally:
        if started:
            ray.shutdown()


class RayExecutor(Executor):
    """Tasks of a Ray cluster as an executor. Ray itself runs a task again whose worker died, three times.

    It has `count` processors, with `memory` for each where they have the least.
    """

    def __init__(self, ray: Any) -> None:
        nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        working = [node for node in nodes if node.get("CPU")]
        self.count = int(sum(node["CPU"] for node in working)) or 1
        self.memory = min((int(node.get("memory", 0) / node["CPU"]) for node in working), default=0)
        self._called = ray.remote(_called)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = self._called.remote(fn, args, kwargs).future()
        return future


def _called(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> object:
    return function(*args, **kwargs)


def _imported(module: str, extra: str) -> Any:
    """Import a module. Raises UsageError with the extra that brings it if it is missing."""
    try:
        return import_module(module)
    except ImportError:
        raise UsageError(f"needs {module}: {pip_install(extra)}") from None
