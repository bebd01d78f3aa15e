"""Primitive encodings of bytecode (spec: bytecode#primitives): bytes, varints, fixed-width arrays, padding."""

from __future__ import annotations

import struct
from typing import Any, Protocol

from tileir.bytecode import faults
from tileir.bytecode.faults import COUNT, LIMIT, RANGE, TRUNCATED, VARINT, BytecodeFault

PADDING_BYTE = 0xCB
MAX_COUNT = (1 << 32) - 2
MAX_VARINT_BYTES = 10
_MASK64 = (1 << 64) - 1


class Trace(Protocol):
    """Whoever wants to know what each byte of a file means (`bytecode.dump`)."""

    def add(self, begin: int, end: int, meaning: str) -> None: ...

    def heading(self, begin: int, text: str) -> None: ...


class ByteCursor:
    """A reading position in `data` that never passes `end`; `origin` is where padding counts from."""

    __slots__ = ("at", "data", "end", "origin", "trace")

    def __init__(self, data: bytes, at: int, end: int, trace: Trace | None = None) -> None:
        self.data = data
        self.at = at
        self.end = end
        self.origin = at
        self.trace = trace

    @property
    def left(self) -> int:
        return self.end - self.at

    def note(self, begin: int, meaning: str) -> None:
        """Tell the trace what the bytes from `begin` to here mean."""
        if self.trace is not None and begin < self.at:
            self.trace.add(begin, self.at, meaning)

    def sub(self, length: int) -> ByteCursor:
        """Return the next `length` bytes as a cursor of their own; this one steps over them."""
        begin = self.take(length)
        return ByteCursor(self.data, begin, begin + length, self.trace)

    def take(self, size: int) -> int:
        """Step over `size` bytes and return where they begin."""
        begin = self.at
        if size > self.end - begin:
            message = f"expected {_bytes(size)} more, got {_bytes(self.end - begin)} before the end"
            raise BytecodeFault(TRUNCATED, message, begin)
        self.at = begin + size
        return begin

    def byte(self) -> int:
        return self.data[self.take(1)]

    def boolean(self) -> bool:
        return self.byte() != 0

    def varint(self) -> int:
        """Return an unsigned LEB128 number of at most 64 bits."""
        at = self.at
        if at < self.end:
            value = self.data[at]
            if value < 0x80:
                self.at = at + 1
                return value
        return self._long_varint()

    def _long_varint(self) -> int:
        begin, value = self.at, 0
        for position in range(MAX_VARINT_BYTES):
            if self.at >= self.end:
                raise BytecodeFault(TRUNCATED, "expected a variable-length integer, got the end of the data", begin)
            byte = self.byte()
            value |= (byte & 0x7F) << (7 * position)
            if byte < 0x80:
                return value & _MASK64
        raise BytecodeFault(
            VARINT, f"expected a variable-length integer of at most {MAX_VARINT_BYTES} bytes, got more", begin
        )

    def svarint(self) -> int:
        """Return a zigzag-encoded signed 64-bit number."""
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def bounded_varint(self, limit: int, what: str) -> int:
        begin = self.at
        value = self.varint()
        if value > limit:
            raise BytecodeFault(RANGE, f"expected {what} of at most {limit:#x}, got {value:#x}", begin)
        return value

    def count(self) -> int:
        """Return a number of things: at most 2^32 - 2."""
        begin = self.at
        value = self.varint()
        if value > MAX_COUNT:
            raise BytecodeFault(LIMIT, f"expected a count of at most {MAX_COUNT}, got {value}", begin)
        return value

    def fitting_count(self, what: str, entry_bytes: int) -> int:
        """Return a number of table entries of at least `entry_bytes` each, which must be able to follow."""
        begin = self.at
        value = self.varint()
        return self.check_fits(value, what, entry_bytes, begin)

    def check_fits(self, value: int, what: str, entry_bytes: int, begin: int) -> int:
        most = self.left // entry_bytes
        if value > most:
            message = f"expected at most {most} {what} in the {_bytes(self.left)} that follow, got {value}"
            raise BytecodeFault(COUNT, message, begin)
        return value

    def uint(self, size: int) -> int:
        """Return a fixed-width unsigned little-endian number."""
        begin = self.take(size)
        return int.from_bytes(self.data[begin : begin + size], "little")

    def i32_array(self) -> tuple[int, ...]:
        return self._array("i", 4)

    def i64_array(self) -> tuple[int, ...]:
        return self._array("q", 8)

    def bool_array(self) -> tuple[bool, ...]:
        return self._array("?", 1)

    def _array(self, code: str, size: int) -> tuple[Any, ...]:
        count = self.count()
        return struct.unpack_from(f"<{count}{code}", self.data, self.take(count * size))

    def apint(self, width: int) -> int:
        """Return a bit pattern of `width` bits, at most 64."""
        begin = self.at
        value = self.byte() if width <= 8 else self.svarint() & _MASK64
        return check_width(value, width, begin)

    def pattern(self, width: int) -> int:
        """Return a zero-extended bit pattern of `width` bits."""
        begin = self.at
        return check_width(self.varint(), width, begin)

    def padding(self, alignment: int) -> None:
        """Step to the next multiple of `alignment`; something must follow, whether or not a step is needed."""
        begin = self.at
        if begin >= self.end:
            raise BytecodeFault(TRUNCATED, "expected padding and a table, got the end of the data", begin)
        self.take(-(begin - self.origin) % alignment)
        self.note(begin, "padding")


