"""Cost of the sanitizer beside the plain interpreter and native code: processor time, and memory beside the arrays.

    python bench/sanitize.py [name ...]

All run the same launch in turn; the shortest of several counts. Results are checked first. Memory is the peak of what
Python and NumPy allocate while the sanitizer runs, the arrays not counted.
"""

from __future__ import annotations

import environment  # isort: skip  # noqa: F401

import sys
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import process_time

import numpy as np
from table import figure

import tileir
from tileir.examples.checks import EXAMPLES, largest_error

RUNS = 3
TIME_AIM, NATIVE_AIM, MEMORY_AIM = 3.0, 30.0, 4.0
SIZES: dict[str, dict[str, int]] = {
    "gemm_views": {"M": 1024, "N": 1024, "K": 1024},
    "gemm_kloop": {"M": 1024, "N": 1024, "K": 1024},
    "softmax": {"rows": 1024, "columns": 1000},
    "layer_norm": {"rows": 1024, "columns": 768},
    "attention": {"heads": 8, "length": 1024},
}
"""The examples measured, by name, at the sizes of the other benchmarks."""


@dataclass(frozen=True)
class Cost:
    """Seconds of the plain interpreter, of native code and the sanitizer; bytes of the arrays and of what it took."""

    plain: float
    native: float
    sanitized: float
    arrays: int
    peak: int


def cost(name: str, sizes: dict[str, int]) -> Cost:
    example = next(one for one in EXAMPLES if one.name == name).resized(**sizes)
    given = example.arguments(example.sizes, np.random.default_rng(0))
    answer = example.answer(given)
    kernel, grid = tileir.load(example.path)[example.kernel], example.grid(example.sizes)

    def plain() -> None:
        kernel.launch(grid, *given.values(), target="interp")

    def native() -> None:
        kernel.launch(grid, *given.values(), target="cpu")

    def sanitized() -> None:
        report = tileir.sanitize(kernel, grid, *given.values())
        assert not report.findings, str(report)

    for run in (plain, native, sanitized):
        run()
        assert largest_error(given, answer) <= example.tolerance, name
    times = [[_seconds(run) for run in (plain, native, sanitized)] for _ in range(RUNS)]
    arrays = sum(value.nbytes for value in given.values() if isinstance(value, np.ndarray))
    return Cost(*(min(column) for column in zip(*times)), arrays, _peak(sanitized))


def _seconds(run: Callable[[], None]) -> float:
    begin = process_time()
    run()
    return process_time() - begin


def _peak(run: Callable[[], None]) -> int:
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def main(names: Sequence[str]) -> int:
    print(
        "| kernel | interpreter | native | sanitizer | times the interpreter | times native | memory of arrays | met |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---|")
    print(f"| aim | | | | <= {TIME_AIM:g} | <= {NATIVE_AIM:g} | <= {MEMORY_AIM:g} | |")
    for name in names or SIZES:
        found = cost(name, SIZES[name])
        ratios = found.sanitized / found.plain, found.sanitized / found.native, found.peak / found.arrays
        met = all(ratio <= aim for ratio, aim in zip(ratios, (TIME_AIM, NATIVE_AIM, MEMORY_AIM)))
        seconds = " | ".join(f"{figure(value)} s" for value in (found.plain, found.native, found.sanitized))
        shown = " | ".join(f"{ratio:.2f}" for ratio in ratios)
        print(f"| {name} | {seconds} | {shown} | {'yes' if met else '**no**'} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
