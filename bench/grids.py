"""Costs of a launch over workers of this machine beside one launch. Prints a table.

    python bench/grids.py --size 2048

The product is launched with two threads, and as two bands on processes of one thread each, including their start. Times
are processor times, as other processes disturb clocks.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time

import numpy as np

from tileir.distributed import launch
from tileir.examples.checks import EXAMPLES
from tileir.runtime.loading import load
from tileir.runtime.module import Kernel


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=2048)
    options = parser.parse_args()
    product(options.size)


if __name__ == "__main__":
    main()
