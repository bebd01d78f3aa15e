"""Looking into cubins: which kernels one holds, and what it says of each.

Knows: the records in its ``.nv.info`` sections, as far as a launch and the user care:
the parameters of a kernel, its registers and its stack. Does not know: who made the cubin, nor how it is loaded.

The records are those that ``cuobjdump -elf`` shows as EIATTR_*.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from tileir.gpu.elf import ElfSection, KernelInfo, sections, text_at

_FUNCTION = 2
"""The ELF symbol type of code."""
_TEXT, _INFO = ".text.", ".nv.info"
_NO_VALUE, _BYTE, _HALF, _SIZED = 1, 2, 3, 4
"""Forms of the value of a record: none, a byte, two bytes, or bytes behind a length."""
_REQUIRED_THREADS, _FRAME_SIZE, _PARAMETER, _REGISTERS, _STACK = 0x10, 0x11, 0x17, 0x2F, 0x12


def kernels_of(cubin: bytes) -> dict[str, KernelInfo]:
    """The kernels of a cubin by name. Raises ValueError for what is no cubin."""
    try:
        return {info.name: info for info in _kernels(cubin)}
    except (struct.error, IndexError, ValueError) as error:
        raise ValueError(f"expected a cubin, {error}") from error


def _kernels(cubin: bytes) -> Iterator[KernelInfo]:
    found = list(sections(cubin))
    symbols = _symbols(found)
    by_function = list(_records(next((one.content for one in found if one.name == _INFO), b"")))
    for section in found:
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


def _symbols(found: list[ElfSection]) -> dict[int, str]:
    """The functions by the number of their symbol."""
    table = next((section for section in found if section.name == ".symtab"), None)
    if table is None:
        return {}
    strings = found[table.link].content
    symbols = enumerate(struct.iter_unpack("<IBBHQQ", table.content))
    return {number: text_at(strings, name) for number, (name, kind, *_) in symbols if kind & 15 == _FUNCTION}
