"""Strings of a program as messages show them, and as bytes.

The output of a kernel's `print_tko` is not changed.
"""

from __future__ import annotations

import html
import re

LONGEST_NAME = 100
LONGEST_LINE = 4000


def shown(name: str, longest: int = LONGEST_NAME) -> str:
    """Return `name` on one line: what is not printable (control and format characters, broken UTF-8) as Python escapes
    it."""
    cut = name if len(name) <= longest else f"{name[:longest]}..."
    return cut if cut.isprintable() else "".join(map(_escaped, cut))


def shown_line(text: str) -> str:
    """Return a whole message of one line."""
    return shown(text, LONGEST_LINE)


def shown_lines(text: str) -> str:
    """Return a message whose line ends are ours."""
    return text if text.isprintable() and len(text) <= LONGEST_LINE else "\n".join(map(shown_line, text.split("\n")))


_MARKS = re.compile(r"(?mi)^(?:\S.*?: )?(error(?:\[\w+\])?|trap|warning(?:\[\w+\])?|note|proof|summary|  hint)(?=:)")
_MARK_COLOURS = {"e": "#d1242f", "t": "#d1242f", "w": "#b07d18"}
_OTHER_MARK = "#2a7fd0"


def shown_html(text: str) -> str:
    """Return a message for a notebook: its text, with its marks in colours that need no style sheet."""

    def coloured(match: re.Match[str]) -> str:
        before = match[0][: match.start(1) - match.start()]
        return f'{before}<b style="color:{_MARK_COLOURS.get(match[1][0].lower(), _OTHER_MARK)}">{match[1]}</b>'

    return f"<pre>{_MARKS.sub(coloured, html.escape(shown_lines(text), quote=False))}</pre>"


def as_bytes(text: str) -> bytes:
    """Return the bytes that `text` stands for: UTF-8, in which surrogate escapes are bytes that are not. Never
    fails."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return b"".join(map(_bytes, text))


def _escaped(char: str) -> str:
    return char if char.isprintable() else char.encode("unicode_escape", "backslashreplace").decode("ascii")


def _bytes(char: str) -> bytes:
    return char.encode("utf-8", "surrogateescape" if "\udc80" <= char <= "\udcff" else "surrogatepass")


def type_name(value: object) -> str:
    """Return the name of the type of a value, with its module unless that is Python's own."""
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
