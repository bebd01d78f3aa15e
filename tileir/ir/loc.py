"""Source locations and debug-info attributes (spec: debug#locations)."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from tileir.ir.attributes import Attribute


class Source:
    """A text that was read: gives lines, and line and column of an offset.

    Its lines are counted from `first_line`, which is not 1 for a part of a file.
    """

    __slots__ = ("_starts", "first_line", "name", "text")

    def __init__(self, name: str, text: str, first_line: int = 1) -> None:
        self.name = name
        self.text = text
        self.first_line = first_line
        self._starts: list[int] | None = None

    def position(self, offset: int) -> tuple[int, int]:
        """Return line and 1-based column of `offset`."""
        starts = self._line_starts()
        index = bisect_right(starts, offset) - 1
        return self.first_line + index, offset - starts[index] + 1

    def has_line(self, number: int) -> bool:
        return 0 <= number - self.first_line < len(self._line_starts())

    def line(self, number: int) -> str:
        """Return the text of line `number`, without its end."""
        begin = self._line_starts()[number - self.first_line]
        end = self.text.find("\n", begin)
        return self.text[begin : len(self.text) if end < 0 else end].rstrip("\r")

    def __repr__(self) -> str:
        return f"<source {self.name!r}, {len(self._line_starts())} lines>"

    def _line_starts(self) -> list[int]:
        if self._starts is None:
            starts, found = [0], self.text.find("\n")
            while found >= 0:
                starts.append(found + 1)
                found = self.text.find("\n", found + 1)
            self._starts = starts
        return self._starts


class Location(Attribute):
    """Base of all locations; a location is an attribute too (``fused<...>`` metadata, dictionaries).

    Shown in a debugger as in text, but in short: ``loc('k.mlir':3:5)``.
    """

    __slots__ = ()

    def _shown(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"loc({self._shown()})"


@dataclass(frozen=True, repr=False)
class UnknownLoc(Location):
    """No place at all."""

    def __reduce__(self) -> str:
        """Pickle by name, as there is only one instance."""
        return "UNKNOWN"

    def _shown(self) -> str:
        return "unknown"


UNKNOWN = UnknownLoc()


class Places:
    """The places of at most `LENGTH` operations of one file, which are made when they are asked for: every operation
    has one, and hardly any is looked at.
    """

    __slots__ = ()
    LENGTH: ClassVar[int] = 256
    """Numbers below it take no memory, and every operation has one."""

    def location(self, number: int, name: str) -> Location:
        """Return the place of operation `number`, which has the name `name`."""
        raise NotImplementedError


class SourceLoc(Location):
    """A place that the parser found: a range of offsets in a `Source`. Not written in the program itself."""

    __slots__ = ("end", "offset", "source")

    def __init__(self, source: Source, offset: int, end: int) -> None:
        self.source = source
        self.offset = offset
        self.end = end

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SourceLoc) and self.source is other.source and self._range == other._range

    def __hash__(self) -> int:
        return hash(self._range)

    @property
    def _range(self) -> tuple[int, int]:
        return self.offset, self.end

    @property
    def file_loc(self) -> FileLoc:
        line, column = self.source.position(self.offset)
        return FileLoc(self.source.name, line, column)

    def _shown(self) -> str:
        return self.file_loc._shown()


class SourcePart(Places):
    """The places of operations of a `Source`: `marks` are offsets, times `LONGEST`, plus the lengths of names."""

    __slots__ = ("marks", "source")
    LONGEST: ClassVar[int] = 1 << 16

    def __init__(self, source: Source) -> None:
        self.source = source
        self.marks = array("Q")

    def location(self, number: int, name: str) -> SourceLoc:
        offset, length = divmod(self.marks[number], self.LONGEST)
        return SourceLoc(self.source, offset, offset + length)


@dataclass(frozen=True, repr=False, slots=True)
class FileLoc(Location):
    """``"file":line:column``, optionally ``to end_line:end_column``."""

    file: str
    line: int
    column: int
    end_line: int | None = None
    end_column: int | None = None

    def _shown(self) -> str:
        end = "" if self.end_line is None else f" to {self.end_line}:{self.end_column}"
        return f"{self.file!r}:{self.line}:{self.column}{end}"


@dataclass(frozen=True, repr=False)
class NameLoc(Location):
    """``"name"(child)``."""

    name: str
    child: Location = UNKNOWN

    def _shown(self) -> str:
        return repr(self.name) if self.child is UNKNOWN else f"{self.name!r}({self.child._shown()})"


@dataclass(frozen=True, repr=False)
class CallSiteLoc(Location):
    """``callsite(callee at caller)``."""

    callee: Location
    caller: Location

    @cached_property
    def _hash(self) -> int:
        return hash((self.callee, self.caller))

    def __hash__(self) -> int:
        """Return the hash, computed once: repeated inlining makes a tree of places with shared branches."""
        return self._hash

    def __reduce__(self) -> tuple[type[Location], tuple[Location, Location]]:
        """Pickle without the hash, which is another one in another process."""
        return CallSiteLoc, (self.callee, self.caller)

    def _shown(self) -> str:
        return f"callsite({self.callee._shown()} at {self.caller._shown()})"


@dataclass(frozen=True, repr=False)
class FusedLoc(Location):
    """``fused<metadata>[member, ...]``."""

    members: tuple[Location, ...]
    metadata: Attribute | None = None

    def _shown(self) -> str:
        metadata = "" if self.metadata is None else f"<{self.metadata!r}>"
        return f"fused{metadata}[{', '.join(member._shown() for member in self.members)}]"


class BytecodePart(Places):
    """A part of a bytecode file, by its path, and the `offsets` of some operations of it in turn, from `first` on."""

    __slots__ = ("file", "first", "offsets", "path")

    def __init__(self, file: str, path: str, offsets: Iterable[int] = (), first: int = 0) -> None:
        self.file = file
        self.path = path
        self.offsets = array("Q", offsets)
        self.first = first

    def location(self, number: int, name: str) -> BytecodeLoc:
        return BytecodeLoc(self, number, name)

    def following(self) -> BytecodePart:
        """Return the same part for the operations after these."""
        return BytecodePart(self.file, self.path, (), self.first + len(self.offsets))


class BytecodeLoc(Location):
    """A place in bytecode that carries no debug info: a path and a byte offset.

    It is operation `number` of a part, with the name `name`; a place of another kind (`at`) has no name.
    """

    __slots__ = ("_name", "_number", "_part")

    def __init__(self, part: BytecodePart, number: int, name: str) -> None:
        self._part = part
        self._number = number
        self._name = name

    @classmethod
    def at(cls, file: str, path: str, offset: int) -> BytecodeLoc:
        """Return the place `path` of a file, which begins at `offset`."""
        return cls(BytecodePart(file, path, (offset,)), 0, "")

    @property
    def file(self) -> str:
        return self._part.file

    @property
    def offset(self) -> int:
        return self._part.offsets[self._number]

    @property
    def path(self) -> str:
        part = self._part
        return f"{part.path}, {op_label(part.first + self._number, self._name)}" if self._name else part.path

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BytecodeLoc) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[str, str, int]:
        return self.file, self.path, self.offset

    def _shown(self) -> str:
        return f"{self.file!r}, {self.path}, offset {self.offset:#x}"


def op_label(number: int, name: str) -> str:
    """Return the name of an operation in paths: operations count from 0 within their function, outer before inner."""
    return f"op {number} '{name}'"


@dataclass(frozen=True)
class ScopeField:
    """A field of a debug scope or location: a string, a number, or an attribute of the class `holds`.

    Text calls it `key`, and may leave out a number that is `optional`, which is 0 then.
    """

    name: str
    holds: type
    key: str = ""
    optional: bool = False


class DebugScope(Attribute):
    """Base of the debug scopes, whose `fields` are in the order of text and bytecode."""

    __slots__ = ()
    mnemonic: ClassVar[str] = ""
    """The name in text; empty for a base of several classes."""
    fields: ClassVar[tuple[ScopeField, ...]] = ()


class LocalScope(DebugScope):
    """A scope that code can lie in: subprogram or lexical block."""

    __slots__ = ()


_LINE = ScopeField("line", int, "line")


@dataclass(frozen=True)
class DIFile(DebugScope):
    mnemonic = "di_file"
    fields = (ScopeField("name", str, "name"), ScopeField("directory", str, "directory"))
    name: str
    directory: str


_FILE = ScopeField("file", DIFile, "file")


@dataclass(frozen=True)
class DICompileUnit(DebugScope):
    mnemonic = "di_compile_unit"
    fields = (_FILE,)
    file: DIFile


@dataclass(frozen=True)
class DISubprogram(LocalScope):
    mnemonic = "di_subprogram"
    fields = (
        _FILE,
        _LINE,
        ScopeField("name", str, "name"),
        ScopeField("linkage_name", str, "linkageName"),
        ScopeField("compile_unit", DICompileUnit, "compileUnit"),
        ScopeField("scope_line", int, "scopeLine", optional=True),
    )
    file: DIFile
    line: int
    name: str
    linkage_name: str
    compile_unit: DICompileUnit
    scope_line: int = 0


@dataclass(frozen=True)
class DILexicalBlock(LocalScope):
    mnemonic = "di_lexical_block"
    fields = (
        ScopeField("scope", LocalScope, "scope"),
        _FILE,
        _LINE,
        ScopeField("column", int, "column", optional=True),
    )
    scope: LocalScope
    file: DIFile
    line: int
    column: int = 0


@dataclass(frozen=True, repr=False, slots=True)
class DILoc(Location):
    """A file position inside a debug scope."""

    position: FileLoc
    scope: LocalScope

    def _shown(self) -> str:
        function = subprogram(self.scope)
        return self.position._shown() if function is None else f"{self.position._shown()} in {function.name!r}"


@dataclass(frozen=True, repr=False)
class LocAlias(Location):
    """A ``loc(#name)`` whose definition comes later in the file; the parser replaces it before it returns."""

    name: str
    at: SourceLoc = field(compare=False)

    def _shown(self) -> str:
        return f"#{self.name}"


def debug_scope(loc: Location) -> LocalScope | None:
    """Return the debug scope that `loc` lies in (spec: debug#scopes), or None."""
    if isinstance(loc, DILoc):
        return loc.scope
    if isinstance(loc, CallSiteLoc):
        return debug_scope(loc.caller)
    if isinstance(loc, FusedLoc):
        return next((scope for scope in map(debug_scope, loc.members) if scope is not None), None)
    if isinstance(loc, NameLoc):
        return debug_scope(loc.child)
    return None


def subprogram(scope: LocalScope) -> DISubprogram | None:
    """Return the subprogram that encloses a local scope."""
    while isinstance(scope, DILexicalBlock):
        scope = scope.scope
    return scope if isinstance(scope, DISubprogram) else None


def file_position(loc: Location) -> FileLoc | SourceLoc | None:
    """Return the place in a file that a person should be shown for `loc`, or None."""
    if isinstance(loc, FileLoc | SourceLoc):
        return loc
    if isinstance(loc, DILoc):
        return loc.position
    if isinstance(loc, NameLoc):
        return file_position(loc.child)
    if isinstance(loc, CallSiteLoc):
        return file_position(loc.callee) or file_position(loc.caller)
    if isinstance(loc, FusedLoc):
        return next((place for place in map(file_position, loc.members) if place is not None), None)
    return None
