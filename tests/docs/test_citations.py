"""Every citation of the language reference, ``spec: page#anchor``, leads to a page and an anchor that exist."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from spec_pages import FOLDER, ROOT, anchors

PLACES = ("tileir", "tests", "docs", "bench", "README.md", "CONTRIBUTING.md")
SUFFIXES = {".py", ".md", ".c", ".mlir"}
CITATION = re.compile(r"\bspec:\s+([\w-]+)#([\w-]+)")
FORM = ("page", "anchor")
"""The form itself, as it is written where it is explained."""
UNNAMED = re.compile(
    r"""\bspec:\s*$                                                         # the page stands on the next line
      | \bspec\s[\w-]+\#[\w-]+                                              # no colon
      | §
      | \bspecification,?\s(?:\d|chapters?\s\d|sections?\s\d)
      | \bbytecode\sspecification\b
      | \b(?:operations|semantics|memory\smodel|types\sand\ssyntax)(?:-\d)?,?\s(?:chapter\s|section\s|part\s)?\d+\.\d+\b
      | [(;]\s?(?:specification,\s)?(?:operations|semantics|memory\smodel|types\sand\ssyntax)(?:-\d,)?\s\d+[):;,]
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Citations by number, of documents that are not here, and others that are not of the form."""


def files() -> list[Path]:
    found = [ROOT / place for place in PLACES if (ROOT / place).is_file()]
    for place in PLACES:
        found += [path for path in (ROOT / place).rglob("*") if path.suffix in SUFFIXES and path != Path(__file__)]
    return sorted(found)


def citations() -> Iterator[tuple[str, str, str]]:
    """Place, page and anchor of every citation."""
    for path in files():
        text = path.read_text(encoding="utf-8")
        for found in CITATION.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            yield f"{path.relative_to(ROOT)}:{line}", *found.groups()


def test_every_page_and_anchor_that_is_cited_exists() -> None:
    wrong = [
        f"{place}: {page}#{anchor}"
        for place, page, anchor in citations()
        if (page, anchor) != FORM
        and not ((FOLDER / f"{page}.md").is_file() and anchor in anchors(FOLDER / f"{page}.md"))
    ]
    assert wrong == []


def test_citations_are_found_at_all() -> None:
    cited = {page for _, page, _ in citations()}
    assert {"types", "views", "bytecode", "control", "undefined"} <= cited


def test_nothing_is_cited_in_another_form() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in files()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if UNNAMED.search(line) and line.strip() != "spec:"  # a key of a Kubernetes file
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "text",
    [
        "(specification 8.3)",
        "(specification, chapter 4)",
        "(specification, semantics 11)",
        "(bytecode specification)",
        "(operations-2, 1.4)",
        "(operations 5.4)",
        "(semantics 12)",
        "(memory model 14.3)",
        "(types and syntax 5.3; semantics 14)",
        "(spec views#index-mapping)",
        "as asked (spec:",
    ],
)
def test_other_forms_are_recognised(text: str) -> None:
    assert UNNAMED.search(text)


@pytest.mark.parametrize(
    "text", ["(spec: views#index-mapping)", "three operations 5 of them", "version 13.4 of the specification"]
)
def test_the_form_and_plain_prose_are_not_taken_for_others(text: str) -> None:
    assert not UNNAMED.search(text)
