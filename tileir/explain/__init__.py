"""Meanings of the diagnostic codes: a page for each, with a program that has the fault and the mended program; of the
words of the language; and an example of each operation.

Knows: where the pages are. Does not know: what they say, nor how they are shown (`cli.explain`).
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_PAGE = re.compile(r"([EW]\d{4})\.md")
_SECTION = re.compile(r"^# (.*)\n(?:(?!# ).*\n?)*", re.MULTILINE)
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


@cache
def words() -> dict[str, str]:
    """Return the page of each word of the language, as Markdown."""
    return _sections("language_words")


def operation_example(name: str) -> str:
    """Return a program with an operation, and what it prints, as Markdown."""
    return _sections("operation_examples")[name].partition("\n")[2].strip()


@cache
def _sections(file: str) -> dict[str, str]:
    """Return the parts of a page that begin with a heading, by the heading's text."""
    text = (files(__name__) / f"{file}.md").read_text(encoding="utf-8")
    return {match[1]: match[0].rstrip() + "\n" for match in _SECTION.finditer(text)}


def explain(code: str) -> str | None:
    """Return the page of `code` (``"E0203"``, or a kind of finding) as Markdown, or None if there is no such code."""
    known = code in codes() or code in findings()
    return (files(__name__) / f"{code}.md").read_text(encoding="utf-8") if known else None
