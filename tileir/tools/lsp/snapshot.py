"""One version of a document: its text, the program read from it, its faults, and the ranges of its numbers."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property

from lsprotocol.types import Position, Range

from tileir.analysis.walk import Walk
from tileir.ir.core import Op, Value
from tileir.ir.diagnostics import Diagnostic
from tileir.ir.loc import Source
from tileir.ops.calls import Func
from tileir.ops.module import Entry
from tileir.tools.lsp.reading import TextReading, ValueName, read, token_around
from tileir.verify import verify


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
        """Return the offset of a position; one beyond the end of a line or of the text is that end."""
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
        """Return the line with this number, from zero on, without its end."""
        begin = self.starts[number]
        end = self.starts[number + 1] - 1 if number + 1 < len(self.starts) else len(self.text)
        return self.text[begin:end].rstrip("\r")


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


class Snapshot:
    """Version `version` of the document called `name`."""

    def __init__(self, name: str, text: str, version: int | None = None) -> None:
        self.version = version
        self.text = text
        self.source = Source(name, text)
        self._walks: dict[Op, Walk | None] = {}

    @cached_property
    def lines(self) -> Lines:
        return Lines(self.text)

    @cached_property
    def reading(self) -> TextReading:
        return read(self.source)

    @cached_property
    def diagnostics(self) -> list[Diagnostic]:
        """Return the faults of the text or, if there are none, of the program."""
        return self.reading.faults or verify(self.reading.module).diagnostics

    def release(self) -> None:
        """Free the memory of a version that nobody reads any more."""
        if "reading" in self.__dict__:
            self.__dict__.pop("reading").release()

    @property
    def is_sound(self) -> bool:
        return not any(found.severity == "error" for found in self.diagnostics)

    def name_at(self, offset: int) -> ValueName | None:
        """Return the value name that `offset` lies in."""
        begin, _ = token_around(self.text, offset)
        return self.reading.name_at(begin)

    # ------------------------------------------------------------ numbers

    def walk_of(self, value: Value) -> Walk | None:
        """Return the analysis of the entry or function around a value; None in a program with errors."""
        item = item_of(value)
        if item is None or not self.is_sound:
            return None
        if item not in self._walks:
            self.know(item)
        return self._walks[item]

    def know(self, item: Op) -> None:
        """Find what is known of the numbers of an entry or function."""
        body = item.regions[0]
        assert body is not None
        try:
            self._walks[item] = Walk(body)
        except RecursionError:
            self._walks[item] = None

    def know_all(self) -> None:
        """Find what is known of all numbers, so that it need not be found when somebody asks."""
        if self.is_sound:
            for item in self.reading.module.items:
                if isinstance(item, Entry | Func) and item not in self._walks:
                    self.know(item)


def item_of(value: Value) -> Op | None:
    """Return the entry or function that a value belongs to."""
    owner = value.owner
    op = owner if isinstance(owner, Op) else owner.parent
    while op is not None and not isinstance(op, Entry | Func):
        op = op.parent_op
    return op
