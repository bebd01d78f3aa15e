"""Object files in ELF (System V ABI, chapter 4), of 64 bits and little-endian: sections and symbols."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

MAGIC = b"\x7fELF\x02\x01"
SYMBOL_TABLE, RELOCATIONS = 2, 4
"""Kinds of sections."""
FUNCTION = 2
"""The kind of symbols of code."""


class ElfSection(NamedTuple):
    """A section of a file; `link` and `info` are the numbers of others that it refers to."""

    name: str
    kind: int
    content: bytes
    link: int
    info: int


class ElfSymbol(NamedTuple):
    """A symbol, and the number of the section that defines it, 0 if none does."""

    name: str
    kind: int
    section: int
    value: int
    size: int


def sections(file: bytes) -> Iterator[ElfSection]:
    """Yield the sections in order. Raises ValueError, struct.error or IndexError for what is no such file."""
    if not file.startswith(MAGIC):
        raise ValueError("got a file that is no 64-bit ELF")
    (table,) = struct.unpack_from("<Q", file, 0x28)
    size, count, names = struct.unpack_from("<HHH", file, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", file, table + number * size) for number in range(count)]
    strings = headers[names][4]
    for name, kind, _, _, offset, length, link, info, *_ in headers:
        yield ElfSection(_text_at(file, strings + name), kind, file[offset : offset + length], link, info)


def symbols(found: Sequence[ElfSection]) -> list[ElfSymbol]:
    """Return the symbols of a file, given its sections, by their numbers."""
    table = next((section for section in found if section.kind == SYMBOL_TABLE), None)
    if table is None:
        return []
    names = found[table.link].content
    rows = struct.iter_unpack("<IBBHQQ", table.content)
    return [ElfSymbol(_text_at(names, name), kind & 15, section, *rest) for name, kind, _, section, *rest in rows]


def _text_at(content: bytes, place: int) -> str:
    """Return the text that ends with a zero."""
    return content[place : content.index(b"\0", place)].decode("utf-8", "surrogateescape")
