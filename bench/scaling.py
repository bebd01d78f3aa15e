"""Tuning, fuzzing, a farm and a launch over workers with one worker and with two. Prints a table.

    python bench/scaling.py

Each run is a process of its own, from its start to its end, with its workers in it and a new cache; a launch has one
thread. Runs with one worker and with two take turns, and the least of each counts. Processor seconds say whether two
workers have more to do than one; seconds of the clock mean something on a quiet machine only, so the load is printed.
Tuning times configurations one after another, whatever the number of workers.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEMPLATE = """cuda_tile.module @m { entry @k(%x: tile<ptr<f32>>, %n: tile<i32>) {
  %t, %0, %1 = get_tile_block_id : tile<i32>
  %v = make_tensor_view %x, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
  %p = make_partition_view %v : partition_view<tile=({{T}}), tensor_view<?xf32, strides=[1]>>
  %a, %b = load_view_tko weak %p[%t]
    : partition_view<tile=({{T}}), tensor_view<?xf32, strides=[1]>>, tile<i32> -> tile<{{T}}xf32>, token
  %e = exp %a : tile<{{T}}xf32>
  %s = store_view_tko weak %e, %p[%t] token = %b
    : tile<{{T}}xf32>, partition_view<tile=({{T}}), tensor_view<?xf32, strides=[1]>>, tile<i32> -> token
} }
"""
LAUNCH = """
import sys
import numpy as np
from tileir.distributed import launch
from tileir.examples.checks import EXAMPLES
from tileir.farm.executors import processes
from tileir.runtime.loading import load

size, workers, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
found = next(one for one in EXAMPLES if one.name == "gemm_views")
sizes = {"M": size, "N": size, "K": size}
given = list(found.arguments(sizes, np.random.default_rng(1)).values())
for at in range(3):
    array = given[at]
    given[at] = np.memmap(f"{folder}/{at}", array.dtype, "w+", shape=array.shape)
    given[at][...] = array
with processes(workers).open() as pool:
    launch(load(found.path)[found.kernel], found.grid(sizes), *given, client=pool, bands=8, threads=1)
"""


def commands(folder: Path, scale: int) -> dict[str, list[str]]:
    """The command line of each row, which the number of workers follows."""
    tool = [sys.executable, "-m", "tileir"]
    program = str(ROOT / "tileir/examples/gemm_views.mlir")
    size = "1024"
    words = [f"f16[{size},{size}]:randn", f"f16[{size},{size}]:randn", f"f32[{size},{size}]", *[size] * 6]
    one = {"program": program, "grid": [16, 16], "arguments": words, "options": {"threads": 1}}
    lines = [json.dumps({**one, "seed": seed}) for seed in range(100 * scale)]
    (folder / "jobs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (folder / "exp.mlir.in").write_text(TEMPLATE, encoding="utf-8")
    tiles = ",".join(str(1 << power) for power in range(2, 10))
    return {
        "farm": [*tool, "farm", "run", "STORE", str(folder / "jobs.jsonl"), "--workers"],
        "fuzz": [*tool, "fuzz", "--source", "valid", "--engines", "interp-O2,cpu", "--count", str(20 * scale),
                 "--workers"],
        "tune": [*tool, "tune", str(folder / "exp.mlir.in"), "--space", f"T={tiles}", "--optimise", "0,1,2", "--grid",
                 "{{(n + T - 1) // T}}", "x=f32[4096]:randn", "n=4096", "--seconds", "0.01", "--workers"],
        "distributed": [sys.executable, "-c", LAUNCH, str(2048 * scale)],
    }  # fmt: skip


def measured(command: list[str], workers: int) -> tuple[float, float]:
    """Run a command; gives seconds of the clock and of processors."""
    with tempfile.TemporaryDirectory() as folder:
        words = [f"{folder}/store.db" if word == "STORE" else word for word in command]
        begin = time.perf_counter()
        process = subprocess.Popen([*words, str(workers), *([folder] if "-c" in words else [])],
                                   cwd=folder, stdout=subprocess.DEVNULL,
                                   env={**os.environ, "TILEIR_CACHE_DIR": folder})  # fmt: skip
        _, status, used = os.wait4(process.pid, 0)
        assert os.waitstatus_to_exitcode(status) == 0, words
        return time.perf_counter() - begin, used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=int, default=1, help="how many times as much work")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    print("| | seconds with one worker | with two | one / two | processor seconds with one | with two | load |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, command in commands(Path(folder), options.scale).items():
            runs = [(measured(command, 1), measured(command, 2)) for _ in range(options.repeat)]
            (wall, spent), (both, together) = ([min(one) for one in zip(*each)] for each in zip(*runs))
            load = os.getloadavg()[0]
            print(
                f"| {name} | {wall:.1f} | {both:.1f} | {wall / both:.2f} | {spent:.1f} | {together:.1f} | {load:.0f} |"
            )


if __name__ == "__main__":
    main()
