"""The programs of the pages about findings: the wrong one has the finding, the mended one has none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tileir
from tests.sanitize.corpus_programs import cases_in
from tileir.sanitize.findings import KINDS

FOLDER = Path(tileir.__file__).parent / "explain"
_PROGRAM = re.compile(r"^```mlir (wrong|mended)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_shows_the_finding_and_how_to_mend_it(kind: str) -> None:
    page = FOLDER / f"{kind}.md"
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"# {kind}: ")
    found = {}
    for name, program in _PROGRAM.findall(text):
        (case,) = cases_in(page, f"cuda_tile.module @page {{\n{program}}}\n")
        found[name] = {finding.kind for finding in case.report()}
    assert found == {"wrong": {kind}, "mended": set()}
