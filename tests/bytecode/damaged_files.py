"""Files put together from raw parts, so that any part can be damaged and the place of the damage is known."""

from dataclasses import dataclass, field
from itertools import accumulate

import pytest

from tileir import bytecode
from tileir.bytecode.sections import Section, write_file
from tileir.bytecode.wire import Sink
from tileir.ir.diagnostics import DiagnosticError
from tileir.ir.loc import BytecodeLoc

I32, TILE, SIGNATURE, TOKEN, I1, POINTER, F32, SCALAR_I1 = range(8)
TYPES = (
    bytes.fromhex("03"),
    bytes.fromhex("0d 00 00"),
    bytes.fromhex("10 01 01 00"),
    bytes.fromhex("11"),
    bytes.fromhex("00"),
    bytes.fromhex("0c 00"),
    bytes.fromhex("07"),
    bytes.fromhex("0d 04 00"),
)
"""i32, tile<i32>, (tile<i32>) -> (), token, i1, ptr<i32> (before 13.4), f32, tile<i1>."""
RETURN = bytes.fromhex("5c 00 00")
CONSTANT = bytes.fromhex("04 07 00 00 00")
"""Four bytes: i32 7."""


def varint(value: int) -> bytes:
    sink = Sink()
    sink.varint(value)
    return bytes(sink.data)


def table(entries, width, offsets=None) -> bytes:
    """A table of entries; `offsets` replaces those that belong there."""
    sink = Sink()
    sink.varint(len(entries))
    if entries:
        sink.padding(width)
        right = [0, *accumulate(map(len, entries[:-1]))]
        for offset in right if offsets is None else offsets:
            sink.uint(offset, width)
    sink.data += b"".join(entries)
    return bytes(sink.data)


@dataclass
class Draft:
    """A file with one entry `@k(%arg0: tile<i32>)`; `payloads` replaces whole sections (None: left out)."""

    version: tuple[int, int] = (13, 3)
    strings: tuple[bytes, ...] = (b"k", b"", b"x")
    types: tuple[bytes, ...] = TYPES
    constants: tuple[bytes, ...] = (CONSTANT,)
    body: bytes = RETURN
    head: bytes = bytes.fromhex("00 02 02 00")
    extra: bytes | None = None
    payloads: dict[Section, bytes | None] = field(default_factory=dict)

    def build(self) -> bytes:
        payloads = {
            Section.FUNCTION: self.functions(),
            Section.CONSTANT: table(self.constants, 8),
            Section.TYPE: table(self.types, 4),
            Section.STRING: table(self.strings, 4),
        } | self.payloads
        return write_file(self.version, {id: data for id, data in payloads.items() if data is not None})

    def functions(self) -> bytes:
        return b"\x01" + self.head + self.between() + varint(len(self.body)) + self.body

    def between(self) -> bytes:
        """The bytes between the location and the length of the body."""
        if self.extra is not None:
            return self.extra
        return bytes.fromhex("0b 00 06 00") if self.version >= (13, 5) else b""

    def place(self, section: Section) -> int:
        """Offset of the payload of a section in the file."""
        payload = self.payloads.get(section) or {
            Section.FUNCTION: self.functions(),
            Section.CONSTANT: table(self.constants, 8),
            Section.TYPE: table(self.types, 4),
            Section.STRING: table(self.strings, 4),
        }.get(section)
        return self.build().index(payload)

    def body_at(self) -> int:
        return self.place(Section.FUNCTION) + len(self.functions()) - len(self.body)

    def type_at(self, index: int) -> int:
        count = len(self.types)
        return self.place(Section.TYPE) + len(table(self.types, 4)) - sum(map(len, self.types[index:count]))


def wrapped(attribute: bytes) -> bytes:
    """A body that holds a tagged attribute of any kind: the hints of a load (the operands are of wrong types)."""
    hints = bytes.fromhex("01 02") + attribute
    return bytes.fromhex("3d 01 03 02 00") + hints + b"\x00" + RETURN


ATTRIBUTE_AT = 7
"""Offset of the attribute in the body of `wrapped`."""


def found(data: bytes, **options) -> tuple[str, str, int]:
    """Code, path and offset of the one fault in `data`."""
    with pytest.raises(DiagnosticError) as raised:
        bytecode.decode(data, "file.tileirbc", **options)
    [diagnostic] = raised.value.diagnostics
    assert isinstance(diagnostic.loc, BytecodeLoc)
    assert f"{diagnostic.loc.path} (offset {diagnostic.loc.offset:#x})" in str(raised.value)
    assert "file.tileirbc" in str(raised.value)
    return diagnostic.code, diagnostic.loc.path, diagnostic.loc.offset
