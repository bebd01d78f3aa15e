"""Looking into cubins: which kernels one holds, and what it says of each.

Knows: the ELF file that a cubin is, and the records in its ``.nv.info`` sections, as far as a launch and the user care:
the parameters of a kernel, its registers and its stack. Does not know: who made the cubin, nor how it is loaded.

The records are those that ``cuobjdump -elf`` shows as EIATTR_*.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

_FUNCTION = 2
"""The ELF symbol type of code."""
_TEXT, _INFO = ".text.", ".nv.info"
_NO_VALUE, _BYTE, _HALF, _SIZED = 1, 2, 3, 4
"""Forms of the value of a record: none, a byte, two bytes, or bytes behind a length."""
_REQUIRED_THREADS, _FRAME_SIZE, _PARAMETER, _REGISTERS, _STACK = 0x10, 0x11, 0x17, 0x2F, 0x12


@dataclass(frozen=True)
class KernelInfo:
    """Properties of a kernel in a cubin. ``parameters`` are their sizes in bytes; ``stack`` the bytes of a thread, into
    which registers are spilled too; ``threads`` of a block are 0 where any number will do."""

    name: str
    parameters: tuple[int, ...]
    registers: int
    stack: int
    threads: int


@dataclass(frozen=True)
class _Section:
    name: str
    content: bytes
    link: int


def kernels_of(cubin: bytes) -> dict[str, KernelInfo]:
    """The kernels of a cubin by name. Raises ValueError for what is no cubin."""
    try:
        return {info.name: info for info in _kernels(cubin)}
    except (struct.error, IndexError) as error:
        raise ValueError(f"expected a cubin, got a damaged file: {error}") from error


def _kernels(cubin: bytes) -> Iterator[KernelInfo]:
    sections = list(_sections(cubin))
    symbols = _symbols(sections)
    by_function = list(_records(next((one.content for one in sections if one.name == _INFO), b"")))
    for section in sections:
        if section.name.startswith(f"{_INFO}."):
            name = section.name.removeprefix(f"{_INFO}.")
            number = next((number for number, symbol in symbols.items() if symbol == name), -1)
            yield _info(name, list(_records(section.content)), _counts(by_function, number))


def _info(name: str, records: list[tuple[int, bytes]], counts: dict[int, int]) -> KernelInfo:
    sizes = dict(_parameter(value) for attribute, value in records if attribute == _PARAMETER)
    threads = next((struct.unpack_from("<3I", value) for what, value in records if what == _REQUIRED_THREADS), (0,))
    parameters = tuple(sizes[position] for position in sorted(sizes))
    stack = max(counts.get(_FRAME_SIZE, 0), counts.get(_STACK, 0))
    return KernelInfo(name, parameters, counts.get(_REGISTERS, 0), stack, threads[0])


def _parameter(value: bytes) -> tuple[int, int]:
    """The position of a parameter and its size."""
    _, position, _, bits = struct.unpack("<IHHI", value)
    return position, bits >> 18


def _counts(records: list[tuple[int, bytes]], function: int) -> dict[int, int]:
    """Counts of the common section for the symbol `function`, by attribute."""
    pairs = [(attribute, struct.unpack_from("<II", value)) for attribute, value in records if len(value) >= 8]
    return {attribute: count for attribute, (symbol, count) in pairs if symbol == function}


def _records(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Attribute and value of every record."""
    place = 0
    while place + 4 <= len(content):
        kind, attribute, short = struct.unpack_from("<BBH", content, place)
        place += 4
        length = short if kind == _SIZED else 0
        yield attribute, content[place : place + length] if kind == _SIZED else short.to_bytes(2, "little")
        place += length


def _sections(cubin: bytes) -> Iterator[_Section]:
    if cubin[:5] != b"\x7fELF\x02":
        raise ValueError("expected a cubin, got a file that is no 64-bit ELF")
    (table,) = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", cubin, table + number * size) for number in range(count)]
    strings = headers[names][4]
    for name, _, _, _, offset, length, link, *_ in headers:
        yield _Section(_text_at(cubin, strings + name), cubin[offset : offset + length], link)


def _symbols(sections: list[_Section]) -> dict[int, str]:
    """The functions by the number of their symbol."""
    table = next((section for section in sections if section.name == ".symtab"), None)
    if table is None:
        return {}
    strings = sections[table.link].content
    symbols = enumerate(struct.iter_unpack("<IBBHQQ", table.content))
    return {number: _text_at(strings, name) for number, (name, kind, *_) in symbols if kind & 15 == _FUNCTION}


def _text_at(content: bytes, place: int) -> str:
    return content[place : content.index(b"\0", place)].decode("utf-8", "surrogateescape")
