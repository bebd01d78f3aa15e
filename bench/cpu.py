"""The native target beside NumPy and torch, on the same arrays with the same number of threads.

    python bench/cpu.py [name ...]

Every result is checked before anything is timed. A row whose kernel has no native code says so.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from time import perf_counter

from cases import CASES, Action, Case, gemm_f32, launcher  # isort: skip

import numpy as np
from table import Row, Skipped, in_turn, markdown

import tileir

RUNS = 7
COLD_AIM, CACHED_AIM, LAUNCH_AIM = 0.5, 0.02, 10e-6
SCALING_AIM = 1.8


def compared(case: Case) -> list[Row]:
    launch = launcher(case)
    launch()
    case.check()
    rows = []
    for peer, action in case.peers.items():
        mine, theirs = in_turn(launch, action, runs=RUNS)
        rows.append(_row(case.name, mine, peer, theirs, case.aim))
    return rows


def _row(name: str, mine: float, peer: str, theirs: float, aim: float) -> Row:
    return Row(name, "ms", mine * 1e3, peer, theirs * 1e3, f">= {aim:g}x", theirs >= aim * mine)


def scaling() -> list[Row]:
    case = gemm_f32()
    two, one = in_turn(launcher(case, threads=2), launcher(case, threads=1), runs=RUNS)
    return [_row("GEMM f32 2048, 2 threads", two, "1 thread", one, SCALING_AIM)]


EMPTY = "entry @empty() { return }"
TAKES = "entry @takes(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %n: tile<i32>) { return }"


def launches() -> list[Row]:
    """Cost of a launch that does nothing."""
    array = np.zeros(16, np.float32)
    rows = []
    for name, text, arguments in (("no arguments", EMPTY, ()), ("two arrays, a number", TAKES, (array, array, 3))):
        (kernel,) = tileir.parse(text).kernels.values()
        seconds = _shortest(lambda kernel=kernel, arguments=arguments: kernel.launch(1, *arguments, target="cpu"))
        aim = f"<= {LAUNCH_AIM * 1e6:g} us"
        rows.append(Row(f"empty launch, {name}", "us", seconds * 1e6, "", None, aim, seconds <= LAUNCH_AIM))
    return rows


def _shortest(action: Action, batches: int = 100, size: int = 200) -> float:
    """Seconds that one of many calls takes, in the best batch: what else the machine does only adds."""
    return min(_batch(action, size) for _ in range(batches))


def _batch(action: Action, size: int) -> float:
    begin = perf_counter()
    for _ in range(size):
        action()
    return (perf_counter() - begin) / size


def compiling(cases: Sequence[Case]) -> list[Row]:
    """Lowering and compiling a kernel, and loading it again from the cache."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TILEIR_CACHE_DIR"] = folder
        for case in cases:
            cold, cached = _prepared(case), min(_prepared(case) for _ in range(3))
            rows.append(_limit(f"{case.name}: cold compile", cold, COLD_AIM))
            rows.append(_limit(f"{case.name}: from the cache", cached, CACHED_AIM))
    return rows


def _prepared(case: Case) -> float:
    from tileir.runtime.native import program_of

    kernel = tileir.load(case.path)[case.kernel]
    begin = perf_counter()
    program_of(kernel)
    return perf_counter() - begin


def _limit(name: str, seconds: float, aim: float) -> Row:
    return Row(name, "ms", seconds * 1e3, "", None, f"<= {aim * 1e3:g} ms", seconds <= aim)


def _measured(make: Callable[[], Case]) -> Callable[[], list[Row]]:
    return lambda: compared(make())


def _compiling() -> list[Row]:
    return compiling([make() for make in CASES])


MEASUREMENTS: dict[str, Callable[[], list[Row]]] = {
    **{make.__name__: _measured(make) for make in CASES},
    "scaling": scaling,
    "launches": launches,
    "compiling": _compiling,
}


def main(names: Sequence[str]) -> int:
    rows: list[Row] = []
    notes: list[str] = []
    for name in names or MEASUREMENTS:
        try:
            rows += MEASUREMENTS[name]()
        except (Skipped, tileir.UnsupportedError) as reason:
            notes.append(f"* {name} left out: {reason}")
    print(markdown(rows), *notes, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
