"""What each diagnostic code means: one page per code, with a program that has the fault and the mended program.

Knows: where the pages are. Does not know: what they say, nor how they are shown (`cli`).
"""

from __future__ import annotations

import re
from importlib.resources import files

_PAGE = re.compile(r"([EW]\d{4})\.md")


def explain(code: str) -> str | None:
    """The page of `code` (``"E0203"``) as Markdown, or None if there is no such code."""
    return (files(__name__) / f"{code}.md").read_text(encoding="utf-8") if code in codes() else None


def codes() -> list[str]:
    """Every code that has a page, in order."""
    found = (_PAGE.fullmatch(page.name) for page in files(__name__).iterdir())
    return sorted(match[1] for match in found if match)
