"""Kernels of cuTile Python as others write them for a GPU (``kernels/foreign``), on the CPU beside torch eager.

    python bench/foreign.py [--threads N] [--processor] [NAME ...]

Prints a table of the comparisons whose names begin with one of the words. Results are compared before anything is
timed. Both sides take turns; in each turn a side runs for a while, after a launch that is not timed, so that the other
one's threads have fallen asleep. The process keeps the memory of results, as a GPU's allocator does: new pages from the
system may take longer than the kernel. ``--processor``: in processor time, less disturbed by what else the machine
does; with one thread that is the time of a quiet machine.
"""

from __future__ import annotations

import argparse
import ctypes
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

from table import figure

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent / "kernels"))

import torch

from tileir import cutile

MODULES = ("norms", "products", "attention", "pointwise")
TURNS, TURN = 7, 0.06
TOLERANCES = {torch.float32: 1e-3, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}
"""The largest difference of two results, as a part of the largest element."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _LARGE = -1, -3, 1 << 30
"""Options of mallopt(3), and a size in bytes."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--processor", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    keep_memory()
    clock = time.process_time if options.processor else time.perf_counter
    unit = "processor time" if options.processor else "time"
    print(f"| kernel, {options.threads} threads | {unit} | torch eager | ratio |\n|---|---:|---:|---:|")
    ratios = []
    with cutile.on("cpu", threads=options.threads):
        for what, ours, peers in comparisons():
            if not what.startswith(tuple(options.names) or ""):
                continue
            compare(what, ours(), peers())
            own, eager = in_turns(clock, ours, peers)
            ratios.append(eager / own)
            print(f"| {what} | {figure(own * 1e3)} ms | {figure(eager * 1e3)} ms | {ratios[-1]:.2f} |", flush=True)
    if not ratios:
        parser.error("no comparison begins with one of the names")
    print(f"| geometric mean | | | {math.exp(statistics.fmean(map(math.log, ratios))):.2f} |")
    return 0


def keep_memory() -> None:
    """Have glibc, if that is the allocator, give no memory back to the system."""
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is not None:
        set_option(_TRIM_THRESHOLD, _LARGE)
        set_option(_MMAP_THRESHOLD, _LARGE)


def comparisons() -> Iterator[tuple[str, Callable[[], object], Callable[[], object]]]:
    torch.manual_seed(0)
    for name in MODULES:
        yield from import_module(f"foreign.{name}").comparisons()


def compare(what: str, ours: object, peers: object) -> None:
    """Raise AssertionError if results differ."""
    both = [(one if isinstance(one, tuple) else (one,)) for one in (ours, peers)]
    for got, expected in zip(*both, strict=True):
        assert got.shape == expected.shape, what
        error = (got.double() - expected.double()).abs().max() / expected.double().abs().max()
        assert error <= TOLERANCES[expected.dtype], f"{what}: off by {error:.2g} of the largest element"


def in_turns(clock: Callable[[], float], *actions: Callable[[], object]) -> list[float]:
    """The median seconds of each action."""
    times: list[list[float]] = [[] for _ in actions]
    for _ in range(TURNS):
        for action, found in zip(actions, times):
            action()
            end = time.perf_counter() + TURN
            while time.perf_counter() < end or not found:
                begin = clock()
                action()
                found.append(clock() - begin)
    return [statistics.median(found) for found in times]


if __name__ == "__main__":
    sys.exit(main())
