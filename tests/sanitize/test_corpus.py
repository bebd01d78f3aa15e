"""Every faulty kernel of the corpus has exactly the findings that it is marked with, every mended one none."""

from __future__ import annotations

import pytest

from tests.sanitize.corpus_programs import Case, cases
from tests.thorough import sampled
from tileir.ir.loc import Location, SourceLoc, file_position
from tileir.sanitize.findings import KINDS, SYMMETRIC

CASES = cases()


def line_of(loc: Location | None) -> int | None:
    place = None if loc is None else file_position(loc)
    place = place.file_loc if isinstance(place, SourceLoc) else place
    return None if place is None else place.line


def _unordered(kind: str, line: int | None, other: int | None) -> tuple[str, int | None, int | None]:
    """Either access of a conflict may be met first."""
    if kind in SYMMETRIC and line is not None and other is not None:
        return kind, min(line, other), max(line, other)
    return kind, line, other


@pytest.mark.parametrize("case", sampled(CASES, 2), ids=lambda case: case.id)
def test_the_findings_are_those_that_the_program_is_marked_with(case: Case) -> None:
    report = case.report()
    found = [_unordered(finding.kind, line_of(finding.loc), line_of(finding.other)) for finding in report]
    assert sorted(found, key=str) == sorted((_unordered(*one) for one in case.expected), key=str), str(report)


def test_every_faulty_kernel_has_a_mended_twin() -> None:
    names = {case.id for case in CASES}
    wrong = {name for name in names if "-wrong_" in name}
    assert {name.replace("-wrong_", "-right_") for name in wrong} == names - wrong
    assert all(bool(case.expected) == case.name.startswith("wrong_") for case in CASES)


def test_there_are_sixty_pairs_of_all_kinds() -> None:
    assert len(CASES) >= 120
    assert {kind for case in CASES for kind, _, _ in case.expected} == set(KINDS)
