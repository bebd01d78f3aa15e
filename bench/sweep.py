"""Speed over size: products, streams, rows and attention over orders of magnitude, beside their peers.

    python bench/sweep.py [--threads N] [--processor] [--save FILE] [--pictures FOLDER] [sweep ...]

The result of each point is checked before it is timed. Both sides are timed in turn; the table shows the median, and
the quarters of the samples below and above it. With `--processor` the time is that of the processor, all threads
together, for a machine that has other things to do: compare with one thread then.

With `--serve` it measures the points that it reads from its standard input, for `bench/compare.py`.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import cases

RUNS = 9
LEAST = 2e-3
"""Seconds of one sample, at least: short work is repeated."""
WARMING = 3
"""Calls before those that count: a kernel is prepared during its first three launches."""
SETTLING = 0.02
"""Seconds before a sample, in which the threads of the other side fall asleep."""


def _products() -> dict[str, tuple[int, ...]]:
    cubes = [(size,) * 3 for size in (32, 64, 128, 256, 512, 1024, 2048, 4096)]
    skinny = [(1, 4096, 4096), (16, 4096, 4096), (4096, 64, 4096)]
    return {" x ".join(map(str, shape)): shape for shape in (*cubes, *skinny)}


def _typed_products() -> dict[str, tuple[int, ...]]:
    cubes = [(size,) * 3 for size in (64, 256, 1024, 2048)]
    return {" x ".join(map(str, shape)): shape for shape in (*cubes, (8, 4096, 4096))}


def _heads() -> dict[str, tuple[int, ...]]:
    return {f"{heads} x {length}": (heads, length) for heads, length in ((4, 64), (4, 256), (8, 1024), (8, 4096))}


PRODUCTS = (
    "gemm_b_plain",
    "gemm_a_transposed",
    "gemm_f64",
    "gemm_f64_b_plain",
    "gemm_bf16",
    "gemm_bf16_b_plain",
    "gemm_bf16_rounded",
    "gemm_bf16_b_plain_rounded",
    "gemm_f16",
    "gemm_f8",
    "gemm_i8",
)
ATTENTIONS = (
    "attention_f32_64",
    "attention_f32_128",
    "attention_f32_64_causal",
    "attention_f32_128_causal_gqa",
    "attention_bf16_64",
    "attention_bf16_128_causal",
    "attention_bf16_128_gqa",
)
SWEEPS: dict[str, tuple[str, dict[str, tuple[int, ...]]]] = {
    "gemm": ("gemm_f32", _products()),
    **{name: (name, _typed_products()) for name in PRODUCTS},
    "add": ("add_views", {f"2^{power}": (1 << power,) for power in range(10, 27, 2)}),
    "add_pointers": ("add_pointers", {f"2^{power}": (1 << power,) for power in range(10, 27, 2)}),
    "saxpy_matrix": ("saxpy_matrix", {f"{rows} x 8192": (rows,) for rows in (128, 512, 2048, 8192)}),
    "transpose": ("transpose", {f"{size} x {size}": (size,) for size in (64, 256, 1024, 4096, 8192)}),
    "softmax": ("softmax", {f"{rows} x 4096": (rows,) for rows in (1, 4, 16, 64, 256, 1024, 4096, 16384)}),
    "layer_norm": ("layer_norm", {f"{rows} x 4096": (rows,) for rows in (1, 4, 16, 64, 256, 1024, 4096, 16384)}),
    **{name: (name, _heads()) for name in ATTENTIONS},
}
"""For each sweep its case, and the sizes by the names that they have in tables."""


@dataclass
class Sample:
    """Seconds: the median, and the quarters below and above."""

    median: float
    low: float
    high: float

    @staticmethod
    def of(seconds: Sequence[float]) -> Sample:
        low, median, high = statistics.quantiles(seconds, n=4)
        return Sample(median, low, high)


@dataclass
class Point:
    """One size of a sweep. The numbers of `shape` multiplied stand for its amount of work."""

    sweep: str
    size: str
    shape: tuple[int, ...]
    ours: Sample
    peers: dict[str, Sample] = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        """Speed as a multiple of the best peer's."""
        return min(sample.median for sample in self.peers.values()) / self.ours.median


class Timer:
    """Seconds of an action, repeated so often that they can be measured."""

    def __init__(self, action: Callable[[], object], clock: Callable[[], float]) -> None:
        self._action, self._clock = action, clock
        for _ in range(WARMING):
            action()
        self._count, spent = 1, self._batch(1)
        while spent < LEAST:
            self._count = max(self._count + 1, int(1.3 * self._count * LEAST / max(spent, LEAST / 100)))
            spent = self._batch(self._count)

    def _batch(self, count: int) -> float:
        action, begin = self._action, self._clock()
        for _ in range(count):
            action()
        return self._clock() - begin

    def seconds(self) -> float:
        """Of one call. Garbage of earlier ones is collected before."""
        gc.collect()
        time.sleep(SETTLING)
        return self._batch(self._count) / self._count


