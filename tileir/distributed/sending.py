"""Send bands to workers: each with the pieces of arrays that it touches."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from tileir.distributed.array_kinds import is_dask, is_stored, reserve
from tileir.distributed.band import BandResult, without_parts
from tileir.distributed.footprints import BandPiece, pieces_of
from tileir.distributed.plan import BandPlan
from tileir.farm.executors import (
    RayExecutor,
    asked,
    handed_over,
    processes,
    thread_count,
    warm_up,
)
from tileir.host.limits import processors

LOSSES = 20
"""Losses of workers, or of the scheduler's state, before a launch is given up."""
LONGEST_WAIT = 2.0
"""Seconds between two tries, at most."""


_USABLE = 0.7
"""The part of a worker's memory that bands and the worker may take; Dask stops a worker at 80 %, and ends it at 95."""


@dataclass(frozen=True)
class Room:
    """Bytes of memory that a band may take on a worker, None for no bound, and the reason."""

    bytes: int | None
    why: str = ""


class Sender:
    """Sends work to an executor that ``opened`` makes, again after one has broken down.

    `near`: its workers are processes of this machine.
    """

    lost: tuple[type[BaseException], ...] = (BrokenExecutor,)
    """The errors by which workers are lost."""

    def __init__(self, opened: Callable[[], Executor], count: int, near: bool = False) -> None:
        self.count = count
        self.near = near
        self._opened = opened

    def room(self) -> Room:
        """Return the memory that a band may take on a worker."""
        executor = self._opened()
        if not isinstance(executor, RayExecutor):
            return Room(None)
        return _room([(executor.memory, executor.submit(taken).result())])

    def run(
        self, function: Callable[..., BandResult], tasks: Sequence[tuple[Any, list[Any]]], staying: frozenset[int]
    ) -> tuple[list[Any], list[BandResult]]:
        """Return the futures of the tasks, and their results; those whose workers are lost are run again.

        ``staying``: the parameters whose bytes stay on the workers of Dask.
        """
        futures: dict[int, Any] = {}
        for loss in count():
            try:
                submit = self._submitter()
                for at, (work, fetched) in enumerate(tasks):
                    if at not in futures:
                        futures[at] = submit(function, work, *fetched)
                ordered = [futures[at] for at in range(len(tasks))]
                return ordered, [one.result() for one in self._fetched(ordered, staying)]
            except self.lost:
                if loss == LOSSES:
                    raise
                time.sleep(min(0.1 * 2**loss, LONGEST_WAIT))
                futures = {at: one for at, one in futures.items() if not self._has_failed(one)}
        raise AssertionError

    def _submitter(self) -> Callable[..., Any]:
        return self._opened().submit

    def _fetched(self, futures: Sequence[Any], staying: frozenset[int]) -> Sequence[Any]:
        """Return the futures whose results travel to this process."""
        return futures

    def _has_failed(self, future: Any) -> bool:
        return not future.done() or future.cancelled() or future.exception() is not None


class DaskSender(Sender):
    """Sends work to the workers of a Dask client; results may stay there."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.count = thread_count(client)
        self.near = False
        distributed = import_module("distributed")
        self.lost = (distributed.comm.CommClosedError, CancelledError, asyncio.CancelledError)
        self._killed: type[Exception] = distributed.KilledWorker

    def room(self) -> Room:
        """Return the memory that a band may take; a worker that ended while it was asked counts as one that is new."""

        def ask() -> tuple[dict[str, Any], dict[str, int], dict[str, Any]]:
            workers = self.client.scheduler_info(n_workers=-1)["workers"]
            limits = {
                at: int(one["memory_limit"]) // one["nthreads"] for at, one in workers.items() if one["memory_limit"]
            }
            return workers, limits, self.client.run(taken, workers=[*limits], on_error="return") if limits else {}

        workers, limits, found = asked(self.client, ask)
        for error in found.values():
            if isinstance(error, Exception) and not isinstance(error, (*self.lost, OSError)):
                raise error
        sizes = {at: 0 if isinstance(size, Exception) else size for at, size in found.items()}
        return _room([(limits[at], size // workers[at]["nthreads"]) for at, size in sizes.items()])

    def run(
        self, function: Callable[..., BandResult], tasks: Sequence[tuple[Any, list[Any]]], staying: frozenset[int]
    ) -> tuple[list[Any], list[BandResult]]:
        try:
            return super().run(function, tasks, staying)
        except self._killed as error:
            raise RuntimeError(f"a band is given up: {self._restarts()}: {error}") from None

    def _restarts(self) -> str:
        """Return what is known of workers that had too much memory."""
        events = self.client.get_events("worker-restart-memory")
        sizes = [event["rss"] for _, event in events]
        most = f", with up to {max(sizes)} bytes" if sizes else ""
        return f"workers that ran it ended; {len(sizes)} had more memory than their limit{most}"

    def submitted(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the future of a call; arrays of Dask are computed for it, also when all that workers held is gone."""
        client = self.client

        def submit() -> Any:
            given = [client.compute(one) if is_dask(one) else one for one in arguments]
            return client.submit(function, *given, pure=False)

        return handed_over(client, submit)

    def _submitter(self) -> Callable[..., Any]:
        return self.submitted

    def _fetched(self, futures: Sequence[Any], staying: frozenset[int]) -> Sequence[Any]:
        return [self.submitted(without_parts, future, staying) for future in futures] if staying else futures

    def _has_failed(self, future: Any) -> bool:
        return future.status in ("error", "cancelled", "lost")


