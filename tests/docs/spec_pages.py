"""The pages of the language reference in `docs/spec`: their names, and the anchors that can be cited."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "spec"
PAGES = sorted(FOLDER.glob("*.md"))
ANCHOR = re.compile(r'<a id="([^"]+)"></a>')


@cache
def anchors(page: Path) -> tuple[str, ...]:
    """The explicit anchors of a page, in order."""
    return tuple(ANCHOR.findall(page.read_text(encoding="utf-8")))


def prose(page: Path) -> Iterator[tuple[int, str]]:
    """Number and text of every line outside blocks of code."""
    in_code = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip().startswith("```"):
            in_code = not in_code
        elif not in_code:
            yield number, line
