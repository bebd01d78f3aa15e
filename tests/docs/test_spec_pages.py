"""The pages of the language reference hang together: contents, anchors, links, tables."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
from spec_pages import FOLDER, PAGES, ROOT, anchors, prose

from tileir import ops

LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]*)#([^)\s]+)\)")
HEADING = re.compile(r"#{2,} ")
CELL = re.compile(r"(?<!\\)\|")
MOST_LINES = 700

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


def test_the_contents_lead_to_every_page() -> None:
    contents = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in PAGES if page.name != "README.md" and f"({page.name})" not in contents] == []


@each_page
def test_a_page_is_of_a_readable_length(page: Path) -> None:
    assert len(page.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


@each_page
def test_every_section_has_an_anchor_that_does_not_depend_on_its_title(page: Path) -> None:
    if page.name == "README.md":
        return
    lines = [line for _, line in prose(page) if line]
    bare = [line for before, line in pairwise(lines) if HEADING.match(line) and not before.startswith("<a id=")]
    assert bare == []


@each_page
def test_anchors_are_short_and_stand_once(page: Path) -> None:
    found = anchors(page)
    assert len(set(found)) == len(found)
    operations = {name.replace("$", "-") for name in ops.SPELLINGS}
    assert [name for name in found if name not in operations and not re.fullmatch(r"[a-z0-9-]{2,25}", name)] == []


@pytest.mark.parametrize("name", ops.OPS)
def test_every_operation_has_an_anchor_on_the_page_of_its_chapter(name: str) -> None:
    assert name.replace("$", "-") in anchors(FOLDER / f"{ops.OPS[name].spec.chapter}.md")


@pytest.mark.parametrize(
    "page", [*PAGES, *sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"], ids=lambda page: str(page.name)
)
def test_links_to_sections_of_the_reference_lead_somewhere(page: Path) -> None:
    for target, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        found = (page.parent / target).resolve() if target else page
        if found.parent == FOLDER:
            assert anchor in anchors(found), f"{target}#{anchor}"


@each_page
def test_the_rows_of_a_table_have_as_many_cells_as_its_head(page: Path) -> None:
    """A line of text right behind a table would be read as one more row."""
    width = None
    for number, line in prose(page):
        if not line.lstrip().startswith("|"):
            assert width is None or not line, f"line {number}"
            width = None
            continue
        cells = len(CELL.findall(line))
        assert cells == (width or cells), f"line {number}"
        width = cells
