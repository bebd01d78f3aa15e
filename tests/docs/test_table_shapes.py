"""Tables of the manual are whole: each row has as many cells as the head of its table."""

import re
from itertools import groupby
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)


def _cells(row: str) -> int:
    """Return the number of cells in a row; a bar in code or behind a backslash separates none."""
    plain = re.sub(r"`[^`]*`", "code", row.replace("\\|", ""))
    return plain.strip().strip("|").count("|") + 1


def ragged(text: str) -> list[str]:
    """The rows of a page that have more or fewer cells than the head of their table."""
    lines = FENCED.sub("", text).splitlines()
    tables = (list(rows) for is_table, rows in groupby(lines, lambda line: line.lstrip().startswith("|")) if is_table)
    return [row for rows in tables for row in rows if _cells(row) != _cells(rows[0])]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_rows_have_as_many_cells_as_their_head(page: Path) -> None:
    assert not ragged(page.read_text(encoding="utf-8"))


def test_a_row_of_another_table_is_found() -> None:
    assert ragged("| a | b |\n|---|---|\n| 1 | 2 | 3 |\n| 1 | `x|y` |\n") == ["| 1 | 2 | 3 |"]
