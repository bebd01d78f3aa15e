"""The lines of operations: in the text of the program, and in the Python file that it was made of."""

from __future__ import annotations

import linecache
from dataclasses import dataclass

from tileir.ir.core import Module, Op
from tileir.ir.loc import CallSiteLoc, FileLoc, Location, Source, SourceLoc, file_position
from tileir.text.parser import parse
from tileir.text.printer import to_text


@dataclass(frozen=True)
class LinePlace:
    """A line, counted from one, of a file."""

    file: str
    line: int


class ProgramLines:
    """The lines of all operations of a program; `sources` are the texts that they are lines of, the program's first."""

    def __init__(self, module: Module) -> None:
        self._lines: dict[Op, int] = {}
        source = module.source
        self._imported = source is None
        if source is None or not all(type(op.loc) is SourceLoc for item in module.items for op in item.walk()):
            source = self._printed(module, source)
        else:
            for item in module.items:
                for op in item.walk():
                    assert isinstance(op.loc, SourceLoc)
                    self._lines[op] = source.position(op.loc.offset)[0]
        self.program = source
        self.sources: dict[str, Source] = {source.name: source}

    def _printed(self, module: Module, source: Source | None) -> Source:
        """Return the program as it is printed: the lines of an operation are those of its like when that is read
        again."""
        text = to_text(module)
        again = parse(text, source.name if source else f"{module.filename or 'program'}.mlir")
        pairs = zip(module.walk(), again.walk())
        for op, same in pairs:
            if isinstance(same.loc, SourceLoc):
                self._lines[op] = same.loc.source.position(same.loc.offset)[0]
        assert again.source is not None
        return again.source

    def of(self, op: Op) -> list[LinePlace]:
        """Return the line in the program, then those in other files, the innermost first."""
        line = self._lines.get(op)
        own = [] if line is None else [LinePlace(self.program.name, line)]
        return own + [place for place in self.elsewhere(op.loc) if place not in own]

    def elsewhere(self, loc: Location) -> list[LinePlace]:
        """Return the lines of a location that names files: where it is, and where that was called from.

        A program that was imported from another language has lines in the text that it was imported from.
        """
        found = []
        while True:
            place = file_position(loc)
            if isinstance(place, FileLoc) and place.line > 0 and self._known(place.file):
                found.append(LinePlace(place.file, place.line))
            elif isinstance(place, SourceLoc) and self._imported and self._takes(place.source):
                found.append(LinePlace(place.source.name, place.source.position(place.offset)[0]))
            if not isinstance(loc, CallSiteLoc):
                return list(dict.fromkeys(found))
            loc = loc.caller

    def _known(self, file: str) -> bool:
        """Return whether a text of that name exists; it is then added to `sources`."""
        if file not in self.sources:
            lines = linecache.getlines(file) if file.endswith(".py") else []
            if not lines:
                return False
            self.sources[file] = Source(file, "".join(lines))
        return True

    def _takes(self, source: Source) -> bool:
        """Return whether a text is one of `sources`; it is added where its name is free."""
        return self.sources.setdefault(source.name, source) is source
