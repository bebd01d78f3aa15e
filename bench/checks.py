"""Cost of the checks of native code: each kernel with them and without, on one thread, in turn.

    python bench/checks.py [--compile | --safepoints] [name ...]

With `--compile` that of compiling the kernels instead, without the cache; with `--safepoints` that of looking up from
the work in loops, where a launch can be interrupted, against the same code without.

The time is that of the processor, so that what else the machine does counts little. The result is checked first
(`bench/cpu.py`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from math import exp, log
from time import process_time, thread_time
from unittest.mock import patch

import cases
import numpy as np
from table import Skipped, figure

import tileir
from tileir.cache import Cache
from tileir.cpu.emit.emitter import Emitter
from tileir.cpu.emit.record import CheckLevel
from tileir.cpu.llvm.engine import host, object_code
from tileir.cpu.run.program import lowered
from tileir.runtime import native

RUNS = 15
Launch = tuple[tileir.Kernel, tuple[int, ...], tuple[object, ...], Callable[[], None]]
"""Kernel, grid, arguments, and a check of what they hold after a launch."""
COMPILES = 5
NOTHING = Cache(None)
MEAN_AIM, WORST_AIM, GATHER_AIM, COMPILE_AIM = 1.03, 1.15, 1.3, 1.2

GATHER = """
entry @gather(%x: tile<ptr<f32>>, %at: tile<ptr<i32>>, %out: tile<ptr<f32>>) {
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %count = constant <i32: 1024> : tile<i32>
  %start = muli %bx, %count : tile<i32>
  %start_1 = reshape %start : tile<i32> -> tile<1xi32>
  %starts = broadcast %start_1 : tile<1xi32> -> tile<1024xi32>
  %lane = iota : tile<1024xi32>
  %index = addi %starts, %lane : tile<1024xi32>
  %at_1 = reshape %at : tile<ptr<i32>> -> tile<1xptr<i32>>
  %at_all = broadcast %at_1 : tile<1xptr<i32>> -> tile<1024xptr<i32>>
  %at_each = offset %at_all, %index : tile<1024xptr<i32>>, tile<1024xi32> -> tile<1024xptr<i32>>
  %rows, %t0 = load_ptr_tko weak %at_each : tile<1024xptr<i32>> -> tile<1024xi32>, token
  %x_1 = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
  %x_all = broadcast %x_1 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
  %x_each = offset %x_all, %rows : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
  %values, %t1 = load_ptr_tko weak %x_each : tile<1024xptr<f32>> -> tile<1024xf32>, token
  %out_1 = reshape %out : tile<ptr<f32>> -> tile<1xptr<f32>>
  %out_all = broadcast %out_1 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
  %out_each = offset %out_all, %index : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
  store_ptr_tko weak %out_each, %values : tile<1024xptr<f32>>, tile<1024xf32> -> token
}
"""


def gather() -> Launch:
    """A gather of elements in random order from an array of 4 MiB."""
    random = np.random.default_rng(0)
    x = random.standard_normal(1 << 20, np.float32)
    at = random.integers(0, x.size, 1 << 20, np.int32)
    out = np.zeros_like(x)

    def check() -> None:
        assert np.array_equal(out, x[at])

    return tileir.parse(GATHER)["gather"], (1024,), (x, at, out), check


def _cases(names: Sequence[str]) -> dict[str, Callable[[], Launch]]:
    made: dict[str, Callable[[], Launch]] = {make.__name__: _from(make) for make in cases.CASES}
    made["gather"] = gather
    return {name: made[name] for name in names or made}


def _from(make: Callable[[], cases.Case]) -> Callable[[], Launch]:
    return lambda: _kernel(make())


def _kernel(case: cases.Case) -> Launch:
    return tileir.load(case.path)[case.kernel], case.grid, case.arguments, case.check


def cost(launch: Launch) -> tuple[float, float]:
    """Seconds without and with checks: of each the shortest of `RUNS` launches, in turn."""
    kernel, grid, arguments, check = launch
    times: dict[bool, list[float]] = {False: [], True: []}
    kernel.launch(grid, *arguments, check=True, threads=1)
    check()
    kernel.launch(grid, *arguments, check=False, threads=1)
    for _ in range(RUNS):
        for checked, column in times.items():
            begin = thread_time()
            kernel.launch(grid, *arguments, check=checked, threads=1)
            column.append(thread_time() - begin)
    return min(times[False]), min(times[True])


def compile_cost(launch: Launch) -> tuple[float, float]:
    """Seconds to compile a kernel without and with checks: of each the shortest of `COMPILES`, in turn.

    LLVM runs on a thread of its own.
    """
    kernel = launch[0]
    times: dict[CheckLevel, list[float]] = {CheckLevel.OFF: [], CheckLevel.ON: []}
    for _ in range(COMPILES):
        for level, column in times.items():
            begin = process_time()
            made = lowered(kernel.entry, (), level, apart=True)
            object_code(str(made.joined or made.module), host())
            column.append(process_time() - begin)
    return min(times[CheckLevel.OFF]), min(times[CheckLevel.ON])


def safepoint_cost(launch: Launch) -> tuple[float, float]:
    """Seconds without and with safepoints: of each the shortest of `RUNS` launches, in turn."""
    kernel, grid, arguments, _ = launch
    without = replica(kernel)
    with patch.object(Emitter, "safepoint", lambda self: None), patch.object(native, "shared_cache", lambda: NOTHING):
        without.launch(grid, *arguments, threads=1)
    times: dict[tileir.Kernel, list[float]] = {without: [], kernel: []}
    kernel.launch(grid, *arguments, threads=1)
    for _ in range(RUNS):
        for one, column in times.items():
            begin = thread_time()
            one.launch(grid, *arguments, threads=1)
            column.append(thread_time() - begin)
    return min(times[without]), min(times[kernel])


def replica(kernel: tileir.Kernel) -> tileir.Kernel:
    """Return the same kernel with nothing prepared."""
    return tileir.parse(tileir.to_text(kernel.module))[kernel.name]


def main(words: Sequence[str]) -> int:
    names, compiles = [word for word in words if not word.startswith("--")], "--compile" in words
    measure = compile_cost if compiles else safepoint_cost if "--safepoints" in words else cost
    print("| kernel | without checks | with checks | cost | aim | met |", "|---|---:|---:|---:|---|---|", sep="\n")
    costs = []
    for name, make in _cases(names).items():
        try:
            without, with_checks = measure(make())
        except Skipped as reason:
            print(f"* {name} left out: {reason}")
            continue
        aim = COMPILE_AIM if compiles else GATHER_AIM if name == "gather" else WORST_AIM
        factor = with_checks / without
        costs.append(factor)
        met = "yes" if factor <= aim else "**no**"
        times = " | ".join(f"{figure(seconds * 1e3)} ms" for seconds in (without, with_checks))
        print(f"| {name} | {times} | {factor:.3f} | <= {aim} | {met} |")
    mean = exp(sum(map(log, costs)) / len(costs))
    aim = COMPILE_AIM if compiles else MEAN_AIM
    met = "yes" if mean <= aim else "**no**"
    print(f"| geometric mean | | | {mean:.3f} | <= {aim} | {met} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
