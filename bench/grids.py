"""Costs of a launch over workers of this machine: beside one launch, and in private memory. Prints a table.

    python bench/grids.py --size 2048 --file-mib 2048

The product is launched with two threads, and as two bands on processes of one thread each, the start of which counts;
processor times, as other processes disturb clocks. The softmax reads a file and writes another; what counts is the
memory that is not the files'.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from tileir.distributed import launch
from tileir.examples.checks import EXAMPLES
from tileir.farm.executors import processes
from tileir.runtime.loading import load
from tileir.runtime.module import Kernel

COLUMNS = 1024


def spent(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def example(name: str) -> tuple[Kernel, object]:
    found = next(one for one in EXAMPLES if one.name == name)
    return load(found.path)[found.kernel], found


def product(size: int) -> None:
    kernel, found = example("gemm_views")
    sizes = {"M": size, "N": size, "K": size}
    given = list(found.arguments(sizes, np.random.default_rng(1)).values())  # type: ignore[attr-defined]
    grid = found.grid(sizes)  # type: ignore[attr-defined]
    kernel.launch(grid, *given, threads=2)
    expected = given[2].copy()
    own, begin = spent(resource.RUSAGE_SELF), time.perf_counter()
    kernel.launch(grid, *given, threads=2)
    single, single_wall = spent(resource.RUSAGE_SELF) - own, time.perf_counter() - begin
    given[2][...] = 0
    own, children, begin = spent(resource.RUSAGE_SELF), spent(resource.RUSAGE_CHILDREN), time.perf_counter()
    launch(kernel, grid, *given, bands=2, threads=1)
    wall = time.perf_counter() - begin
    while multiprocessing.active_children():
        time.sleep(0.1)
    driver, there = spent(resource.RUSAGE_SELF) - own, spent(resource.RUSAGE_CHILDREN) - children
    assert given[2].tobytes() == expected.tobytes()
    print(f"product of {size} x {size}, f16: same bits")
    print(f"  one launch, two threads    {single:8.2f} s of processors, {single_wall:6.2f} s")
    print(f"  two workers, two bands     {driver + there:8.2f} s of processors ({driver:.2f} here), {wall:6.2f} s")


def private(pid: int) -> int:
    """MiB of a process that are no file's."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) // 1024


def softmax(mebibytes: int) -> None:
    kernel, _ = example("softmax")
    rows = (mebibytes << 20) // (4 * COLUMNS)
    with tempfile.TemporaryDirectory(dir=".") as folder, processes(2).open() as workers:
        x, y = (np.memmap(f"{folder}/{name}", np.float32, "w+", shape=(rows, COLUMNS)) for name in "xy")
        for at in range(0, rows, 1 << 14):
            x[at : at + (1 << 14)] = np.arange(COLUMNS)
        x.flush()
        most, done = 0, threading.Event()
        pids = [workers.submit(os.getpid).result() for _ in range(4)]

        def watch() -> None:
            nonlocal most
            while not done.wait(0.05):
                most = max(most, *(private(pid) for pid in set(pids)))

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        before = private(os.getpid())
        launch(kernel, rows, x, y, rows, COLUMNS, client=workers, bands=16, threads=1)
        done.set()
        after = private(os.getpid())
        sums = y[:: max(1, rows // 100)].sum(axis=1)
    assert np.allclose(sums, 1.0, atol=1e-4)
    print(f"softmax of a file of {mebibytes} MiB into another: a worker's own memory at most {most} MiB,")
    print(f"  the launching process {before} MiB before and {after} MiB after")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=2048)
    parser.add_argument("--file-mib", type=int, default=2048)
    options = parser.parse_args()
    product(options.size)
    softmax(options.file_mib)


if __name__ == "__main__":
    main()
