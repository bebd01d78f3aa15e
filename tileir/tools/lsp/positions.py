"""Offsets in a text and positions of the protocol, which counts columns in UTF-16 units from zero.

Knows: lines and units. Does not know: what stands at a place.
"""

from __future__ import annotations

from bisect import bisect_right

from lsprotocol.types import Position, Range


class Lines:
    """The lines of a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0]
        found = text.find("\n")
        while found >= 0:
            self.starts.append(found + 1)
            found = text.find("\n", found + 1)
        self._plain = text.isascii()

    def position(self, offset: int) -> Position:
        line = bisect_right(self.starts, offset) - 1
        before = offset - self.starts[line]
        if not self._plain:
            before = _units(self.text[self.starts[line] : offset])
        return Position(line, before)

    def range(self, begin: int, end: int) -> Range:
        return Range(self.position(begin), self.position(end))

    def offset(self, position: Position) -> int:
        """The offset of a position; one beyond the end of a line or of the text is that end."""
        if position.line >= len(self.starts):
            return len(self.text)
        begin = self.starts[position.line]
        end = self.starts[position.line + 1] - 1 if position.line + 1 < len(self.starts) else len(self.text)
        if self._plain:
            return min(begin + position.character, end)
        units = 0
        for at in range(begin, end):
            if units >= position.character:
                return at
            units += _units(self.text[at])
        return end

    def line(self, number: int) -> str:
        """The line with this number, from zero on, without its end."""
        begin = self.starts[number]
        end = self.starts[number + 1] - 1 if number + 1 < len(self.starts) else len(self.text)
        return self.text[begin:end].rstrip("\r")


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
