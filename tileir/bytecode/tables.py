"""Tables of strings and constants, and the offset tables that they, types and debug records share
(bytecode specification, chapters 3 to 5).

Knows: how entries are found, counted and numbered. Entries are decoded when first used, strings at once.
Does not know: what is in a type (`types`) nor how the elements of a constant are laid out (`dense`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tileir.bytecode import dense, faults
from tileir.bytecode.faults import Fault, shown, shown_type
from tileir.bytecode.wire import Cursor, Sink
from tileir.ir import types as t
from tileir.ir.attributes import DenseElements
from tileir.ir.declare import Version

if TYPE_CHECKING:
    from tileir.bytecode.types import TypeReader, TypeWriter


class OffsetTable:
    """`count` entries of unequal length: a list of offsets of `width` bytes, then the entries one after the other."""

    def __init__(self, payload: Cursor, count: int, what: str, width: int) -> None:
        self.what = what
        self._count = count
        self._width = width
        self._payload = payload
        self._offsets = payload.take(count * width)
        self._data = payload.at
        payload.at = payload.end

    @staticmethod
    def read(payload: Cursor | None, what: str, width: int, limited: bool = False, padded: bool = False) -> OffsetTable:
        """The table that fills the rest of `payload`; without a payload or entries it is empty.

        `limited`: the count has the general limit of counts, and is held against the payload behind the padding.
        `padded`: padding follows even if there are no entries.
        """
        if payload is None:
            return OffsetTable(Cursor(b"", 0, 0), 0, what, width)
        begin = payload.at
        count = payload.count() if limited else payload.fitting_count(what, width)
        payload.note(begin, f"number of {what}: {count}")
        if count or padded:
            payload.padding(width)
            payload.check_fits(count, what, width, begin)
        table = OffsetTable(payload, count, what, width)
        table._note_offsets()
        return table

    def __len__(self) -> int:
        return self._count

    def _note_offsets(self) -> None:
        if self._payload.trace is not None:
            for index in range(self._count):
                at = self._offsets + index * self._width
                self._payload.trace.add(at, at + self._width, f"offset of entry {index} of {self.what}")

    def index(self, cursor: Cursor) -> int:
        """An index into the table, read from `cursor`."""
        at = cursor.at
        index = cursor.varint()
        if index >= self._count:
            raise Fault(faults.INDEX, f"expected an index into the {self._count} {self.what}, got {index}", at)
        return index

    def entry(self, index: int) -> Cursor:
        """The bytes of an entry."""
        begin, at = self._bound(index), self._offsets + index * self._width
        end = self._bound(index + 1) if index + 1 < self._count else self._payload.end
        if not self._data <= begin <= end <= self._payload.end:
            first, last, length = begin - self._data, end - self._data, self._payload.end - self._data
            message = f"expected entry {index} of {self.what} to lie in {length} bytes of data, got {first} to {last}"
            raise Fault(faults.OFFSET, message, at)
        return Cursor(self._payload.data, begin, end, self._payload.trace)

    def _bound(self, index: int) -> int:
        at = self._offsets + index * self._width
        return self._data + int.from_bytes(self._payload.data[at : at + self._width], "little")


class StringReader:
    """The string section, decoded; bytes that are not UTF-8 become surrogate escapes."""

    def __init__(self, payload: Cursor) -> None:
        self._table = OffsetTable.read(payload, "strings", 4)
        self._strings = [self._decode(index) for index in range(len(self._table))]

    def _decode(self, index: int) -> str:
        entry = self._table.entry(index)
        begin = entry.take(entry.left)
        text = entry.data[begin : entry.at].decode("utf-8", "surrogateescape")
        if entry.trace is not None:
            entry.note(begin, f'string {index}: "{shown(text)}"')
        return text

    def read(self, cursor: Cursor) -> str:
        """The string whose index stands at `cursor`."""
        return self._strings[self._table.index(cursor)]

    def read_name(self, cursor: Cursor, what: str) -> str:
        """A string that must not be empty."""
        at = cursor.at
        text = self.read(cursor)
        if not text:
            raise Fault(faults.EMPTY_NAME, f"expected {what}, got an empty string", at)
        return text


class ConstantReader:
    """The constant section: raw elements whose type comes from where they are used."""

    def __init__(self, payload: Cursor | None) -> None:
        self._table = OffsetTable.read(payload, "constants", 8, limited=True)
        for index in range(len(self._table)):
            self._table.entry(index)
        self._raw: dict[int, tuple[bytes, int]] = {}
        self._data: dict[tuple[int, t.ElementType, int], bytes] = {}

    def read(self, cursor: Cursor, type: t.Type) -> DenseElements:
        """The constant whose index stands at `cursor`, as elements of the tile type `type`."""
        at = cursor.at
        index = self._table.index(cursor)
        if not isinstance(type, t.TileType) or not isinstance(type.element, t.ElementType):
            raise Fault(
                faults.KIND, f"expected a tile of numbers as the type of a constant, got {shown_type(type)}", at
            )
        try:
            return DenseElements(type, self._elements(index, type, type.element))
        except Fault as fault:
            raise fault.inside(f"constant {index}") from None

    def _elements(self, index: int, type: t.TileType, element: t.ElementType) -> bytes:
        key = (index, element, type.count)
        data = self._data.get(key)
        if data is None:
            raw, offset = self.get(index)
            data = self._data[key] = DenseElements.of(type, dense.unpack(raw, type.count, element, offset)).data
        return data

    def __len__(self) -> int:
        return len(self._table)

    def get(self, index: int) -> tuple[bytes, int]:
        """The bytes of a constant, and their offset in the file."""
        if index not in self._raw:
            entry = self._table.entry(index)
            size = entry.varint()
            begin = entry.take(size) if size <= entry.left else self._too_long(size, entry)
            self._raw[index] = entry.data[begin : begin + size], begin
            entry.note(entry.origin, f"constant {index}: {size} bytes")
        return self._raw[index]

    @staticmethod
    def _too_long(size: int, entry: Cursor) -> int:
        message = f"expected the size of the constant to be at most the {entry.left} bytes of its entry, got {size}"
        raise Fault(faults.CONST_SIZE, message, entry.origin)


@dataclass
class Tables:
    """What the rest of a file refers to by index while it is read."""

    version: Version
    strings: StringReader
    types: TypeReader
    constants: ConstantReader


# ---------------------------------------------------------------- writing


class Numbering:
    """Distinct byte strings in order of first request."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}

    def index(self, entry: bytes) -> int:
        return self._numbers.setdefault(entry, len(self._numbers))

    def __len__(self) -> int:
        return len(self._numbers)

    def write(self, sink: Sink, width: int) -> None:
        """The table of all of them: count, padding, offsets of `width` bytes, entries; just the count if empty."""
        sink.varint(len(self))
        if self._numbers:
            sink.padding(width)
        offset = 0
        for entry in self._numbers:
            sink.uint(offset, width)
            offset += len(entry)
        sink.data += b"".join(self._numbers)

    def payload(self, width: int) -> bytes:
        """A section that holds just this table."""
        sink = Sink()
        self.write(sink, width)
        return bytes(sink.data)


class StringWriter(Numbering):
    """The strings of a file being written."""

    def number(self, text: str) -> int:
        try:
            return self.index(text.encode("utf-8", "surrogateescape"))
        except UnicodeEncodeError:
            message = f'expected text that can be written as UTF-8, got "{shown(text)}"'
            raise Fault(faults.MALFORMED, message) from None


class ConstantWriter(Numbering):
    """The constants of a file being written, one per distinct content."""

    def number(self, value: DenseElements) -> int:
        raw = dense.pack(value)
        sink = Sink()
        sink.varint(len(raw))
        return self.index(bytes(sink.data) + raw)


@dataclass
class TablesWriter:
    """What the rest of a file refers to by index while it is written."""

    version: Version
    types: TypeWriter
    strings: StringWriter = field(default_factory=StringWriter)
    constants: ConstantWriter = field(default_factory=ConstantWriter)
