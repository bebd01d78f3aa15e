"""Meanings of the diagnostic codes: a page for each, with a program that has the fault and the mended program.

Knows: where the pages are. Does not know: what they say, nor how they are shown (`cli.explain`).
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_PAGE = re.compile(r"([EW]\d{4})\.md")
_FINDING = re.compile(r"([a-z-]+)\.md")


@cache
def codes() -> tuple[str, ...]:
    """Return every code that has a page, in order."""
    found = (_PAGE.fullmatch(page.name) for page in files(__name__).iterdir())
    return tuple(sorted(match[1] for match in found if match))


@cache
def findings() -> tuple[str, ...]:
    """Return every kind of finding of the sanitizer that has a page, in order."""
    found = (_FINDING.fullmatch(page.name) for page in files(__name__).iterdir())
    return tuple(sorted(match[1] for match in found if match))


def explain(code: str) -> str | None:
    """Return the page of `code` (``"E0203"``, or a kind of finding) as Markdown, or None if there is no such code."""
    known = code in codes() or code in findings()
    return (files(__name__) / f"{code}.md").read_text(encoding="utf-8") if known else None
