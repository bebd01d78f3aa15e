"""A campaign: ranges of seeds in child processes; a child that dies costs one program, which is reported."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
BATCH = 250
LONGEST_BATCH_S = 600


@dataclass(frozen=True)
class Finding:
    """A program on which the targets differ, or which ended the process; `python -m tests.fuzz.faulty --show SEED`."""

    seed: int
    text: str


def findings(first: int, count: int, jobs: int) -> list[Finding]:
    """Return the faults of the programs of these seeds, run by `jobs` processes at a time."""
    starts = range(first, first + count, BATCH)
    with ThreadPoolExecutor(jobs) as pool:
        batches = pool.map(lambda start: list(_batch(start, min(BATCH, first + count - start))), starts)
        return [finding for batch in batches for finding in batch]


def _batch(first: int, count: int) -> Iterator[Finding]:
    end = first + count
    while first < end:
        done, found, death = _child(first, end - first)
        yield from found
        if death is not None:
            yield death
        first = done


def _child(first: int, count: int) -> tuple[int, list[Finding], Finding | None]:
    """Runs one child: the seed to go on from, what it found, and how it died if it did."""
    command = [sys.executable, "-m", "tests.fuzz.faulty.run", str(first), str(count)]
    try:
        child = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LONGEST_BATCH_S)
        output, errors, end = child.stdout, child.stderr, f"exit status {child.returncode}"
        died = child.returncode != 0
    except subprocess.TimeoutExpired as expired:
        output, errors, end, died = _text(expired.stdout), _text(expired.stderr), "no end in time", True
    found, running = [], first
    for line in output.splitlines():
        report = json.loads(line)
        running = report.get("begin", running)
        if report.get("difference"):
            found.append(Finding(report["seed"], report["difference"]))
    death = Finding(running, f"the process died: {end}\n{errors[-2000:]}") if died else None
    return (running + 1 if died else first + count), found, death


def _text(output: str | bytes | None) -> str:
    return output.decode(errors="replace") if isinstance(output, bytes) else output or ""
