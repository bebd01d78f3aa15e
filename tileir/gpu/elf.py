"""The ELF files that machine code for GPUs comes in.

Knows: sections, and which vendor's code a file holds. Does not know: what is in a section (`gpu.cubin`, `gpu.hsaco`).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from tileir.gpu.arch import Vendor

_MACHINES = {190: Vendor.NVIDIA, 224: Vendor.AMD}
"""By the number of the machine (ELF: e_machine)."""


@dataclass(frozen=True)
class KernelInfo:
    """Properties of a kernel in machine code. ``parameters`` are their sizes in bytes; ``stack`` the bytes of a thread,
    into which registers are spilled too; ``threads`` of a block are 0 where any number will do."""

    name: str
    parameters: tuple[int, ...]
    registers: int
    stack: int
    threads: int


@dataclass(frozen=True)
class ElfSection:
    """A section of a file; ``link`` is the number of another that it refers to."""

    name: str
    content: bytes
    link: int


def vendor_of(file: bytes) -> Vendor | None:
    """Whose code a file holds; None if it is no such file."""
    if file[:5] != b"\x7fELF\x02" or len(file) < 20:
        return None
    return _MACHINES.get(struct.unpack_from("<H", file, 18)[0])


def sections(file: bytes) -> Iterator[ElfSection]:
    """The sections in order. Raises ValueError, struct.error or IndexError for what is no such file."""
    if file[:5] != b"\x7fELF\x02":
        raise ValueError("got a file that is no 64-bit ELF")
    (table,) = struct.unpack_from("<Q", file, 0x28)
    size, count, names = struct.unpack_from("<HHH", file, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", file, table + number * size) for number in range(count)]
    strings = headers[names][4]
    for name, _, _, _, offset, length, link, *_ in headers:
        yield ElfSection(text_at(file, strings + name), file[offset : offset + length], link)


def text_at(content: bytes, place: int) -> str:
    """The text that ends with a zero."""
    return content[place : content.index(b"\0", place)].decode("utf-8", "surrogateescape")