class Sink:
    """Bytes being written."""

    __slots__ = ("data",)

    def __init__(self) -> None:
        self.data = bytearray()

    def byte(self, value: int) -> None:
        self.data.append(value)

    def varint(self, value: int) -> None:
        while value >= 0x80:
            self.data.append(value & 0x7F | 0x80)
            value >>= 7
        self.data.append(value)

    def svarint(self, value: int) -> None:
        self.varint(((value << 1) ^ (value >> 63)) & _MASK64)

    def uint(self, value: int, size: int) -> None:
        self.data += value.to_bytes(size, "little")

    def i32_array(self, values: tuple[int, ...]) -> None:
        self._array("i", values)

    def i64_array(self, values: tuple[int, ...]) -> None:
        self._array("q", values)

    def bool_array(self, values: tuple[bool, ...]) -> None:
        self._array("?", values)

    def _array(self, code: str, values: tuple[int, ...]) -> None:
        self.varint(len(values))
        try:
            self.data += struct.pack(f"<{len(values)}{code}", *values)
        except struct.error:
            bits = 8 * struct.calcsize(f"<{code}")
            raise BytecodeFault(RANGE, f"expected {bits}-bit integers, got {list(values)}") from None

    def apint(self, value: int, width: int) -> None:
        if width <= 8:
            self.byte(value)
        else:
            self.svarint(value - (1 << 64) if value >> 63 else value)

    def pattern(self, value: int, width: int) -> None:
        """Write `value` as a two's complement pattern of `width` bits."""
        if not -(1 << (width - 1)) <= value < 1 << width:
            raise BytecodeFault(RANGE, f"expected an integer of {width} bits, got {value}")
        self.varint(value & ((1 << width) - 1))

    def padding(self, alignment: int) -> None:
        self.data += bytes([PADDING_BYTE]) * (-len(self.data) % alignment)


def check_width(value: int, width: int, offset: int) -> int:
    if value >> width:
        raise BytecodeFault(RANGE, f"expected a value of {width} bits, got {value:#x}", offset)
    return value


def signed(pattern: int, width: int) -> int:
    """Return the two's complement reading of a bit pattern."""
    return pattern - (1 << width) if pattern >> (width - 1) else pattern


def _bytes(count: int) -> str:
    return "1 byte" if count == 1 else f"{count} bytes"


# ---------------------------------------------------------------- tables of entries of unequal length


class OffsetTable:
    """`count` entries of unequal length: a list of offsets of `width` bytes, then the entries one after the other."""

    def __init__(self, payload: ByteCursor, count: int, what: str, width: int) -> None:
        self.what = what
        self._count = count
        self._width = width
        self._payload = payload
        self._offsets = payload.take(count * width)
        self._data = payload.at
        payload.at = payload.end

    @staticmethod
    def read(
        payload: ByteCursor | None, what: str, width: int, limited: bool = False, padded: bool = False
    ) -> OffsetTable:
        """Return the table that fills the rest of `payload`; without a payload or entries it is empty.

        `limited`: the count has the general limit of counts, and is held against the payload behind the padding.
        `padded`: padding follows even if there are no entries.
        """
        if payload is None:
            return OffsetTable(ByteCursor(b"", 0, 0), 0, what, width)
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

    def index(self, cursor: ByteCursor) -> int:
        """Return an index into the table, read from `cursor`."""
        at = cursor.at
        index = cursor.varint()
        if index >= self._count:
            raise BytecodeFault(faults.INDEX, f"expected an index into the {self._count} {self.what}, got {index}", at)
        return index

    def entry(self, index: int) -> ByteCursor:
        """Return the bytes of an entry."""
        begin, at = self._bound(index), self._offsets + index * self._width
        end = self._bound(index + 1) if index + 1 < self._count else self._payload.end
        if not self._data <= begin <= end <= self._payload.end:
            first, last, length = begin - self._data, end - self._data, self._payload.end - self._data
            message = f"expected entry {index} of {self.what} to lie in {length} bytes of data, got {first} to {last}"
            raise BytecodeFault(faults.OFFSET, message, at)
        return ByteCursor(self._payload.data, begin, end, self._payload.trace)

    def _bound(self, index: int) -> int:
        at = self._offsets + index * self._width
        return self._data + int.from_bytes(self._payload.data[at : at + self._width], "little")


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
        """Write the table of all entries: count, padding, offsets of `width` bytes, entries; just the count if
        empty."""
        sink.varint(len(self))
        if self._numbers:
            sink.padding(width)
        offset = 0
        for entry in self._numbers:
            sink.uint(offset, width)
            offset += len(entry)
        sink.data += b"".join(self._numbers)

    def payload(self, width: int) -> bytes:
        """Return a section that holds just this table."""
        sink = Sink()
        self.write(sink, width)
        return bytes(sink.data)
