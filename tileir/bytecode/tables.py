"""Tables of strings and constants (spec: bytecode#strings, spec: bytecode#constants), and all tables of a file."""

from __future__ import annotations

from dataclasses import dataclass, field

from tileir.bytecode import faults
from tileir.bytecode.faults import CONST_SIZE, KIND, MALFORMED, BytecodeFault, shown_type
from tileir.bytecode.types import TypeReader, TypeWriter
from tileir.bytecode.wire import ByteCursor, Numbering, OffsetTable, Sink
from tileir.ir import tf32
from tileir.ir import types as t
from tileir.ir.attributes import DenseElements
from tileir.ir.escaping import shown
from tileir.ir.versions import Version

_LOW_NIBBLE = bytes(byte & 0xF for byte in range(256))
_BITS = [bytes(byte >> bit & 1 for bit in range(8)) for byte in range(256)]
_DIGITS = bytes(ord("1") if byte else ord("0") for byte in range(256))


def unpack(raw: bytes, count: int, element: t.ElementType, offset: int) -> bytes:
    """Return the wire bytes of a splat or of `count` elements as `DenseElements.data`; `offset` is where `raw`
    stands."""
    if element is t.I1:
        return _unpack_bits(raw, count, offset)
    size = tf32.PACKED_BYTES if element is t.TF32 else element.byte_size
    if len(raw) not in (size, size * count):
        message = f"expected {size} bytes (all elements equal) or {size * count} bytes, got {len(raw)}"
        raise BytecodeFault(CONST_SIZE, message, offset)
    if element is t.TF32:
        return tf32.words(raw)
    return raw.translate(_LOW_NIBBLE) if element.bits == 4 else raw


def _unpack_bits(raw: bytes, count: int, offset: int) -> bytes:
    packed = (count + 7) // 8
    if len(raw) == packed:
        return b"".join(_BITS[byte] for byte in raw)[:count]
    if len(raw) == 1:
        return _BITS[raw[0]][:1]
    message = f"expected {packed} bytes of packed bits or 1 byte (all elements equal), got {len(raw)}"
    raise BytecodeFault(CONST_SIZE, message, offset)


def pack(value: DenseElements) -> bytes:
    """Return the wire bytes of a constant: one element if all are equal, else all of them."""
    element = value.type.element
    if not isinstance(element, t.ElementType):
        raise BytecodeFault(KIND, f"expected a constant of numbers, got {shown_type(value.type)}")
    size = element.byte_size
    full = size * value.type.count
    if len(value.data) not in (size, full):
        message = f"expected {size} or {full} bytes of data for {shown_type(value.type)}, got {len(value.data)}"
        raise BytecodeFault(MALFORMED, message)
    data = DenseElements.of(value.type, value.data).data
    if element is t.I1:
        return _pack_bits(data)
    return tf32.packed(data) if element is t.TF32 else data


def _pack_bits(data: bytes) -> bytes:
    if len(data) == 1:
        return b"\xff" if data[0] else b"\x00"
    return int(data[::-1].translate(_DIGITS), 2).to_bytes((len(data) + 7) // 8, "little")


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
            data = self._data[key] = DenseElements.of(type, unpack(raw, type.count, element, offset)).data
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
        raw = pack(value)
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
