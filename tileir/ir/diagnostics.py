"""Diagnostics: what is wrong with a program, where, and how it is shown.

Three kinds of error are kept apart: a *diagnostic* is a fault of a program, a *trap* a fault of a run, and
`UnsupportedError` something a target cannot do.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tileir.ir.escaping import shown, shown_html, shown_line, shown_lines
from tileir.ir.loc import UNKNOWN, BytecodeLoc, FileLoc, Location, Source, SourceLoc, file_position

if TYPE_CHECKING:
    from tileir.ir.partial import PartialModule


MAX_SHOWN_LINE = 160
"""A source line longer than this is cut around the caret when shown."""
LONGEST_PATH = 400


@dataclass(frozen=True)
class Note:
    """Something that helps to understand a diagnostic, with its own place."""

    message: str
    loc: Location = UNKNOWN


@dataclass(frozen=True)
class Diagnostic:
    """One fault of a program.

    Attributes
    ----------
    code : str
        What kind of fault it is, as ``E0203``; codes never change their meaning.
    message : str
        What was expected and what was found.
    loc : Location
        Where it is.
    notes : tuple of Note
        What helps to understand it, each with a place of its own.
    hint : str or None
        The mend, where there is an obvious one.
    severity : str
        ``"error"`` or ``"warning"``.
    op, expected, got : str or None
        The operation, what was expected and what was found, where the message has them.
    """

    __module__ = "tileir"

    code: str
    message: str
    loc: Location = UNKNOWN
    notes: tuple[Note, ...] = ()
    hint: str | None = None
    severity: str = "error"
    op: str | None = None
    expected: str | None = None
    got: str | None = None

    def render(self, sources: Sequence[Source] = ()) -> str:
        """Return the text a person sees: place, severity, code, message, the source line with a caret, notes, hint."""
        lines = shown_place(self.loc, f"{self.severity}[{self.code}]: {self.message}", sources)
        for note in self.notes:
            lines += shown_place(note.loc, f"note: {note.message}", sources)
        if self.hint:
            lines.append(f"  hint: {shown_line(self.hint)}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return the same as data: file, line, column (1-based, null where unknown) and the fields."""
        data: dict[str, Any] = {"code": self.code, "severity": self.severity, "message": shown_line(self.message)}
        data |= _place(self.loc)
        parts = {"op": self.op, "expected": self.expected, "got": self.got, "hint": self.hint}
        data |= {name: None if part is None else shown_line(part) for name, part in parts.items()}
        data["notes"] = [{"message": shown_line(note.message)} | _place(note.loc) for note in self.notes]
        return data


@dataclass
class Report:
    """All diagnostics of one program, over which it iterates.

    Attributes
    ----------
    diagnostics : list of Diagnostic
        In the order found.
    source : Source or None
        The text of the program, if it was read from text.
    """

    __module__ = "tileir"

    diagnostics: list[Diagnostic] = field(default_factory=list)
    source: Source | None = None

    @property
    def ok(self) -> bool:
        """True if none of the diagnostics is an error."""
        return not any(diagnostic.severity == "error" for diagnostic in self.diagnostics)

    @property
    def errors(self) -> list[Diagnostic]:
        """The diagnostics that are errors."""
        return [diagnostic for diagnostic in self.diagnostics if diagnostic.severity == "error"]

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.diagnostics)

    def __len__(self) -> int:
        return len(self.diagnostics)

    def render(self) -> str:
        """Return all diagnostics for a reader, with source lines and carets."""
        return render_all(self.diagnostics, self.source)

    __str__ = render

    def _repr_html_(self) -> str:
        return shown_html(self.render() or "no faults")

    def to_json(self) -> dict[str, Any]:
        """Return the same as data: ``{"ok": ..., "diagnostics": [...]}``."""
        return {"ok": self.ok, "diagnostics": [diagnostic.to_json() for diagnostic in self.diagnostics]}

    def raise_if_errors(self) -> None:
        """Raise `DiagnosticError` unless `ok`."""
        if not self.ok:
            raise DiagnosticError(self.diagnostics, self.source)


