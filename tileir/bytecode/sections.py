"""The file around the sections (spec: bytecode#file): magic, version, section headers, end marker."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from tileir.bytecode import faults
from tileir.bytecode.faults import BytecodeFault
from tileir.bytecode.versions import SUPPORTED
from tileir.bytecode.wire import ByteCursor, Sink, Trace
from tileir.ir.versions import Version, version_text

MAGIC = b"\x7fTileIR\x00"
_MLIR_MAGIC = b"ML\xefR"
_HAS_ALIGNMENT = 0x80
PREVIEW = 1
"""The version tag of a file with preview content (spec: bytecode-samples#preview)."""


class Section(enum.IntEnum):
    """A section by its id."""

    END = 0
    STRING = 1
    FUNCTION = 2
    DEBUG = 3
    CONSTANT = 4
    TYPE = 5
    GLOBAL = 6
    PRODUCER = 7

    @property
    def label(self) -> str:
        return f"{self.name.lower()} section"


ALIGNMENT = {Section.STRING: 4, Section.FUNCTION: 8, Section.DEBUG: 8, Section.CONSTANT: 8, Section.TYPE: 4}
MANDATORY = (Section.STRING, Section.FUNCTION)
WRITE_ORDER = (
    Section.GLOBAL,
    Section.FUNCTION,
    Section.CONSTANT,
    Section.DEBUG,
    Section.TYPE,
    Section.PRODUCER,
    Section.STRING,
)


@dataclass(frozen=True)
class File:
    """A file cut into sections: each payload as a cursor. ``preview``: it says that it holds preview content."""

    version: Version
    preview: bool
    payloads: dict[Section, ByteCursor]


def is_bytecode(data: bytes) -> bool:
    """Return whether `data` starts as Tile IR bytecode does."""
    return bytes(data[: len(MAGIC)]) == MAGIC


def read_file(data: bytes, strict: bool = False, trace: Trace | None = None) -> File:
    """Cut a file into its sections; with `strict` a section may not come twice (else the last one counts)."""
    cursor = ByteCursor(data, 0, len(data), trace)
    if trace is not None:
        trace.heading(0, "header")
    try:
        version, preview = _read_header(cursor)
    except BytecodeFault as fault:
        raise fault.inside("header") from None
    payloads = _read_sections(cursor, strict)
    for section in MANDATORY:
        if section not in payloads:
            raise BytecodeFault(faults.SECTION_MISSING, f"expected a {section.label}, got none", len(data))
    return File(version, preview, payloads)


def _read_header(cursor: ByteCursor) -> tuple[Version, bool]:
    magic = cursor.data[: len(MAGIC)]
    if magic != MAGIC:
        wrong = next((at for at, byte in enumerate(magic) if byte != MAGIC[at]), len(magic))
        hint = "this is MLIR bytecode, not Tile IR bytecode" if magic.startswith(_MLIR_MAGIC) else None
        raise BytecodeFault(
            faults.MAGIC, f"expected the magic number {MAGIC.hex(' ')}, got {magic.hex(' ') or 'nothing'}", wrong, hint
        )
    cursor.take(len(MAGIC))
    cursor.note(0, "magic number")
    return _read_version(cursor)


def _read_version(cursor: ByteCursor) -> tuple[Version, bool]:
    begin = cursor.at
    version = cursor.byte(), cursor.byte()
    tag = cursor.uint(2)
    cursor.note(begin, f"version {version_text(version)}, tag {tag}")
    if version not in SUPPORTED:
        known = f"{version_text(SUPPORTED[0])} to {version_text(SUPPORTED[-1])}"
        raise BytecodeFault(faults.VERSION, f"expected a version from {known}, got {version_text(version)}", begin)
    newest = version == SUPPORTED[-1]
    if tag > (PREVIEW if newest else 0):
        wanted = f"0, or {PREVIEW} for preview content" if newest else "0"
        hint = None if newest else f"preview content exists in version {version_text(SUPPORTED[-1])} only"
        raise BytecodeFault(faults.VERSION, f"expected version tag {wanted}, got {tag:#x}", begin + 2, hint)
    return version, bool(tag)


def _read_sections(cursor: ByteCursor, strict: bool) -> dict[Section, ByteCursor]:
    payloads: dict[Section, ByteCursor] = {}
    while True:
        begin = cursor.at
        section = _read_section_id(cursor)
        if section is Section.END:
            break
        if strict and section in payloads:
            raise BytecodeFault(faults.DUPLICATE, f"expected one {section.label}, got another", begin)
        try:
            payloads[section] = _read_payload(cursor, section, begin)
        except BytecodeFault as fault:
            raise fault.inside(section.label) from None
    if cursor.left:
        raise BytecodeFault(faults.END, f"expected nothing after the end marker, got {cursor.left} bytes", cursor.at)
    return payloads


def _read_section_id(cursor: ByteCursor) -> Section:
    begin = cursor.at
    if not cursor.left:
        raise BytecodeFault(faults.TRUNCATED, "expected a section or the end marker, got the end of the file", begin)
    number = cursor.data[begin] & ~_HAS_ALIGNMENT
    if number > max(Section):
        raise BytecodeFault(faults.SECTION_ID, f"expected a section id of at most {max(Section)}, got {number}", begin)
    if cursor.data[begin] == _HAS_ALIGNMENT:
        raise BytecodeFault(faults.END, "expected an end marker without the alignment bit", begin)
    if cursor.trace is not None:
        cursor.trace.heading(begin, Section(number).label if number else "end")
    if not number:
        cursor.take(1)
        cursor.note(begin, "end marker")
    return Section(number)


def _read_payload(cursor: ByteCursor, section: Section, begin: int) -> ByteCursor:
    aligned = cursor.byte() & _HAS_ALIGNMENT
    length_at = cursor.at
    length = cursor.varint()
    _check_length(cursor, length, length_at)
    if aligned:
        alignment = _read_alignment(cursor, section)
        cursor.note(begin, f"id {int(section)}, length {length}, alignment {alignment}")
        _skip_padding(cursor, alignment)
    else:
        cursor.note(begin, f"id {int(section)}, length {length}")
        _check_unaligned(section, begin)
    _check_length(cursor, length, length_at)
    return cursor.sub(length)


def _check_length(cursor: ByteCursor, length: int, offset: int) -> None:
    if length > cursor.left:
        message = f"expected a length of at most the {cursor.left} bytes that follow, got {length}"
        raise BytecodeFault(faults.SECTION_LENGTH, message, offset, "the file may have been cut short")


def _check_unaligned(section: Section, begin: int) -> None:
    least = ALIGNMENT.get(section)
    if least is not None:
        raise BytecodeFault(faults.ALIGNMENT, f"expected an alignment that is a multiple of {least}, got none", begin)


def _read_alignment(cursor: ByteCursor, section: Section) -> int:
    at = cursor.at
    alignment = cursor.varint()
    if alignment == 0 or alignment & (alignment - 1):
        raise BytecodeFault(faults.ALIGNMENT, f"expected an alignment that is a power of two, got {alignment}", at)
    least = ALIGNMENT.get(section, 1)
    if alignment % least:
        raise BytecodeFault(
            faults.ALIGNMENT, f"expected an alignment that is a multiple of {least}, got {alignment}", at
        )
    return alignment


def _skip_padding(cursor: ByteCursor, alignment: int) -> None:
    """Skip the padding in front of a payload, which counts from the start of the file."""
    begin = cursor.at
    cursor.take(-begin % alignment)
    cursor.note(begin, "padding")


def write_file(version: Version, payloads: dict[Section, bytes | bytearray], preview: bool = False) -> bytes:
    """Return a file of these sections in canonical order."""
    sink = Sink()
    sink.data += MAGIC + bytes(version) + (PREVIEW if preview else 0).to_bytes(2, "little")
    for section in WRITE_ORDER:
        if section in payloads:
            _write_section(sink, section, payloads[section])
    sink.byte(Section.END)
    return bytes(sink.data)


def _write_section(sink: Sink, section: Section, payload: bytes | bytearray) -> None:
    alignment = ALIGNMENT.get(section)
    sink.byte(section | (_HAS_ALIGNMENT if alignment else 0))
    sink.varint(len(payload))
    if alignment:
        sink.varint(alignment)
        sink.padding(alignment)
    sink.data += payload