def timed(actions: Sequence[Callable[[], object]], clock: Callable[[], float]) -> list[Sample]:
    """Every action in turn, `RUNS` times."""
    timers = [Timer(action, clock) for action in actions]
    rows = [[timer.seconds() for timer in timers] for _ in range(RUNS)]
    return [Sample.of(column) for column in zip(*rows)]


def _case(sweep: str, size: str) -> cases.Case:
    import attentions
    import cases
    import products

    make, sizes = SWEEPS[sweep]
    made = {**products.CASES, **attentions.CASES}.get(make) or getattr(cases, make)
    return made(*sizes[size])


def measured(sweep: str, size: str, clock: Callable[[], float]) -> Point:
    """A point beside its peers. Raises AssertionError for a wrong result."""
    import cases

    case = _case(sweep, size)
    launch = cases.launcher(case)
    launch()
    case.check()
    ours, *others = timed([launch, *case.peers.values()], clock)
    return Point(sweep, size, SWEEPS[sweep][1][size], ours, dict(zip(case.peers, others)))


def serve(clock: Callable[[], float]) -> None:
    """Measure the points named on standard input, one sample for each line, as ``sweep size``; a number is printed."""
    import cases

    last, timer = "", None
    for line in sys.stdin:
        if line != last:
            sweep, _, size = line.strip().partition(" ")
            timer = None
            case = _case(sweep, size)
            launch = cases.launcher(case)
            launch()
            case.check()
            last, timer = line, Timer(launch, clock)
        assert timer is not None
        print(timer.seconds(), flush=True)


def markdown(points: Sequence[Point]) -> str:
    """A table: medians, with half the distance between the quarters as the spread."""
    lines = ["| sweep | size | tileir | best peer | | ratio |", "|---|---|---:|---|---:|---:|"]
    for point in points:
        peer, best = min(point.peers.items(), key=lambda item: item[1].median)
        shown = f"{_micro(point.ours)} | {peer} | {_micro(best)} | {point.ratio:.2f}x"
        lines.append(f"| {point.sweep} | {point.size} | {shown} |")
    return "\n".join([*lines, f"| geometric mean | | | | | {_mean(points):.2f}x |"]) + "\n"


def _micro(sample: Sample) -> str:
    spread = (sample.high - sample.low) / 2 / sample.median
    return f"{sample.median * 1e6:.4g} us ± {spread:.0%}"


def _mean(points: Sequence[Point]) -> float:
    return statistics.geometric_mean([point.ratio for point in points])


def revision() -> str:
    """The revision that is measured, with a plus sign if files differ from it."""
    command = ["git", "describe", "--always", "--dirty=+", "--exclude=*"]
    run = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, timeout=60)
    return run.stdout.strip() or "unknown"


def surroundings(words: argparse.Namespace) -> dict[str, object]:
    """Return the conditions that the figures depend on besides the program."""
    import cases
    import numpy as np

    versions = {"python": platform.python_version(), "numpy": np.__version__}
    if "torch" in sys.modules:
        versions["torch"] = sys.modules["torch"].__version__
    return {
        "revision": revision(),
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        "versions": versions,
        "threads": cases.THREADS,
        "clock": "processor" if words.processor else "wall",
    }


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sweeps", nargs="*", metavar="sweep", help=f"one of {', '.join(SWEEPS)}; default: all")
    parser.add_argument("--threads", type=int, help="of both sides; default: all processors")
    parser.add_argument("--processor", action="store_true", help="measure time of the processor")
    parser.add_argument("--save", type=Path, metavar="FILE", help="where the figures are kept as JSON")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="where a picture of each sweep is put")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    words = parser.parse_args()
    unknown = sorted(set(words.sweeps) - set(SWEEPS))
    if unknown:
        parser.error(f"no sweep '{unknown[0]}': expected {', '.join(SWEEPS)}")
    return words


def main() -> int:
    words = _words()
    if words.threads:
        os.environ["TILEIR_NUM_THREADS"] = str(words.threads)
    clock = time.process_time if words.processor else time.perf_counter
    if words.serve:
        serve(clock)
        return 0
    points = []
    for sweep in words.sweeps or SWEEPS:
        for size in SWEEPS[sweep][1]:
            points.append(measured(sweep, size, clock))
            print(f"{sweep} {size}: {points[-1].ratio:.2f}x", file=sys.stderr, flush=True)
    print(markdown(points))
    if words.save:
        words.save.parent.mkdir(parents=True, exist_ok=True)
        kept = {**surroundings(words), "points": [{**asdict(point), "ratio": point.ratio} for point in points]}
        words.save.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    if words.pictures:
        _draw(words.pictures, points)
    return 0


def _draw(folder: Path, points: Sequence[Point]) -> None:
    from picture import drawn

    folder.mkdir(parents=True, exist_ok=True)
    for sweep in dict.fromkeys(point.sweep for point in points):
        chosen = [(point.size, point.ratio) for point in points if point.sweep == sweep]
        (folder / f"{sweep}.svg").write_text(drawn(sweep, chosen), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
