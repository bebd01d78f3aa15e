"""Measuring a benchmark and showing it.

Absolute times depend on the machine and its load, so tables show ratios of two things timed in turn, in the same run.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

NO_AIM = "-"


class Skipped(Exception):
    """A peer that is not installed here; the message says which and how to get it."""


@dataclass(frozen=True)
class Row:
    """One comparison: `ours` and `peers` in `unit` (smaller is better), the aim, and whether it is met."""

    what: str
    unit: str
    ours: float
    peer: str
    peers: float | None
    aim: str
    met: bool

    @property
    def ratio(self) -> float | None:
        """Speed as a multiple of the peer's."""
        return None if self.peers is None else self.peers / self.ours


SETTLING = 0.05


def in_turn(*actions: Callable[[], object], runs: int = 5) -> list[float]:
    """Median seconds of each, run in turn so that a change of the machine's speed meets all; one warm-up each."""
    for action in actions:
        action()
    times = [[seconds(action) for action in actions] for _ in range(runs)]
    return [statistics.median(column) for column in zip(*times)]


def seconds(action: Callable[[], object]) -> float:
    """Seconds that `action` takes. Garbage of earlier ones is collected first, not on its time, and the threads of
    BLAS and OpenMP are given time to fall asleep: for some milliseconds after their work they wait for more without
    leaving the processor.
    """
    gc.collect()
    time.sleep(SETTLING)
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def figure(value: float) -> str:
    """Three digits, without an exponent."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def markdown(rows: list[Row]) -> str:
    lines = ["| what | tileir | peer | | ratio | aim | met |", "|---|---:|---|---:|---:|---|---|"]
    for row in rows:
        theirs = "" if row.peers is None else f"{figure(row.peers)} {row.unit}"
        ratio = "" if row.ratio is None else f"{row.ratio:.1f}x"
        met = "" if row.aim == NO_AIM else "yes" if row.met else "**no**"
        lines.append(
            f"| {row.what} | {figure(row.ours)} {row.unit} | {row.peer} | {theirs} | {ratio} | {row.aim} | {met} |"
        )
    return "\n".join(lines) + "\n"
