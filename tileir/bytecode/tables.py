"""Tables of strings and constants (spec: bytecode#strings, spec: bytecode#constants), and all tables of a file."""

from __future__ import annotations

from dataclasses import dataclass, field

from tileir.bytecode import dense, faults
from tileir.bytecode.faults import BytecodeFault, shown_type
from tileir.bytecode.offsets import Numbering, OffsetTable
from tileir.bytecode.types import TypeReader, TypeWriter
from tileir.bytecode.wire import ByteCursor, Sink
from tileir.ir import types as t
from tileir.ir.attributes import DenseElements
from tileir.ir.escaping import shown
from tileir.ir.versions import Version


class StringReader:
    """The string section, decoded; bytes that are not UTF-8 become surrogate escapes."""

    def __init__(self, payload: ByteCursor) -> None:
        self._table = OffsetTable.read(payload, "strings", 4)
        self._strings = [self._decode(index) for index in range(len(self._table))]

    def _decode(self, index: int) -> str:
        entry = self._table.entry(index)
        begin = entry.take(entry.left)
        text = entry.data[begin : entry.at].decode("utf-8", "surrogateescape")
        if entry.trace is not None:
            entry.note(begin, f'string {index}: "{shown(text)}"')
        return text

    def read(self, cursor: ByteCursor) -> str:
        """Return the string whose index stands at `cursor`."""
        return self._strings[self._table.index(cursor)]

    def read_name(self, cursor: ByteCursor, what: str) -> str:
        """Return a string that must not be empty."""
        at = cursor.at
        text = self.read(cursor)
        if not text:
            raise BytecodeFault(faults.EMPTY_NAME, f"expected {what}, got an empty string", at)
        return text


class ConstantReader:
    """The constant section: raw elements whose type comes from where they are used."""

    def __init__(self, payload: ByteCursor | None) -> None:
        self._table = OffsetTable.read(payload, "constants", 8, limited=True)
        for index in range(len(self._table)):
            self._table.entry(index)
        self._raw: dict[int, tuple[bytes, int]] = {}
        self._data: dict[tuple[int, t.ElementType, int], bytes] = {}

    def read(self, cursor: ByteCursor, type: t.Type) -> DenseElements:
        """Return the constant whose index stands at `cursor`, as elements of the tile type `type`."""
        at = cursor.at
        index = self._table.index(cursor)
        if not isinstance(type, t.TileType) or not isinstance(type.element, t.ElementType):
            raise BytecodeFault(
                faults.KIND, f"expected a tile of numbers as the type of a constant, got {shown_type(type)}", at
            )
        try:
            return DenseElements(type, self._elements(index, type, type.element))
        except BytecodeFault as fault:
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
        """Return the bytes of a constant, and their offset in the file."""
        if index not in self._raw:
            entry = self._table.entry(index)
            size = entry.varint()
            begin = entry.take(size) if size <= entry.left else self._too_long(size, entry)
            self._raw[index] = entry.data[begin : begin + size], begin
            entry.note(entry.origin, f"constant {index}: {size} bytes")
        return self._raw[index]

    @staticmethod
    def _too_long(size: int, entry: ByteCursor) -> int:
        message = f"expected the size of the constant to be at most the {entry.left} bytes of its entry, got {size}"
        raise BytecodeFault(faults.CONST_SIZE, message, entry.origin)


@dataclass
class TableReaders:
    """The tables that the rest of a file refers to by index while it is read."""

    version: Version
    strings: StringReader
    types: TypeReader
    constants: ConstantReader
    preview: bool


# ---------------------------------------------------------------- writing


class StringWriter(Numbering):
    """The strings of a file being written."""

    def number(self, text: str) -> int:
        try:
            return self.index(text.encode("utf-8", "surrogateescape"))
        except UnicodeEncodeError:
            message = f'expected text that can be written as UTF-8, got "{shown(text)}"'
            raise BytecodeFault(faults.MALFORMED, message) from None


class ConstantWriter(Numbering):
    """The constants of a file being written, one per distinct content."""

    def number(self, value: DenseElements) -> int:
        raw = dense.pack(value)
        sink = Sink()
        sink.varint(len(raw))
        return self.index(bytes(sink.data) + raw)


@dataclass
class TableWriters:
    """The tables that the rest of a file refers to by index while it is written."""

    version: Version
    types: TypeWriter
    strings: StringWriter = field(default_factory=StringWriter)
    constants: ConstantWriter = field(default_factory=ConstantWriter)
