"""Cost of samples: a launch under the profiler beside the same launch without it, in time of the processor.

    python bench/profiling.py [name ...]

Both run in turn on one thread; the shortest of several counts. The code under samples says which lines it comes from,
the other is the usual one. Counting is no part of it: `tileir profile` counts in a run of its own.
"""

from __future__ import annotations

import environment  # isort: skip  # noqa: F401

import sys
from collections.abc import Callable, Sequence
from time import process_time

import numpy as np
from table import figure

import tileir
from tileir.cpu.run.profiling import Histogram, Sampler
from tileir.examples.checks import EXAMPLES
from tileir.runtime.module import bind, target_named
from tileir.runtime.options import LaunchOptions
from tileir.tools.profile.measure import ProfiledKernel

RUNS, SECONDS = 9, 0.1
AIM = 1.05
SIZES: dict[str, dict[str, int]] = {
    "vector_add": {"n": 1 << 22},
    "gemm_views": {"M": 1024, "N": 1024, "K": 1024},
    "softmax": {"rows": 1024, "columns": 1000},
    "layer_norm": {"rows": 1024, "columns": 768},
    "attention": {"heads": 8, "length": 1024},
}
"""The examples measured, by name, at the sizes of the other benchmarks."""


def cost(name: str, sizes: dict[str, int]) -> tuple[float, float]:
    """Seconds of a launch without samples and with them."""
    example = next(one for one in EXAMPLES if one.name == name).resized(**sizes)
    given = example.arguments(example.sizes, np.random.default_rng(0))
    kernel, grid = tileir.load(example.path)[example.kernel], (*example.grid(example.sizes), 1, 1)[:3]
    target, options = target_named("cpu"), LaunchOptions(threads=1)
    arguments = bind(kernel, list(given.values()), target)
    plain = target.prepare(kernel, True, options)
    profiled = ProfiledKernel(kernel)
    settings = profiled.timed.settings(options)
    sampler = Sampler(profiled.timed_program.base, Histogram(profiled.timed_program.map.size))

    def sampled() -> None:
        profiled.timed.run(grid, arguments, settings)

    times = []
    with profiled.watcher.sampling(sampler):
        for _ in range(RUNS):
            times.append([_seconds(run) for run in (lambda: plain(grid, arguments), sampled)])
    first, second = (min(column) for column in zip(*times))
    return first, second


def _seconds(run: Callable[[], None]) -> float:
    """Processor time of one run, from as many as take a while."""
    run()
    begin = now = process_time()
    count = 0
    while now - begin < SECONDS:
        run()
        count += 1
        now = process_time()
    return (now - begin) / count


def main(names: Sequence[str]) -> int:
    print("| kernel | launch | under samples | times | aim | met |")
    print("|---|---:|---:|---:|---|---|")
    for name in names or SIZES:
        plain, sampled = cost(name, SIZES[name])
        met = "yes" if sampled / plain <= AIM else "**no**"
        seconds = " | ".join(f"{figure(1e3 * value)} ms" for value in (plain, sampled))
        print(f"| {name} | {seconds} | {sampled / plain:.3f} | <= {AIM:g} | {met} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
