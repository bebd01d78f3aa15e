"""Every litmus test of the language reference is a file in `examples/litmus`, and the explorer gives its verdict."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tileir
from tests.explore.launched import explored_file
from tests.explore.oracle import judged
from tests.explore.programs import text
from tests.explore.rows import ROWS, Row

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tileir" / "examples" / "litmus"
TABLE_ROW = re.compile(r"^\| ([A-Z0-9][\w+-]*)(?: \(one block\))? \|.*$", re.MULTILINE)
VERDICT = re.compile(r"\*\*(F|A|UB)\*\*")
BY_HAND = {"LOOP1"}
"""Files of programs with loops, which the notation of the rows does not have."""
DEFINED = "F"
"""The verdict of a row that says "defined, no race": nothing but the initial value is read."""
LARGE = {"LOCK4"}
"""Rows for which brute force takes seconds."""


def reference() -> dict[str, str]:
    """The verdict of each row of the language reference."""
    page = (ROOT / "docs" / "spec" / "litmus.md").read_text(encoding="utf-8")
    rows = {found[1]: VERDICT.findall(found[0]) for found in TABLE_ROW.finditer(page)}
    return {name: verdicts[0] if verdicts else DEFINED for name, verdicts in rows.items() if name != "Id"}


def written(name: str, row: Row) -> str:
    """The file of a row."""
    steps = [f"//   tile block {block}:  {steps}" for block, steps in enumerate(row.blocks)]
    comments = [f"// launch: {row.program.launch}", *(f"// {line}" for line in row.lines)]
    return "\n".join([f"// {name}", "//", *steps, "//", *comments, "", text(row.program)])


def test_every_row_of_the_reference_has_a_file_with_its_verdict() -> None:
    found = reference()
    assert len(found) > 90
    files = {path.stem.partition("-u")[0].partition("-e")[0].partition("-last")[0] for path in FOLDER.glob("*.mlir")}
    assert files == found.keys()
    verdicts = {name: row.verdict for name, row in ROWS.items() if name in found}
    assert {name: verdict for name, verdict in verdicts.items() if found[name] != verdict} == {}


@pytest.mark.parametrize("name", ROWS)
def test_a_file_is_what_its_row_says(name: str, bless: bool) -> None:
    path, expected = FOLDER / f"{name}.mlir", written(name, ROWS[name])
    if bless:
        path.write_text(expected, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == expected


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.mlir")), ids=lambda path: path.stem)
def test_the_explorer_gives_the_verdict(path: Path) -> None:
    report = explored_file(path)
    assert report.ok and report.complete, str(report)
    verdict = ROWS[path.stem].verdict if path.stem in ROWS else "UB"
    assert (verdict == "UB") == any(fault.kind == "race" for fault in report.faults)
    assert tileir.verify(tileir.load(path)).ok


@pytest.mark.parametrize("name", sorted(ROWS.keys() - LARGE))
def test_brute_force_gives_the_same_verdict(name: str) -> None:
    assert judged(ROWS[name].program).racy == (ROWS[name].verdict == "UB")
