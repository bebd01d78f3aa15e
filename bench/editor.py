"""Times of answers of the language server about a program of 20,000 operations, as an editor sees them.

Times run from the first byte sent to the last one received. Prints a table.

    python bench/editor.py [ENTRIES ...]        20,000 operations in so many entries (default: 40, and 1)
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests/tools")]

from test_lsp import Editor  # noqa: E402

OPERATIONS = 20_000
TIMES = 9
_FORMS = (
    "addi {0}, %c",
    "muli {0}, {0}",
    "maxi {0}, %c signed",
    "negi {0}",
)


def program(entries: int) -> str:
    """Entries of element-wise operations, each on the result of the one before."""
    lines = ["cuda_tile.module @large {"]
    for entry in range(entries):
        lines += [f"  entry @k{entry}(%n: tile<i32>) {{", "    %c = constant <i32: 3> : tile<16xi32>"]
        last = "%c"
        for number in range(OPERATIONS // entries):
            lines.append(f"    %v{number} = {_FORMS[number % 4].format(last)} : tile<16xi32>")
            last = f"%v{number}" if number % 8 else "%c"
        lines.append("  }")
    return "\n".join([*lines, "}", ""])


def processor(process: int) -> float:
    """Seconds of processor time that a process has used; Linux tells it in hundredths."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(ask: Callable[[int], object], process: int) -> tuple[float, float, float]:
    """The median and the longest time of several questions, and the mean processor time, in milliseconds."""
    times, before = [], processor(process)
    for turn in range(TIMES):
        begin = time.perf_counter()
        ask(turn)
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times), max(times), 1e3 * (processor(process) - before) / TIMES


def answered(entries: int) -> list[str]:
    """A row for each question about a program of so many entries."""
    editor = Editor()
    faults = editor.open(program(entries))
    assert not faults, faults
    time.sleep(2)
    middle = editor.at("entry @k" + str(entries // 2))
    places = [{"line": middle["line"] + 3 + 7 * turn, "character": 5} for turn in range(TIMES)]
    words = ("maxi %v1,", "maxii %v1,")
    questions: dict[str, Callable[[int], object]] = {
        "hover": lambda turn: editor.about("hover", places[turn]),
        "check after an edit": lambda turn: editor.change(words[turn % 2], words[1 - turn % 2]),
        "completion": lambda turn: editor.about("completion", places[turn]),
        "outline": lambda turn: editor.about("documentSymbol"),
    }
    rows = []
    for name, ask in questions.items():
        median, longest, busy = measured(ask, editor.process.child.pid)
        where = f"{entries} entries" if entries > 1 else "one entry"
        rows.append(f"| {name}, {where} | {median:.1f} ms | {longest:.1f} ms | {busy:.1f} ms |")
    editor.close()
    return rows


def main() -> None:
    print(f"| {OPERATIONS:,} operations | median | longest | processor time |\n|---|---:|---:|---:|")
    for entries in map(int, sys.argv[1:] or ("40", "1")):
        print("\n".join(answered(entries)), flush=True)


if __name__ == "__main__":
    main()