def taken() -> int:
    """In a worker: return the memory that it has before it gets a band, as Dask counts it, files with it."""
    warm_up()
    return int(import_module("psutil").Process().memory_info().rss)


def _room(workers: Sequence[tuple[int, int]]) -> Room:
    """Return the least room that workers have, given the limit of each thread and what is taken of it."""
    if not workers:
        return Room(None)
    room, limit, size = min((int(_USABLE * limit) - size, limit, size) for limit, size in workers)
    why = (
        f": {_USABLE * 100:.0f} % of the {limit} that each thread of a worker has, less the {size} that it takes itself"
    )
    return Room(max(0, room), why)


@contextmanager
def sender_of(client: Any) -> Iterator[Sender]:
    """Yield the workers that a caller means: a Dask client, an executor, or processes of this machine."""
    if client is not None and type(client).__module__.startswith("distributed"):
        yield DaskSender(client)
    elif isinstance(client, Executor):
        yield Sender(lambda: client, client.count if isinstance(client, RayExecutor) else processors())
    elif client is None:
        workers, opened = processes(), list[Executor]()

        def open_() -> Executor:
            opened.append(workers.open())
            return opened[-1]

        finished = False
        try:
            yield Sender(open_, workers.count, near=True)
            finished = True
        finally:
            for executor in opened:
                # Python may complain at its exit of workers that are just ending: only an error does not wait for them.
                executor.shutdown(wait=finished, cancel_futures=True)
    else:
        raise TypeError(f"client: expected a Client of Dask, an Executor or None, got {type(client).__name__}")


@dataclass(frozen=True)
class SentArrays:
    """The `arrays` of a launch that has been planned, and the `names` of all parameters, by position.

    `shared` are arrays in memory that workers of this machine have as files.
    """

    plan: BandPlan
    arrays: dict[int, Any]
    names: Sequence[str]
    sender: Sender
    shared: dict[int, np.memmap]

    @cached_property
    def pieces(self) -> dict[int, list[BandPiece]]:
        """Return the parts of Dask and Zarr arrays that each band has."""
        found = {at: value for at, value in self.arrays.items() if is_dask(value) or is_stored(value)}
        return {at: pieces_of(value, at, self.plan.bands) for at, value in found.items()}


# ---------------------------------------------------------------- arrays in shared memory


PLACE = Path("/dev/shm")
"""The file system in memory that Linux has."""
LEAST_BYTES = 1 << 20
"""Smaller arrays travel faster than a file is made."""


@contextmanager
def shared_files(arrays: Mapping[int, np.ndarray]) -> Iterator[dict[int, np.memmap]]:
    """Yield files with the content of the large ones of `arrays`.

    None where there is no place in memory for all of them, beside as much again.
    """
    large = {at: array for at, array in arrays.items() if array.nbytes >= LEAST_BYTES}
    if not large or not _has_room(sum(array.nbytes for array in large.values())):
        yield {}
        return
    with tempfile.TemporaryDirectory(prefix="tileir-", dir=PLACE) as folder:
        yield _made(Path(folder), large)


def _made(folder: Path, arrays: Mapping[int, np.ndarray]) -> dict[int, np.memmap]:
    """Return the files in a folder; none if others have taken the room meanwhile."""
    files = {}
    try:
        for at, array in arrays.items():
            files[at] = np.memmap(folder / str(at), array.dtype, "w+", shape=array.shape)
            reserve(folder / str(at), 0, array.nbytes)
            files[at][...] = array
    except OSError:
        return {}
    return files


def _has_room(size: int) -> bool:
    try:
        return os.access(PLACE, os.W_OK) and shutil.disk_usage(PLACE).free > 2 * size
    except OSError:
        return False
