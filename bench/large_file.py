"""Memory of a launch over workers on arrays in files that are larger than memory may be. Prints figures; 1 if too much.

    python bench/large_file.py --file-mib 20480 --within-mib 4096
    python bench/large_file.py --file-mib 20480 --within-mib 4096 --zarr

A softmax of the rows of one file into another. The figure is memory that belongs to no file (`RssAnon` and `RssShmem`
of Linux), of the launching process and all its workers together, looked at every 20 ms: the pages of files are the
system's to give back. The input has holes, read as zeros: numbers are written into parts of 1 MiB, spread over all of
it; these parts of the result are compared with NumPy's, and as many others with 1/1024.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from tileir.distributed import launch
from tileir.examples.checks import EXAMPLES
from tileir.farm.executors import processes
from tileir.runtime.loading import load

COLUMNS = 1024
PART = 256
"""Rows of a MiB."""
PARTS = 64
LOOK_SECONDS = 0.02


def own_memory(pid: int) -> int:
    """Bytes of a process that are no file's; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(("RssAnon", "RssShmem")))


class MemoryWatch:
    """While the body runs: the most that this process and its workers had at a time (`most`), and one of them had."""

    def __init__(self) -> None:
        self.most = self.largest = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self) -> None:
        while True:
            found = [own_memory(pid) for pid in (os.getpid(), *(one.pid for one in multiprocessing.active_children()))]
            self.most, self.largest = max(self.most, sum(found)), max(self.largest, *found)
            if self._done.wait(LOOK_SECONDS):
                return

    def __enter__(self) -> MemoryWatch:
        self._thread.start()
        return self

    def __exit__(self, *about: object) -> None:
        self._done.set()
        self._thread.join(timeout=60)


def places(rows: int) -> Iterator[int]:
    """The first rows of the parts that have numbers; the last part ends the file."""
    yield from np.unique(np.linspace(0, rows - PART, PARTS).astype(int) // PART * PART).tolist()


def numbers(first: int) -> np.ndarray:
    return np.random.default_rng(first).standard_normal((PART, COLUMNS), np.float32)


def made(path: str, rows: int, stored: bool) -> Any:
    """A file for an array, or a folder of chunks of 4 MiB for one of Zarr."""
    shape = rows, COLUMNS
    if stored:
        return import_module("zarr").open(path, mode="w", shape=shape, dtype="f4", chunks=(4 * PART, COLUMNS))
    return np.memmap(path, np.float32, "w+", shape=shape)


def require_right(y: Any) -> None:
    """Compare parts of the result with NumPy's. Raises AssertionError."""
    rows = y.shape[0]
    written = set(places(rows))
    for first in written:
        powers = np.exp(numbers(first).astype(np.float64))
        expected = powers / powers.sum(axis=1, keepdims=True)
        assert np.allclose(y[first : first + PART], expected, rtol=1e-5, atol=0), f"rows from {first} on"
        if first + PART < rows and first + PART not in written:
            assert np.allclose(y[first + PART : first + 2 * PART], 1 / COLUMNS, rtol=1e-5), f"rows behind {first}"


def measured(folder: str, mebibytes: int, workers: int, bands: int, stored: bool) -> MemoryWatch:
    found = next(one for one in EXAMPLES if one.name == "softmax")
    kernel, rows = load(found.path)[found.kernel], mebibytes * PART
    x, y = (made(f"{folder}/{name}", rows, stored) for name in "xy")
    for first in places(rows):
        x[first : first + PART] = numbers(first)
    if not stored:
        x.flush()
    with MemoryWatch() as watch, processes(workers).open() as pool:
        launch(kernel, rows, x, y, rows, COLUMNS, client=pool, bands=bands, threads=1)
    require_right(y)
    return watch


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file-mib", type=int, default=2048)
    parser.add_argument("--within-mib", type=int, default=4096)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--bands", type=int, default=16)
    parser.add_argument("--zarr", action="store_true", help="arrays of Zarr instead of two files")
    parser.add_argument("--folder", help="where the two files are made (default: the system's)")
    options = parser.parse_args()
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        watch = measured(folder, options.file_mib, options.workers, options.bands, options.zarr)
    most, largest = watch.most >> 20, watch.largest >> 20
    what, size = "Zarr array" if options.zarr else "file", f"{options.file_mib} MiB"
    print(f"softmax of a {what} of {size} into another, {options.workers} workers, {options.bands} bands")
    print(f"  memory that is no file's: {most} MiB at most in all processes together, {largest} MiB in one")
    print(f"  {time.perf_counter() - begin:.0f} s, with the files and the comparison")
    return int(watch.most > options.within_mib << 20)


if __name__ == "__main__":
    sys.exit(main())
