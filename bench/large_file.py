"""Memory of a launch over workers on arrays in files that are larger than memory may be. Prints figures; 1 if too much.

    python bench/large_file.py --file-mib 20480 --within-mib 4096
    python bench/large_file.py --file-mib 20480 --within-mib 1024 --on dask --product --zarr --kill

A softmax of the rows of one file into another; with `--product` the product of a large matrix of f16 in a file with a
small one. Memory is what belongs to no file (`RssAnon` and `RssShmem` of Linux), of all processes together, and all
pages of the largest process, as Dask counts them; looked at every 20 ms. `--within-mib` bounds the former, and on Dask
and Ray it is the limit of a worker, and bounds the latter. `--kill` ends a worker meanwhile, by SIGKILL. The input has
holes, read as zeros: numbers are written into parts, spread over all of it; these parts of the result are compared with
NumPy's, and as many others with what zeros give.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from tileir.distributed import launch
from tileir.examples.checks import EXAMPLES
from tileir.farm.executors import opened, processes
from tileir.runtime.loading import load
from tileir.runtime.module import Kernel

COLUMNS = 1024
PART = 256
"""Rows of a MiB of f32."""
PARTS = 64
"""Parts that have numbers."""
LOOK_SECONDS = 0.02
KILL_SECONDS = 5.0


def memory(process: psutil.Process) -> tuple[int, int]:
    """Bytes of a process that are no file's, and all; 0 if it has ended."""
    try:
        found = process.memory_info()
    except psutil.Error:
        return 0, 0
    lines = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8").splitlines() if found.rss else []
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(("RssAnon", "RssShmem"))), found.rss


class MemoryWatch:
    """While the body runs: the most that this process and its workers had at a time that is no file's (`most`), and one
    worker had of all (`largest`)."""

    def __init__(self, kill_after: float | None, tasks: str) -> None:
        self._tasks = tasks
        """How the names of processes that may be killed begin."""
        self.most = self.largest = self.killed = 0
        self._kill_at = None if kill_after is None else time.monotonic() + kill_after
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self) -> None:
        own = psutil.Process()
        while not self._done.wait(LOOK_SECONDS):
            children = own.children(recursive=True)
            found = {child: memory(child) for child in children}
            self.most = max(self.most, memory(own)[0] + sum(anonymous for anonymous, _ in found.values()))
            self.largest = max(self.largest, *(size for _, size in found.values()), 0)
            if self._kill_at is not None and time.monotonic() > self._kill_at:
                tasks = [child for child in found if child.name().startswith(self._tasks)]
                if tasks:
                    max(tasks, key=lambda child: found[child][1]).kill()
                    self.killed, self._kill_at = self.killed + 1, None

    def __enter__(self) -> MemoryWatch:
        self._thread.start()
        return self

    def __exit__(self, *about: object) -> None:
        self._done.set()
        self._thread.join(timeout=60)


