"""Symbols that machine code takes from the process that loads it.

Knows: where object files list their symbols: ELF (System V ABI, chapter 4), Mach-O (``mach-o/nlist.h``) and COFF (PE
format, "COFF symbol table"), all of 64 bits and little-endian.
Does not know: what the symbols are.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

_ELF = b"\x7fELF\x02\x01"
_ELF_SYMBOLS = 2
_ELF_SECTION = struct.Struct("<IIQQQQIIQQ")
_ELF_SYMBOL = struct.Struct("<IBBHQQ")

_MACH_O = b"\xcf\xfa\xed\xfe"
_MACH_O_HEADER = 32
_MACH_O_SYMBOLS = 2
_MACH_O_SYMBOL = struct.Struct("<IBBHQ")
_MACH_O_EXTERNAL, _MACH_O_KIND, _MACH_O_DEBUG = 0x01, 0x0E, 0xE0

_COFF_MACHINES = (b"\x64\x86", b"\x64\xaa")
"""x86-64 and AArch64."""
_COFF_SYMBOL = struct.Struct("<8sIhHBB")
_COFF_EXTERNAL = 2


_MARKS = frozenset(("_fltused", "_GLOBAL_OFFSET_TABLE_"))
"""Names that only linkers look at."""


class UnknownObject(Exception):
    """An object file of another format."""


def undefined_symbols(code: bytes) -> list[str]:
    """The names, as C spells them, that an object file uses and does not define. Raises `UnknownObject`."""
    if code.startswith(_ELF):
        return _needed(_elf(code))
    if code.startswith(_MACH_O):
        # Every name of C has an underscore in front.
        return _needed(name.removeprefix("_") for name in _mach_o(code))
    if code[:2] in _COFF_MACHINES:
        return _needed(_coff(code))
    raise UnknownObject(f"expected an object file in ELF, Mach-O or COFF, got one that begins with {code[:4].hex()}")


def _needed(names: Iterable[str]) -> list[str]:
    return [name for name in names if name not in _MARKS]


def _name(code: bytes, begin: int) -> str:
    return code[begin : code.index(b"\0", begin)].decode()


def _elf(code: bytes) -> Iterator[str]:
    """Named symbols that no section defines. A section is (name, type, flags, address, offset, size, link, ...)."""
    (begin,) = struct.unpack_from("<Q", code, 0x28)
    size, count = struct.unpack_from("<HH", code, 0x3A)
    sections = [_ELF_SECTION.unpack_from(code, begin + size * number) for number in range(count)]
    for table in (section for section in sections if section[1] == _ELF_SYMBOLS):
        offset, extent, names = table[4], table[5], sections[table[6]][4]
        for place in range(offset, offset + extent, _ELF_SYMBOL.size):
            name, _, _, section, _, _ = _ELF_SYMBOL.unpack_from(code, place)
            if name and not section:
                yield _name(code, names + name)


def _mach_o(code: bytes) -> Iterator[str]:
    (commands,) = struct.unpack_from("<I", code, 16)
    at = _MACH_O_HEADER
    for _ in range(commands):
        kind, size = struct.unpack_from("<II", code, at)
        if kind == _MACH_O_SYMBOLS:
            offset, count, names = struct.unpack_from("<III", code, at + 8)
            for number in range(count):
                name, kinds, _, _, _ = _MACH_O_SYMBOL.unpack_from(code, offset + number * _MACH_O_SYMBOL.size)
                if kinds & _MACH_O_EXTERNAL and not kinds & (_MACH_O_KIND | _MACH_O_DEBUG):
                    yield _name(code, names + name)
        at += size


def _coff(code: bytes) -> Iterator[str]:
    offset, count = struct.unpack_from("<II", code, 8)
    names = offset + count * _COFF_SYMBOL.size
    number = 0
    while number < count:
        name, value, section, _, storage, more = _COFF_SYMBOL.unpack_from(code, offset + number * _COFF_SYMBOL.size)
        if storage == _COFF_EXTERNAL and section == 0 and value == 0:
            zeros, place = struct.unpack("<II", name)
            yield name.rstrip(b"\0").decode() if zeros else _name(code, names + place)
        number += 1 + more
