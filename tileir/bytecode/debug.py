"""The debug section (spec: bytecode-debug#top), in both directions; locations go in and out in decode order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tileir.bytecode import faults
from tileir.bytecode.faults import MAX_NESTING, BytecodeFault
from tileir.bytecode.tables import StringReader, StringWriter
from tileir.bytecode.wire import ByteCursor, Numbering, OffsetTable, Sink
from tileir.ir import loc as l
from tileir.ir.attributes import Attribute
from tileir.ir.loc import ScopeField
from tileir.ir.versions import Version, version_key

MAX_LOCATION_SIZE = 1024
"""Most positions that one location may be made of: shared records must not blow up when they are walked."""
_U32 = (1 << 32) - 1


@dataclass(frozen=True)
class DebugRecord:
    """A kind of record; `build` makes the object from the fields by name, `parts` gives them back in order."""

    tag: int
    name: str
    cls: type[Attribute]
    fields: tuple[ScopeField, ...]
    build: Callable[..., Attribute]
    parts: Callable[[Any], tuple[Any, ...]]
    flags_since: Version | None = None


def _plain(
    tag: int, name: str, cls: type[Attribute], fields: tuple[ScopeField, ...], flags_since: Version | None = None
) -> DebugRecord:
    """Return a record whose fields are the attributes of its class."""

    def parts(value: Any) -> tuple[Any, ...]:
        return tuple(getattr(value, field.name) for field in fields)

    return DebugRecord(tag, name, cls, fields, cls, parts, flags_since)


def _scope(tag: int, cls: type[l.DebugScope], flags_since: Version | None = None) -> DebugRecord:
    return _plain(tag, cls.mnemonic, cls, cls.fields, flags_since)


def _debug_loc(scope: l.LocalScope, file: str, line: int, column: int) -> l.DILoc:
    return l.DILoc(l.FileLoc(file, line, column), scope)


def _debug_loc_parts(loc: l.DILoc) -> tuple[Any, ...]:
    return loc.scope, loc.position.file, loc.position.line, loc.position.column


RECORDS = (
    _scope(1, l.DICompileUnit),
    _scope(2, l.DIFile),
    _scope(3, l.DILexicalBlock),
    DebugRecord(
        4,
        "di_loc",
        l.DILoc,
        (
            ScopeField("scope", l.LocalScope),
            ScopeField("file", str),
            ScopeField("line", int),
            ScopeField("column", int),
        ),
        _debug_loc,
        _debug_loc_parts,
    ),
    _scope(5, l.DISubprogram, version_key("13.5")),
    _plain(6, "call_site", l.CallSiteLoc, (ScopeField("callee", l.Location), ScopeField("caller", l.Location))),
)
_BY_TAG = {record.tag: record for record in RECORDS}
_BY_CLASS = {record.cls: record for record in RECORDS}


# ---------------------------------------------------------------- reading


class DebugReader:
    """The debug section; a record is decoded when it is first used."""

    def __init__(self, payload: ByteCursor | None, strings: StringReader, version: Version) -> None:
        self._strings = strings
        self._version = version
        self._records: dict[int, tuple[Attribute, int]] = {}
        self._open: set[int] = set()
        self._lists = _NumberList(payload, "location lists", 4)
        self._entries = _NumberList(payload, "locations", 8)
        self._table = OffsetTable.read(payload, "debug records", 4, padded=True)

    def __len__(self) -> int:
        return len(self._table)

    def locations(self, cursor: ByteCursor) -> Callable[[], l.Location | None] | None:
        """Return a function that gives, one per call, the locations of the function whose list number stands at
        `cursor`.

        None if it has no list.
        """
        begin = cursor.at
        number = cursor.varint()
        if number == 0:
            return None
        if number > len(self._lists):
            raise BytecodeFault(
                faults.LOC, f"expected one of {len(self._lists)} location lists, got list {number}", begin
            )
        start = self._lists[number - 1]
        if start >= len(self._entries):
            message = f"expected the list to start at one of {len(self._entries)} locations, got {start}"
            raise BytecodeFault(faults.LOC, message, self._lists.offset(number - 1))
        return _LocationList(self, self._entries, start)

    def location(self, number: int, offset: int) -> l.Location | None:
        """Return the location with this number; None if unknown. `offset` is where the number stands."""
        if number == 0:
            return None
        if number > len(self._table):
            raise BytecodeFault(
                faults.LOC, f"expected one of {len(self._table)} debug records, got record {number}", offset
            )
        record = self.get(number - 1)
        if not isinstance(record, l.Location):
            message = f"expected a location, got debug record {number}, a {_BY_CLASS[type(record)].name}"
            raise BytecodeFault(faults.LOC, message, offset)
        return None if record is l.UNKNOWN else record

    def get(self, index: int) -> Attribute:
        """Return the record with this index, counted from 0."""
        if index not in self._records:
            self._open.add(index)
            try:
                self._records[index] = self._decode(self._table.entry(index), index)
            except BytecodeFault as fault:
                raise fault.inside(f"debug record {index + 1}") from None
            finally:
                self._open.discard(index)
        return self._records[index][0]

    def _decode(self, entry: ByteCursor, index: int) -> tuple[Attribute, int]:
        """Return a record, and the number of positions that it is made of."""
        begin = entry.at
        record = _BY_TAG.get(entry.varint())
        if record is None:
            entry.note(begin, f"debug record {index + 1}: unknown")
            return l.UNKNOWN, 1
        if len(self._open) > MAX_NESTING:
            raise BytecodeFault(
                faults.NESTING, f"expected debug records nested at most {MAX_NESTING} deep, got more", begin
            )
        fields, size = self._fields(record, entry)
        if record.flags_since is not None and self._version >= record.flags_since:
            self._check_flags(entry)
        if size > MAX_LOCATION_SIZE:
            message = f"expected a location of at most {MAX_LOCATION_SIZE} positions, got {size}"
            raise BytecodeFault(faults.NESTING, message, begin)
        entry.note(begin, f"debug record {index + 1}: {record.name}")
        return record.build(**fields), size

    def _fields(self, record: DebugRecord, entry: ByteCursor) -> tuple[dict[str, object], int]:
        fields: dict[str, object] = {}
        size = 1
        for field in record.fields:
            try:
                if field.holds is str:
                    fields[field.name] = self._strings.read(entry)
                elif field.holds is int:
                    fields[field.name] = entry.varint() & _U32
                else:
                    fields[field.name], inner = self._reference(field.holds, entry)
                    size += inner
            except BytecodeFault as fault:
                raise fault.inside(f"field '{field.name}' of '{record.name}'") from None
        return fields, size

    def _reference(self, holds: type[Attribute], entry: ByteCursor) -> tuple[Attribute, int]:
        begin = entry.at
        number = entry.varint()
        if number == 0 and holds is l.Location:
            return l.UNKNOWN, 1
        if not 0 < number <= len(self._table):
            message = f"expected one of {len(self._table)} debug records, got record {number}"
            raise BytecodeFault(faults.DEBUG_INFO, message, begin)
        if number - 1 in self._open:
            raise BytecodeFault(
                faults.RECURSION, f"expected a record that does not contain itself, got record {number}", begin
            )
        found = self.get(number - 1)
        if not isinstance(found, holds):
            message = f"expected a {holds.__name__}, got debug record {number}, a {type(found).__name__}"
            raise BytecodeFault(faults.DEBUG_INFO, message, begin)
        return found, self._records[number - 1][1]

    @staticmethod
    def _check_flags(entry: ByteCursor) -> None:
        begin = entry.at
        flags = entry.varint()
        if flags > 1:
            raise BytecodeFault(faults.FLAGS, f"expected no flags but bit 0 (declaration), got {flags:#x}", begin)


class _NumberList:
    """A counted list of fixed-width numbers."""

    def __init__(self, payload: ByteCursor | None, what: str, width: int) -> None:
        self._data = b""
        self._begin = self._count = 0
        self._width = width
        if payload is not None:
            self._read(payload, what)

    def _read(self, payload: ByteCursor, what: str) -> None:
        begin = payload.at
        self._data = payload.data
        self._count = payload.fitting_count(what, self._width)
        payload.note(begin, f"number of {what}: {self._count}")
        payload.padding(self._width)
        self._begin = payload.take(self._count * self._width)
        if payload.trace is not None:
            for index in range(self._count):
                payload.trace.add(self.offset(index), self.offset(index + 1), f"entry {index} of {what}: {self[index]}")

    def __len__(self) -> int:
        return self._count

    def offset(self, index: int) -> int:
        return self._begin + index * self._width

    def __getitem__(self, index: int) -> int:
        return int.from_bytes(self._data[self.offset(index) : self.offset(index + 1)], "little")


class _LocationList:
    """Hands out the locations of one function; its end is not stored."""

    def __init__(self, debug: DebugReader, entries: _NumberList, start: int) -> None:
        self._debug = debug
        self._entries = entries
        self._next = start

    def __call__(self) -> l.Location | None:
        index = self._next
        if index >= len(self._entries):
            message = f"expected a location for every operation, got only {len(self._entries)} in the debug section"
            raise BytecodeFault(faults.LOC, message, self._entries.offset(index))
        self._next += 1
        return self._debug.location(self._entries[index], self._entries.offset(index))


# ---------------------------------------------------------------- writing


class DebugWriter:
    """Collects the locations of all functions.

    Locations without a debug scope cannot be stored and are left out; with `strict` leaving out one that a person
    named is a fault.
    """

    def __init__(self, strings: StringWriter, version: Version, strict: bool = False) -> None:
        self._strings = strings
        self._version = version
        self._strict = strict
        self._records = Numbering()
        self._known: dict[int, tuple[Attribute, int]] = {}
        self._lists: list[list[int]] = []

    def function(self, loc: l.Location) -> tuple[int, list[int]]:
        """Return the list number of a function at `loc`, and the list that takes the locations of its operations.

        A function whose own location cannot be stored has list number 0, and loses those of its operations.
        """
        number = self.number(loc)
        entries = [number]
        if number:
            self._lists.append(entries)
        return (len(self._lists) if number else 0), entries

    def number(self, loc: l.Location) -> int:
        """Return the record number of `loc`; 0 if it cannot be stored."""
        if self._strict and isinstance(loc, l.NameLoc | l.FusedLoc):
            raise BytecodeFault(faults.WRITE_LOC, f"expected a location with a debug scope, got a {type(loc).__name__}")
        found = _storable(loc)
        return 0 if found is None else self._record(found, 0)

    def _record(self, value: Attribute, depth: int) -> int:
        known = self._known.get(id(value))
        if known is None:
            known = self._known[id(value)] = value, self._records.index(self._encode(value, depth)) + 1
        return known[1]

    def _encode(self, value: Attribute, depth: int) -> bytes:
        if depth >= MAX_NESTING:
            raise BytecodeFault(faults.NESTING, f"expected locations nested at most {MAX_NESTING} deep, got more")
        record = _BY_CLASS[type(value)]
        sink = Sink()
        sink.varint(record.tag)
        for part in record.parts(value):
            sink.varint(self._part(part, depth + 1))
        if record.flags_since is not None and self._version >= record.flags_since:
            sink.varint(0)
        return bytes(sink.data)

    def _part(self, part: str | int | Attribute, depth: int) -> int:
        if isinstance(part, str):
            return self._strings.number(part)
        if isinstance(part, int):
            return part & _U32
        if isinstance(part, l.Location):
            found = _storable(part)
            return 0 if found is None else self._record(found, depth)
        return self._record(part, depth)

    def payload(self) -> bytes | None:
        """Return the section; None if no location was recorded."""
        if not self._lists:
            return None
        sink = Sink()
        starts, start = [], 0
        for entries in self._lists:
            starts.append(start)
            start += len(entries)
        _write_numbers(sink, starts, 4)
        _write_numbers(sink, [number for entries in self._lists for number in entries], 8)
        self._records.write(sink, 4)
        return bytes(sink.data)


def _storable(loc: l.Location) -> l.DILoc | l.CallSiteLoc | None:
    """Return the part of a location that a record can hold, or None."""
    if isinstance(loc, l.DILoc | l.CallSiteLoc):
        return loc
    if isinstance(loc, l.NameLoc):
        return _storable(loc.child)
    if isinstance(loc, l.FusedLoc):
        return next((found for found in map(_storable, loc.members) if found is not None), None)
    return None


def _write_numbers(sink: Sink, numbers: list[int], width: int) -> None:
    sink.varint(len(numbers))
    sink.padding(width)
    for number in numbers:
        sink.uint(number, width)
