"""Tables of ``explore.md``: the explorer's results on the litmus tests and on the algorithms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import tileir
from tileir.command_line.argument_words import given_values
from tileir.examples import FOLDER as EXAMPLES
from tileir.explore.launch import launch_line
from tileir.explore.report import ExplorationReport
from tileir.runtime.module import Kernel

FOLDER = Path(__file__).parent


def page() -> str:
    """The page with its tables as they are now."""
    text = (FOLDER / "explore.md").read_text(encoding="utf-8")
    litmus = sorted((EXAMPLES / "litmus").glob("*.mlir"), key=_reference_order)
    tests = ["| test | asked | verdict | executions |", "|---|---|---|---|", *map(_litmus_row, litmus)]
    algorithms = ["| program | kernel | found | executions | weakest mend |", "|---|---|---|---|---|"]
    algorithms += [row for path in sorted((EXAMPLES / "concurrent").glob("*.mlir")) for row in _algorithm_rows(path)]
    return _filled(_filled(text, "litmus tests", tests), "algorithms", algorithms)


def _filled(text: str, name: str, table: list[str]) -> str:
    """A page with the lines of a table between its marks."""
    begin, end = f"<!-- {name} -->\n\n", "\n\n<!-- end -->"
    before, _, rest = text.partition(begin)
    return before + begin + "\n".join(table) + end + rest.partition(end)[2]


def _explored(kernel: Kernel, mends: bool) -> ExplorationReport:
    _, grid, *words = launch_line(kernel) or []
    values = [one.value for one in given_values(kernel, words, 0)]
    report = tileir.explore(kernel, tuple(map(int, grid.split(","))), *values, mends=mends)
    assert report.ok and report.complete, kernel.name
    return report


def _algorithm_rows(path: Path) -> Iterator[str]:
    for kernel in tileir.load(path).kernels.values():
        report = _explored(kernel, mends=True)
        kinds = ", ".join(dict.fromkeys(fault.kind for fault in report.faults)) or "nothing wrong"
        steps = "; ".join(_shortened(step) for step in report.mends[0].steps) if report.mends else ""
        link = f"[{path.stem}](../tileir/examples/concurrent/{path.name})"
        yield f"| {link} | `{kernel.name}` | {kinds} | {report.executions} | {steps} |"


def _shortened(step: str) -> str:
    """A step of a mend with lines in place of files."""
    return re.sub(r"[^ ]*\.mlir:(\d+):\d+: '([^']*)'", r"line \1", step).replace("'", "`")


def _reference_order(path: Path) -> tuple[int, str]:
    """Return the position of a test in the language reference; those with a suffix follow."""
    reference = (FOLDER / "spec" / "litmus.md").read_text(encoding="utf-8")
    found = [reference.find(f"| {path.stem[:end]} ") for end in range(len(path.stem), 0, -1)]
    return next(at for at in found if at >= 0), path.stem


def _litmus_row(path: Path) -> str:
    (kernel,) = tileir.load(path).kernels.values()
    report = _explored(kernel, mends=False)
    line = report.verdicts[0].line
    racy = any(fault.kind == "race" for fault in report.faults)
    verdict = "undefined: a race" if racy else "allowed" if line.kind == "exists" else "forbidden"
    asked = "" if racy else f"`{line.condition.text}`"
    return f"| [{path.stem}](../tileir/examples/litmus/{path.name}) | {asked} | {verdict} | {report.executions} |"
