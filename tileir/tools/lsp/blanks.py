"""Formatting: indentation and blanks, without a change of any token or comment."""

from __future__ import annotations

import re

from tileir.text.reading.lexer import STRING
from tileir.tools.lsp.reading import TextReading

INDENT = 2
_PIECE = re.compile(rf"//[^\n]*|{STRING}|[ \t]+|->|[{{}}()\[\],<>]|[^\s{{}}()\[\],\"/<>-]+|[/-]")


def formatted(reading: TextReading) -> str | None:
    """Return the text with each statement indented by the braces around it; None if it cannot be read.

    A line that goes on with a statement keeps its distance from the line where that begins.
    """
    if reading.faults:
        return None
    starts = {reading.source.position(begin)[0] - 1 for begin in reading.statements}
    lines = reading.source.text.split("\n")
    pieces = [_PIECE.findall(line.strip()) for line in lines]
    indents = _Indents([_width(line) for line in lines], pieces, starts)
    found = [
        " " * indents.next(number) + _joined(row, number in starts) if row else "" for number, row in enumerate(pieces)
    ]
    return "\n".join(_without_blank_ends(found))


def _width(line: str) -> int:
    line = line.expandtabs()
    return len(line) - len(line.lstrip())


class _Indents:
    """The new indentation of line after line, from the old `widths` and the braces."""

    def __init__(self, widths: list[int], pieces: list[list[str]], starts: set[int]) -> None:
        self._widths, self._pieces, self._starts = widths, pieces, starts
        self._closing = _closing_lines(pieces)
        self._around: list[int] = []
        self._before = self._after = 0

    def next(self, number: int) -> int:
        row, width = self._pieces[number], self._widths[number]
        inside = self._around[-1] + INDENT if self._around else 0
        if row[0] == "}" and self._around:
            indent = self._around[-1]
            self._before, self._after = width, indent
        elif number in self._starts:
            indent = self._after = inside
            self._before = width
        else:
            indent = inside if row[0].startswith("//") else max(0, self._after + width - self._before)
        self._follow(number, indent)
        return indent

    def _follow(self, number: int, indent: int) -> None:
        """Take in the braces of a line. What is in a body stands below the line whose indentation its end has."""
        for position, piece in enumerate(self._pieces[number]):
            if piece == "{":
                end = self._closing.get((number, position), number)
                own = number in self._starts or self._widths[end] == self._widths[number] != self._before
                self._around.append(indent if own else self._after)
            elif piece == "}" and self._around:
                self._around.pop()


def _closing_lines(pieces: list[list[str]]) -> dict[tuple[int, int], int]:
    """Return the line of the closing brace for each opening one, by its line and place in it."""
    found: dict[tuple[int, int], int] = {}
    open: list[tuple[int, int]] = []
    for number, row in enumerate(pieces):
        for position, piece in enumerate(row):
            if piece == "{":
                open.append((number, position))
            elif piece == "}" and open:
                found[open.pop()] = number
    return found


def _joined(pieces: list[str], begins: bool) -> str:
    """Return the pieces of a line with one blank where there were some: none inside brackets, one behind a comma that
    stands in no type."""
    text, last, gap, angles = "", "", False, 0 if begins else 1
    for piece in pieces:
        if piece.isspace():
            gap = True
            continue
        if piece.startswith("//"):
            text += ("  " if text else "") + piece.rstrip()
            continue
        inside = last in ("(", "[") or piece in (",", ")", "]")
        text += (" " if text and (gap or (last == "," and not angles)) and not inside else "") + piece
        angles += {"<": 1, ">": -1}.get(piece, 0)
        last, gap = piece, False
    return text


def _without_blank_ends(lines: list[str]) -> list[str]:
    """Return lines without two blank ones after each other, none at the beginning, and at the end the one that ends the
    last line."""
    kept: list[str] = []
    for line in lines:
        if line or (kept and kept[-1]):
            kept.append(line)
    while kept and not kept[-1]:
        kept.pop()
    return [*kept, ""] if kept else []
