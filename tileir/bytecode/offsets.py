"""Tables of entries of unequal length, which strings, types, constants and debug records share."""

from __future__ import annotations

from tileir.bytecode import faults
from tileir.bytecode.faults import BytecodeFault
from tileir.bytecode.wire import ByteCursor, Sink


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