def places(rows: int, part: int) -> list[int]:
    """The first rows of the parts that have numbers; the last part ends the file."""
    return [*np.unique(np.linspace(0, rows - part, PARTS).astype(int) // part * part).tolist()]


def numbers(first: int, shape: tuple[int, int], dtype: type) -> np.ndarray:
    return np.random.default_rng(first).standard_normal(shape, np.float32).astype(dtype)


def made(path: str, shape: tuple[int, int], dtype: type, stored: bool) -> Any:
    """A file for an array, or a folder of chunks of about 4 MiB for one of Zarr."""
    if stored:
        rows = (4 << 20) // (shape[1] * np.dtype(dtype).itemsize) // 64 * 64
        return import_module("zarr").open(path, mode="w", shape=shape, dtype=dtype, chunks=(rows, shape[1]))
    return np.memmap(path, dtype, "w+", shape=shape)


@dataclass
class Launch:
    """A kernel, its grid and arguments, the array that it reads and the one that it writes, and what a part becomes."""

    kernel: Kernel
    grid: Any
    arguments: list[Any]
    x: Any
    y: Any
    becomes: Callable[[np.ndarray], np.ndarray]
    tolerance: float


def softmax(folder: str, mebibytes: int, stored: bool) -> Launch:
    kernel, rows = example("softmax"), mebibytes * PART
    x, y = (made(f"{folder}/{name}", (rows, COLUMNS), np.float32, stored) for name in "xy")

    def becomes(part: np.ndarray) -> np.ndarray:
        powers = np.exp(part.astype(np.float64))
        return powers / powers.sum(axis=1, keepdims=True)

    return Launch(kernel, rows, [x, y, rows, COLUMNS], x, y, becomes, 1e-5)


def product(folder: str, mebibytes: int, stored: bool) -> Launch:
    found = next(one for one in EXAMPLES if one.name == "gemm_views")
    rows, inner, columns = (mebibytes << 20) // (2 * 4096), 4096, 64
    x = made(f"{folder}/x", (rows, inner), np.float16, stored)
    y = made(f"{folder}/y", (rows, columns), np.float32, stored)
    small = numbers(0, (columns, inner), np.float16)
    grid = found.grid({"M": rows, "N": columns, "K": inner})

    def becomes(part: np.ndarray) -> np.ndarray:
        return part.astype(np.float32) @ small.astype(np.float32).T

    arguments = [x, small, y, rows, columns, inner, inner, inner, columns]
    return Launch(example("gemm_views"), grid, arguments, x, y, becomes, 1e-2)


def example(name: str) -> Kernel:
    found = next(one for one in EXAMPLES if one.name == name)
    return load(found.path)[found.kernel]


@contextmanager
def clients(options: argparse.Namespace) -> Iterator[Any]:
    """Yield workers, each with the limit on clusters."""
    limit, count = options.within_mib << 20, options.workers
    if options.on == "dask":
        distributed = import_module("distributed")
        given = {"threads_per_worker": 1, "memory_limit": limit, "dashboard_address": None, "silence_logs": 50}
        with distributed.LocalCluster(n_workers=count, **given) as cluster, distributed.Client(cluster) as client:
            yield client
            assert not client.get_events("worker-restart-memory"), "a worker had too much memory"
    elif options.on == "ray":
        ray = import_module("ray")
        ray.init(num_cpus=count, _memory=count * limit, object_store_memory=256 << 20, include_dashboard=False)
        with opened("ray", count) as workers:
            yield workers.open()
        ray.shutdown()
    else:
        with processes(count).open() as pool:
            yield pool


def _watch(options: argparse.Namespace) -> MemoryWatch:
    return MemoryWatch(KILL_SECONDS if options.kill else None, "ray::_called" if options.on == "ray" else "")


def measured(folder: str, options: argparse.Namespace) -> tuple[MemoryWatch, float]:
    """The memory that a launch took, and its seconds."""
    given = (product if options.product else softmax)(folder, options.file_mib, options.zarr)
    rows = given.x.shape[0]
    part = rows * PART // (options.file_mib * PART)
    written = places(rows, part)
    for first in written:
        given.x[first : first + part] = numbers(first, (part, given.x.shape[1]), given.x.dtype)
    if not options.zarr:
        given.x.flush()
    with clients(options) as client, _watch(options) as watch:
        begin = time.perf_counter()
        launch(given.kernel, given.grid, *given.arguments, client=client, bands=options.bands, threads=1)
        seconds = time.perf_counter() - begin
    for first in {*written, *(first + part for first in written[:-1])}:
        content = np.asarray(given.x[first : first + part])
        expected, found = given.becomes(content), given.y[first : first + part]
        least = given.tolerance * float(abs(expected).max()) / 10
        assert np.allclose(found, expected, rtol=given.tolerance, atol=least), f"rows from {first} on"
    return watch, seconds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file-mib", type=int, default=2048)
    parser.add_argument("--within-mib", type=int, default=4096)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--bands", type=int, default=16)
    parser.add_argument("--zarr", action="store_true", help="arrays of Zarr instead of two files")
    parser.add_argument("--product", action="store_true", help="a product instead of a softmax")
    parser.add_argument("--on", choices=("processes", "dask", "ray"), default="processes")
    parser.add_argument("--kill", action="store_true", help=f"end a worker after {KILL_SECONDS:g} s")
    parser.add_argument("--folder", help="where the files are made (default: the system's)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        watch, seconds = measured(folder, options)
    bounded = watch.most if options.on == "processes" else watch.largest
    what, kernel = "Zarr array" if options.zarr else "file", "product" if options.product else "softmax"
    print(f"{kernel} of a {what} of {options.file_mib} MiB")
    print(f"  {options.workers} workers on {options.on}, {watch.killed} killed")
    print(f"  memory that is no file's: {watch.most >> 20} MiB at most in all processes together")
    print(f"  memory with mapped files: {watch.largest >> 20} MiB at most in one process")
    print(f"  {seconds:.0f} s")
    return int(bounded > options.within_mib << 20)


if __name__ == "__main__":
    sys.exit(main())
