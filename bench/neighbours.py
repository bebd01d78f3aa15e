"""Launches as programs make them: after a pause, right after NumPy or torch, by two Python threads at once.

    python bench/neighbours.py

Each row is a kernel and its NumPy counterpart under the same conditions, in turn: the median of single calls, in
milliseconds, and in brackets how many times the median of calls that follow each other at once.
"""

from __future__ import annotations

import statistics
import sys
import threading
import time
from collections.abc import Callable

import cases
import numpy as np

CALLS = 25
QUIET = 0.2
"""Seconds in which the threads of NumPy and torch, which spin for a while after their work, fall asleep."""
ELEMENTS = [1 << power for power in (18, 20, 22)]
EXTENTS = [512, 1024, 2048]
Action = Callable[[], object]


def alone(action: Action, before: Action) -> float:
    """Return the median seconds of a call, each after a call of `before`."""
    action()
    time.sleep(QUIET)
    spent = []
    for _ in range(CALLS):
        before()
        begin = time.perf_counter()
        action()
        spent.append(time.perf_counter() - begin)
    return statistics.median(spent)


def both_at_once(action: Action) -> float:
    """Return the median seconds that two Python threads need for a call each, begun together."""
    start = threading.Barrier(3)
    end = threading.Barrier(3)

    def calls() -> None:
        for _ in range(CALLS):
            start.wait()
            action()
            end.wait()

    threads = [threading.Thread(target=calls) for _ in range(2)]
    for thread in threads:
        thread.start()
    spent = []
    for _ in range(CALLS):
        begin = time.perf_counter()
        start.wait()
        end.wait()
        spent.append(time.perf_counter() - begin)
    for thread in threads:
        thread.join()
    return statistics.median(spent)


def keep_busy(seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def conditions() -> dict[str, Action]:
    """Return what comes before each call, by name."""
    square = np.ones((1024, 1024), np.float32)
    found: dict[str, Action] = {"at once": lambda: None}
    for pause in (1, 5, 20, 60):
        found[f"after {pause} ms of sleep"] = lambda pause=pause: time.sleep(pause / 1000)
    found["after 20 ms of Python"] = lambda: keep_busy(0.02)
    found["after a product of NumPy"] = lambda: square @ square
    try:
        torch = cases.torch()
    except cases.Skipped as skipped:
        print(skipped, file=sys.stderr)
    else:
        tensor = torch.from_numpy(square)  # type: ignore[attr-defined]
        found["after a product of torch"] = lambda: tensor @ tensor
    return found


def pairs() -> dict[str, tuple[cases.Case, Action]]:
    """Return each kernel with what NumPy does instead."""
    found: dict[str, tuple[cases.Case, Action]] = {}
    for extent in EXTENTS:
        a, b = (np.random.default_rng(0).random((extent, extent), np.float32) for _ in range(2))
        c = np.empty_like(a)
        case = cases.gemm_f32(extent, extent, extent)
        found[f"product {extent}"] = case, lambda a=a, b=b, c=c: np.matmul(a, b, out=c)
    for count in ELEMENTS:
        x, y = (np.random.default_rng(0).random(count, np.float32) for _ in range(2))
        z = np.empty_like(x)
        found[f"add {count >> 10} Ki"] = cases.add_views(count), lambda x=x, y=y, z=z: np.add(x, y, out=z)
    return found


def main() -> None:
    print(f"{cases.THREADS} threads\n\n| kernel | condition | tileir, ms | NumPy, ms |\n|---|---|---:|---:|")
    before = conditions()
    for name, (case, peer) in pairs().items():
        launch = cases.launcher(case)
        launch()
        case.check()
        actions = (launch, peer)
        rows = {when: [alone(action, first) for action in actions] for when, first in before.items()}
        rows["two Python threads"] = [both_at_once(action) for action in actions]
        for when, spent in rows.items():
            shown = [f"{took * 1e3:.2f} ({took / least:.2f})" for took, least in zip(spent, rows["at once"])]
            print(f"| {name} | {when} | {' | '.join(shown)} |", flush=True)


if __name__ == "__main__":
    main()
