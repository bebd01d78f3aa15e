"""``python -m tests.fuzz.launching``: rounds in child processes; one that dies or hangs costs its other rounds."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
BATCH = 50
LONGEST_ROUND = 60
"""Seconds."""


def findings(first: int, count: int) -> list[str]:
    """Return the failures in the rounds of these seeds."""
    found: list[str] = []
    for start in range(first, first + count, BATCH):
        found += _batch(start, min(BATCH, first + count - start))
    return found


def _batch(first: int, count: int) -> list[str]:
    command = [sys.executable, "-m", "tests.fuzz.launching.run", str(first), str(count)]
    try:
        child = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LONGEST_ROUND + 10 * count)
        output, errors, end = child.stdout, child.stderr, f"exit status {child.returncode}"
    except subprocess.TimeoutExpired as expired:
        output, errors, end = _text(expired.stdout), _text(expired.stderr), "no end in time"
    found, running, done = [], first, 0
    for report in map(json.loads, output.splitlines()):
        running = report.get("begin", running)
        done += "seed" in report
        for place in report.get("dropped", ()):
            print(f"Python dropped an interrupt in {place}", flush=True)
        found += [f"round {report['seed']}: {text}" for text in report.get("wrong", ())]
    if done < count:
        found.append(f"round {running}: the process ended: {end}\n{errors[-2000:]}")
    return found


def _text(output: str | bytes | None) -> str:
    return output.decode(errors="replace") if isinstance(output, bytes) else output or ""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.launching", description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="the first round")
    parser.add_argument("--rounds", type=int, default=1000, help="how many rounds")
    options = parser.parse_args()
    found = findings(options.first, options.rounds)
    print(*found, f"{options.rounds} rounds, {len(found)} findings", sep="\n")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
