"""Two revisions side by side: benchmarks that became slower or faster.

    make bench-compare REV=main [ARGS="--threads 1 gemm add"]

Each revision runs in a process of its own, with the kernels and the measuring code of this one; they take turns, sample
by sample, in time of the processor. A point counts as slower if the median is by more than `THRESHOLD`, and the
quarters of the samples do not overlap. The exit status is 1 if one is.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from sweep import SWEEPS, Sample

ROOT = Path(__file__).parents[1]
RUNS = 9
THRESHOLD = 1.05
MOST_SECONDS = 600
"""Of a command of git."""


class Side:
    """A process that measures one revision, whose files are in `folder`."""

    def __init__(self, folder: Path, cache: Path, threads: int) -> None:
        environment = {
            **os.environ,
            "PYTHONPATH": str(folder),
            "TILEIR_CACHE_DIR": str(cache),
            "TILEIR_NUM_THREADS": str(threads),
        }
        command = [sys.executable, str(ROOT / "bench" / "sweep.py"), "--serve", "--processor"]
        self._process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def seconds(self, sweep: str, size: str) -> float:
        """One sample. Raises RuntimeError if the revision cannot run it."""
        assert self._process.stdin is not None and self._process.stdout is not None
        print(sweep, size, file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{sweep} {size}: the process ended with status {self._process.wait(MOST_SECONDS)}")
        return float(line)

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


def _git(*words: str) -> str:
    command = ["git", "-C", str(ROOT), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=MOST_SECONDS).stdout.strip()


def verdict(before: Sample, after: Sample) -> str:
    """Return whether a difference counts: ``slower``, ``faster``, or nothing."""
    if after.median > THRESHOLD * before.median and after.low > before.high:
        return "**slower**"
    return "faster" if before.median > THRESHOLD * after.median and before.low > after.high else ""


def compared(sides: tuple[Side, Side], sweep: str, size: str) -> tuple[Sample, Sample]:
    rows = [[side.seconds(sweep, size) for side in sides] for _ in range(RUNS)]
    before, after = (Sample.of(column) for column in zip(*rows))
    return before, after


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("revision", help="what the present files are compared with")
    parser.add_argument("sweeps", nargs="*", metavar="sweep", help=f"one of {', '.join(SWEEPS)}; default: all")
    parser.add_argument("--threads", type=int, default=1)
    words = parser.parse_args()
    commit = _git("rev-parse", "--verify", f"{words.revision}^{{commit}}")
    slower = 0
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        _git("worktree", "add", "--detach", str(place / "before"), commit)
        stack.callback(_git, "worktree", "remove", "--force", str(place / "before"))
        sides = (
            Side(place / "before", place / "cache-before", words.threads),
            Side(ROOT, place / "cache-after", words.threads),
        )
        for side in sides:
            stack.callback(side.close)
        print(f"| sweep | size | {words.revision} | now | speed | |", "|---|---|---:|---:|---:|---|", sep="\n")
        for sweep in words.sweeps or SWEEPS:
            for size in SWEEPS[sweep][1]:
                before, after = compared(sides, sweep, size)
                found = verdict(before, after)
                slower += "slower" in found
                times = f"{before.median * 1e6:.4g} us | {after.median * 1e6:.4g} us"
                print(f"| {sweep} | {size} | {times} | {before.median / after.median:.2f}x | {found} |", flush=True)
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
