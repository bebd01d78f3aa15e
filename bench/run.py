"""Runs every benchmark and writes the table ``bench/RESULTS.md``.

    make bench

A benchmark whose peer is not installed is left out, with a line that says so.
"""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

import frontend  # noqa: E402
import interp  # noqa: E402
from table import Row, Skipped, markdown  # noqa: E402

import tileir  # noqa: E402


def main() -> int:
    rows: list[Row] = []
    notes: list[str] = []
    for measure in (*frontend.MEASUREMENTS, *interp.MEASUREMENTS):
        try:
            found = measure()
        except Skipped as reason:
            notes.append(f"* left out: {reason}")
            continue
        for row in found:
            print(f"{row.what}: {row.ours:.3g} {row.unit}", f"({row.peer}: {row.peers:.3g} {row.unit})", flush=True)
        rows += found
    text = "\n".join([_heading(), markdown(rows), *sorted(set(notes))]) + "\n"
    (FOLDER / "RESULTS.md").write_text(text, encoding="utf-8")
    print("\n" + text)
    return 0


def _heading() -> str:
    machine = f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}"
    return f"""\
# Measured

tileir {tileir.__version__} on {platform.system()} {machine}. Medians of runs in turn with the peer; what counts is the
ratio. Written by `make bench`.
"""


if __name__ == "__main__":
    sys.exit(main())
