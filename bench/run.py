"""Runs every benchmark and puts the tables into ``docs/performance.md``.

    make bench

A benchmark whose peer is not installed is left out, with a line that says so. Native code is measured in processes of
its own, because there tileir, BLAS and torch all use all processors.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
PAGE = FOLDER.parent / "docs" / "performance.md"
BLOCK = ("<!-- measured -->\n", "<!-- end of measured -->\n")
NATIVE = ("<!-- measured native code -->\n", "<!-- end of measured native code -->\n")
CHECKS = ("<!-- measured checks -->\n", "<!-- end of measured checks -->\n")
COMPILE_CHECKS = ("<!-- measured compile checks -->\n", "<!-- end of measured compile checks -->\n")
CUTILE = ("<!-- measured cuTile -->\n", "<!-- end of measured cuTile -->\n")
TOOLS = {
    "sanitizer": ["sanitize.py"],
    "proofs": ["prove.py"],
    "editor": ["editor.py"],
    "profiler": ["profiling.py"],
    "optimiser": ["optimise.py", "--cpu"],
    "pointers": ["pointers.py", "--cpu"],
}
"""The marks of further blocks of the page, and what fills them."""
sys.path.insert(0, str(FOLDER))

import environment  # isort: skip  # noqa: E402

import bytecode  # noqa: E402
import frontend  # noqa: E402
import interp  # noqa: E402
from table import Row, Skipped, figure, markdown  # noqa: E402

import tileir  # noqa: E402


def main() -> int:
    rows: list[Row] = []
    notes: list[str] = []
    for measure in (*frontend.MEASUREMENTS, *bytecode.MEASUREMENTS, *interp.MEASUREMENTS):
        try:
            found = measure()
        except Skipped as reason:
            notes.append(f"* left out: {reason}")
            continue
        for row in found:
            theirs = "" if row.peers is None else f" ({row.peer}: {figure(row.peers)} {row.unit})"
            print(f"{row.what}: {figure(row.ours)} {row.unit}{theirs}", flush=True)
        rows += found
    text = "\n".join([_heading(), markdown(rows), *sorted(set(notes))]) + "\n"
    print("\n" + text)
    put(BLOCK, text)
    put(NATIVE, apart("cpu.py"))
    put(CHECKS, apart("checks.py"))
    put(COMPILE_CHECKS, apart("checks.py", "--compile"))
    put(CUTILE, apart("cutile.py"))
    for name, command in TOOLS.items():
        put((f"<!-- measured {name} -->\n", f"<!-- end of measured {name} -->\n"), apart(*command))
    return 0


def apart(script: str, *words: str) -> str:
    """Output of a benchmark that runs in a process of its own, with all processors for both sides."""
    command = [sys.executable, FOLDER / script, *words]
    run = subprocess.run(command, env=environment.BEFORE, stdout=subprocess.PIPE, text=True, check=True)
    print(run.stdout)
    return run.stdout


def put(block: tuple[str, str], text: str) -> None:
    """Replace what stands between the two marks of the page."""
    begin, end = block
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(begin)
    PAGE.write_text(f"{before}{begin}{text}{end}{rest.partition(end)[2]}", encoding="utf-8")


def _heading() -> str:
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
    return f"""\
Medians of several runs of tileir {tileir.__version__} on {machine}, Python {platform.python_version()}:
"""


if __name__ == "__main__":
    sys.exit(main())