class DiagnosticError(Exception):
    """A program that cannot be used.

    Attributes
    ----------
    diagnostics : list of Diagnostic
        Every fault found.
    source : Source or None
        The text of the program, if it was read from text.
    partial : PartialModule or None
        What could be read of a text in which something could not.
    """

    __module__ = "tileir"

    def __init__(
        self, diagnostics: Iterable[Diagnostic], source: Source | None = None, partial: PartialModule | None = None
    ) -> None:
        self.diagnostics = list(diagnostics)
        self.source = source
        self.partial = partial
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        return render_all(self.diagnostics, self.source)

    @property
    def codes(self) -> list[str]:
        """The code of each diagnostic."""
        return [diagnostic.code for diagnostic in self.diagnostics]


class FileError(DiagnosticError, OSError):
    """A file that cannot be read.

    Its attributes are those of `DiagnosticError`, and `errno`, `strerror` and `filename` as of every OSError.
    """

    def __init__(self, diagnostic: Diagnostic, number: int | None, reason: str, filename: str) -> None:
        super().__init__([diagnostic])
        self.errno, self.strerror, self.filename = number, reason, filename

    def __reduce__(self) -> tuple[type[FileError], tuple[object, ...]]:
        return type(self), (self.diagnostics[0], self.errno, self.strerror, self.filename)


class UnsupportedError(Exception):
    """Something that a target cannot do.

    Attributes
    ----------
    what : str
        What it cannot do.
    target : str
        The target's name.
    loc : Location
        The place in the program that asks for it, where there is one.
    """

    __module__ = "tileir"

    def __init__(self, what: str, target: str, loc: Location = UNKNOWN) -> None:
        self.what = what
        self.target = target
        self.loc = loc
        place = place_text(loc)
        text = f"{what} (target '{target}')"
        super().__init__(shown_lines(f"{place}: {text}" if place else text))

    def __reduce__(self) -> tuple[type[UnsupportedError], tuple[object, ...]]:
        return type(self), (self.what, self.target, self.loc)

    def __repr__(self) -> str:
        place = "" if self.loc is UNKNOWN else f", loc={self.loc!r}"
        return f"tileir.UnsupportedError({self.what!r}, {self.target!r}{place})"


Coordinates = tuple[int, int, int]
"""The place of a tile block in the grid: (x, y, z)."""


class Trap(Exception):
    """A fault while a kernel ran: failed assert, access outside the arrays, undefined behaviour found by a check.

    Attributes
    ----------
    message : str
        What went wrong.
    kernel : str or None
        The entry's name.
    block : tuple of int, or None
        The tile block, ``(x, y, z)``.
    op : str or None
        The operation's name.
    loc : Location
        Its place.
    array : str or None
        The parameter concerned, where there is one.
    index : int, tuple of int, or None
        The byte offset or element index, where there is one.
    source : Source or None
        The text of the program, if it was read from text.
    notes : tuple of Note
        What helps to understand it.
    """

    __module__ = "tileir"

    def __init__(
        self,
        message: str,
        *,
        kernel: str | None = None,
        block: Coordinates | None = None,
        op: str | None = None,
        loc: Location = UNKNOWN,
        array: str | None = None,
        index: int | tuple[int, ...] | None = None,
        source: Source | None = None,
        notes: tuple[Note, ...] = (),
    ) -> None:
        self.message = message
        self.kernel = kernel
        self.block = block
        self.op = op
        self.loc = loc
        self.array = array
        self.index = index
        self.source = source
        self.notes = notes
        super().__init__(message)

    def __repr__(self) -> str:
        names = ("kernel", "block", "op", "array", "index")
        known = [f"{name}={getattr(self, name)!r}" for name in names if getattr(self, name) is not None]
        place = [] if self.loc is UNKNOWN else [f"loc={self.loc!r}"]
        return f"tileir.{type(self).__name__}({', '.join([repr(self.message), *known, *place])})"

    def __str__(self) -> str:
        where = [f"'{self.op}'"] if self.op else []
        if self.kernel is not None:
            where.append(f"kernel @{shown(self.kernel)}")
        if self.block is not None:
            where.append(f"tile block {self.block}")
        text = f"trap: {self.message}" + (f" [{', '.join(where)}]" if where else "")
        sources = (self.source,) if self.source else ()
        lines = shown_place(self.loc, text, sources)
        for note in self.notes:
            lines += shown_place(note.loc, f"note: {note.message}", sources)
        return "\n".join(lines)


