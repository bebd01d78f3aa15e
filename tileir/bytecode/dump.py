"""The annotated dump: every byte of a file with its offset and its meaning, as the reader itself tells a `wire.Trace`.

A damaged file is shown too: what could be read, the fault at its place, and the rest raw.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from tileir.bytecode.decode import FileReader
from tileir.bytecode.faults import BytecodeFault
from tileir.bytecode.wire import PADDING_BYTE

_ROW = 8
_MAX_MEANING = 200
_MAX_ROWS = 32
"""Rows shown of one span; the middle of a long one (a big constant) is left out."""


class Spans:
    """Collects what the reader says; of two meanings for the same bytes the first is kept."""

    def __init__(self) -> None:
        self.meanings: dict[int, tuple[int, str]] = {}
        self.headings: dict[int, list[str]] = {}

    def add(self, begin: int, end: int, meaning: str) -> None:
        shown = meaning if len(meaning) <= _MAX_MEANING else meaning[:_MAX_MEANING] + "..."
        self.meanings.setdefault(begin, (end, shown))

    def heading(self, begin: int, text: str) -> None:
        self.headings.setdefault(begin, []).append(text)


def dump(data: bytes) -> str:
    """Return a line per field: offset, bytes, meaning; never raises for any `data`."""
    data = bytes(data)
    spans = Spans()
    try:
        reader = FileReader(data, "<bytes>", trace=spans)
        reader.module()
        _read_unused(reader)
    except BytecodeFault as fault:
        spans.heading(fault.offset or 0, f"error[{fault.code}]: {fault.path}: {fault.message}")
    return "\n".join(_lines(data, spans)) + "\n"


def _read_unused(reader: FileReader) -> None:
    """Look at the entries that nothing refers to; a damaged one is no fault of the file."""
    for table in (reader.types, reader.debug, reader.constants):
        for index in range(len(table)):
            try:
                table.get(index)
            except BytecodeFault:
                continue


def _lines(data: bytes, spans: Spans) -> Iterator[str]:
    width = max(4, len(f"{len(data):x}"))
    at = 0
    headings = sorted(spans.headings)
    places = sorted({*spans.meanings, *spans.headings, len(data)})
    for place in places:
        if place > at:
            yield from _rows(data, at, place, _gap(data[at:place]), width)
            at = place
        for text in spans.headings.get(place, ()):
            yield f"{'':{width}}  -- {text}"
        end, meaning = spans.meanings.get(place, (0, ""))
        if place >= at and end > at:
            following = bisect_right(headings, at)
            stop = min(end, headings[following]) if following < len(headings) else end
            yield from _rows(data, at, stop, meaning, width)
            at = stop


def _gap(unread: bytes) -> str:
    return "padding" if unread.count(PADDING_BYTE) == len(unread) else "not read"


def _rows(data: bytes, begin: int, end: int, meaning: str, width: int) -> Iterator[str]:
    starts = range(begin, end, _ROW)
    shown = starts if len(starts) <= _MAX_ROWS else [*starts[: _MAX_ROWS - 1], starts[-1]]
    for start in shown:
        if start == starts[-1] and len(shown) < len(starts):
            yield f"{'':{width}}  ... {end - begin} bytes in all"
        row = data[start : min(start + _ROW, end)].hex(" ")
        yield f"{start:0{width}x}  {row:{3 * _ROW - 1}}  {meaning if start == begin else ''}".rstrip()
