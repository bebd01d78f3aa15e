"""``tileir bench``: time a kernel.

Launches are described as in `launching`; the limits are measured in `cpu.run.profiling`.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import prod
from time import perf_counter

from tileir.cli import FINE, UsageError, show
from tileir.cli.launching import add_launch, add_settings, checked, launched_kernel, needs_child, settings_of, survived
from tileir.cli.options import add_level, check_of, chosen_target
from tileir.command_line import argument_words
from tileir.command_line.argument_words import given_values
from tileir.runtime.module import launch_kernel, placed

MIN_SECONDS = 0.2
"""Seconds for which launches are timed if the number of runs is not given."""
LEAST, MOST = 5, 10_000


@dataclass(frozen=True)
class Times:
    """Seconds of single launches, in order of length."""

    seconds: list[float]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def configure(parser: argparse.ArgumentParser) -> None:
    add_launch(parser)
    parser.add_argument("--runs", type=int, metavar="N", help="how many launches are timed (default: as time allows)")
    parser.add_argument("--flops", type=float, metavar="N", help="floating-point operations of a launch")
    parser.add_argument("--bytes", type=float, metavar="N", help="bytes that a launch reads and writes")
    add_settings(parser)
    add_level(parser)
    parser.epilog = f"""\
The first launch, which compiles, is not timed. With --flops or --bytes and target cpu the machine's own limits are
measured too: a loop of fused multiply-adds in f32, and reading memory.

{argument_words.GRAMMAR}
examples:
  tileir bench examples/vector_add.mlir --target cpu --grid 98 f32[100000]:rand f32[100000]:rand f32[100000] 100000
  tileir bench kernel.mlir --kernel gemm --grid 8,8 --flops 2.1e9 --runs 20 f32[1024,1024]:randn f32[1024,1024]
"""


def run(options: argparse.Namespace) -> int:
    if options.runs is not None and options.runs < 1:
        raise UsageError(f"--runs: expected a positive integer, got {options.runs}")
    for name in ("flops", "bytes"):
        if (value := getattr(options, name)) is not None and not 0 < value < math.inf:
            raise UsageError(f"--{name}: expected a positive number, got {value:g}")
    kernel = launched_kernel(options, "bench")
    target = chosen_target(options.target)
    given = given_values(kernel, options.arguments, options.seed)
    check, settings = check_of(options), settings_of(options)
    with placed(target, [one.value for one in given]) as values:
        grid = checked(kernel, target, options.grid, values, check, settings)
        launch = partial(launch_kernel, kernel, grid, values, target.name, check, settings)
        action = partial(timed, launch, options.runs, target.seconds)
        first, times = survived(kernel, action) if needs_child(target, check) else action()
    show.line(f"@{kernel.name}: {prod(grid)} tile blocks, target {target.name}, {len(times.seconds)} launches")
    peaks = _peaks(options) if target.name == "cpu" and (options.flops or options.bytes) else {}
    rows: list[list[str]] = [*_time_rows(first, times), *_rate_rows(options, times.median, peaks)]
    show.print_table(show.table({"what": "left", "value": "right", "share of the machine's": "left"}, rows))
    return FINE


def _seconds(launch: Callable[[], object]) -> float:
    begin = perf_counter()
    launch()
    return perf_counter() - begin


def timed(
    launch: Callable[[], object], runs: int | None, clock: Callable[[Callable[[], object]], float] = _seconds
) -> tuple[float, Times]:
    """Return the seconds of the first launch, and by `clock` of as many further ones as asked for or as fit into a
    while."""
    first, estimate = _seconds(launch), clock(launch)
    count = runs or int(max(LEAST, min(MOST, MIN_SECONDS / max(estimate, 1e-9))))
    return first, Times(sorted(clock(launch) for _ in range(count)))


def _time_rows(first: float, times: Times) -> list[list[str]]:
    seconds = times.seconds
    tenth = len(seconds) // 10
    spread = f"{_time(seconds[tenth])} to {_time(seconds[-1 - tenth])}"
    return [["first launch", _time(first), ""], ["median", _time(times.median), ""], ["spread", spread, ""]]


def _peaks(options: argparse.Namespace) -> dict[str, float]:
    """Return the machine's limits by unit."""
    from tileir.cpu.run.profiling import measured
    from tileir.cpu.run.threads import default_threads

    found = measured(options.threads or default_threads())
    return {"GFLOP/s": found.flops / 1e9, "GB/s": found.bytes / 1e9}


def _rate_rows(options: argparse.Namespace, seconds: float, peaks: dict[str, float]) -> list[list[str]]:
    rows: list[list[str]] = []
    for name, amount, unit in (("arithmetic", options.flops, "GFLOP/s"), ("memory", options.bytes, "GB/s")):
        if amount:
            rate, peak = amount / seconds / 1e9, peaks.get(unit)
            share = "" if peak is None else f"{rate / peak:.0%} of {peak:.4g} {unit}"
            rows.append([name, f"{rate:.4g} {unit}", share])
    return rows


def _time(seconds: float) -> str:
    for scale, unit in ((1.0, "s"), (1e-3, "ms")):
        if seconds >= scale:
            return f"{seconds / scale:.4g} {unit}"
    return f"{seconds * 1e6:.4g} us"