class LaunchTimeout(Trap):
    """A launch that took longer than its `timeout`; it has stopped, and earlier writes remain.

    Its attributes are those of `Trap`.
    """

    __module__ = "tileir"


def render_all(diagnostics: Iterable[Diagnostic], source: Source | None = None) -> str:
    sources = (source,) if source else ()
    return "\n".join(diagnostic.render(sources) for diagnostic in diagnostics)


def place_text(loc: Location) -> str:
    """Return ``file:line:column`` of a location, a bytecode path and offset, or the empty string; as messages show
    it."""
    if isinstance(loc, BytecodeLoc):
        return f"{shown(loc.file, LONGEST_PATH)}: {loc.path} (offset {loc.offset:#x})"
    place = _file_loc(loc)
    return f"{shown(place.file, LONGEST_PATH)}:{place.line}:{place.column}" if place else ""


def _file_loc(loc: Location) -> FileLoc | None:
    place = file_position(loc)
    return place.file_loc if isinstance(place, SourceLoc) else place


def _place(loc: Location) -> dict[str, Any]:
    if isinstance(loc, BytecodeLoc):
        return {"file": loc.file, "line": None, "column": None, "path": loc.path, "offset": loc.offset}
    place = _file_loc(loc)
    if place is None:
        return {"file": None, "line": None, "column": None}
    return {"file": place.file, "line": place.line, "column": place.column}


def shown_place(loc: Location, text: str, sources: Sequence[Source]) -> list[str]:
    """Return `text` with its place in front and, where the source is at hand, the line and a caret below."""
    place, text = place_text(loc), shown_lines(text)
    lines = [f"{place}: {text}" if place else text]
    found = file_position(loc)
    if isinstance(found, SourceLoc):
        line, column = found.source.position(found.offset)
        width = max(1, min(found.end, found.source.text.find("\n", found.offset) % (1 << 62)) - found.offset)
        lines += _excerpt(found.source.line(line), line, column, width)
    elif found is not None:
        source = next((source for source in sources if source.name == found.file), None)
        if source is not None and source.has_line(found.line):
            lines += _excerpt(source.line(found.line), found.line, found.column, 1)
    return lines


def _excerpt(line: str, number: int, column: int, width: int) -> list[str]:
    start = 0
    if len(line) > MAX_SHOWN_LINE:
        start = max(0, column - 1 - MAX_SHOWN_LINE // 2)
        line = ("..." if start else "") + line[start : start + MAX_SHOWN_LINE] + "..."
        column += (3 if start else 0) - start
    before, marked, after = _printable(line, column - 1, width)
    caret = " " * len(before) + "^" + "~" * (len(marked) - 1)
    gutter = str(number)
    return [f" {gutter} | {before}{marked}{after}", f" {' ' * len(gutter)} | {caret}"]


def _printable(line: str, begin: int, width: int) -> tuple[str, str, str]:
    """Return the text before the caret, and the parts of the line above and after it."""
    parts = line[:begin], line[begin : begin + width], line[begin + width :]
    before, marked, after = (shown_line(part.replace("\t", " ")) for part in parts)
    return before.ljust(begin), marked, after


MAX_WORD = 60
"""A longer word is no misspelt one."""
_MAX_COMPARED = 1000
"""Known words that a word is compared with: the latest ones."""


def did_you_mean(word: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return a hint with the nearest known word, if its similarity is at least `cutoff`; 1 is the same word."""
    if len(word) > MAX_WORD:
        return None
    near = difflib.get_close_matches(word, list(known)[-_MAX_COMPARED:], n=1, cutoff=cutoff)
    return f"did you mean '{near[0]}'?" if near else None
