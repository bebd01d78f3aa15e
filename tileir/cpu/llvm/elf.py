"""Symbols that machine code takes from the process that loads it.

Knows: where an ELF file lists its symbols (System V ABI, chapter 4). Does not know: other object formats; of those
nothing is said.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

_MAGIC = b"\x7fELF\x02\x01"
"""64 bits, little-endian."""
_SYMBOLS = 2
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")


def undefined_symbols(code: bytes) -> list[str]:
    """The names that an object file uses and does not define; empty for a format other than ELF64."""
    if not code.startswith(_MAGIC):
        return []
    sections = _sections(code)
    return [name for section in sections if section[1] == _SYMBOLS for name in _undefined(code, section, sections)]


def _sections(code: bytes) -> list[tuple[int, ...]]:
    (begin,) = struct.unpack_from("<Q", code, 0x28)
    size, count = struct.unpack_from("<HH", code, 0x3A)
    return [_SECTION.unpack_from(code, begin + size * number) for number in range(count)]


def _undefined(code: bytes, table: tuple[int, ...], sections: list[tuple[int, ...]]) -> Iterator[str]:
    """Named symbols that no section defines. A section is (name, type, flags, address, offset, size, link, ...)."""
    offset, size, names = table[4], table[5], sections[table[6]][4]
    for place in range(offset, offset + size, _SYMBOL.size):
        name, _, _, section, _, _ = _SYMBOL.unpack_from(code, place)
        if name and not section:
            end = code.index(b"\0", names + name)
            yield code[names + name : end].decode()
