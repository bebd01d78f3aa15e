"""Object files of GPU code, which are ELF: the kernels and parameters in cubins and hsacos."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tileir.gpu.arch import Vendor
from tileir.host import elf

_MACHINES = {190: Vendor.NVIDIA, 224: Vendor.AMD}
"""Vendors by machine number (ELF: e_machine)."""


@dataclass(frozen=True)
class KernelInfo:
    """Properties of a kernel in machine code. ``parameters`` are their sizes in bytes; ``stack`` the bytes of a thread,
    into which registers are spilled too; ``threads`` of a block are 0 where any number will do."""

    name: str
    parameters: tuple[int, ...]
    registers: int
    stack: int
    threads: int


def vendor_of(file: bytes) -> Vendor | None:
    """Return the vendor of the code in a file; None if it is no such file."""
    if not file.startswith(elf.MAGIC) or len(file) < 20:
        return None
    return _MACHINES.get(struct.unpack_from("<H", file, 18)[0])


_TEXT, _INFO = ".text.", ".nv.info"
_NO_VALUE, _BYTE, _HALF, _SIZED = 1, 2, 3, 4
"""Forms of the value of a record: none, a byte, two bytes, or bytes behind a length."""
_REQUIRED_THREADS, _FRAME_SIZE, _PARAMETER, _REGISTERS, _STACK = 0x10, 0x11, 0x17, 0x2F, 0x12
_WIDE_PARAMETER = 0x45
"""A parameter in the form of code whose parameters need not fit the fields of `_PARAMETER`: `tileiras` writes it where
descriptors of tensors follow the parameters. The driver makes those, with code for the host in the file (``.nv.host``).
"""


def cubin_kernels(cubin: bytes) -> dict[str, KernelInfo]:
    """Return the kernels of a cubin by name. Raises ValueError for what is no cubin."""
    try:
        return {info.name: info for info in _cubin_kernels(cubin)}
    except (struct.error, IndexError, ValueError) as error:
        raise ValueError(f"expected a cubin, {error}") from error


def _cubin_kernels(cubin: bytes) -> Iterator[KernelInfo]:
    found = list(elf.sections(cubin))
    functions = {one.name: number for number, one in enumerate(elf.symbols(found)) if one.kind == elf.FUNCTION}
    by_function = list(_records(next((one.content for one in found if one.name == _INFO), b"")))
    for section in found:
        if section.name.startswith(f"{_INFO}."):
            name = section.name.removeprefix(f"{_INFO}.")
            yield _info(name, list(_records(section.content)), _counts(by_function, functions.get(name, -1)))


def _info(name: str, records: list[tuple[int, bytes]], counts: dict[int, int]) -> KernelInfo:
    sizes = dict(_PARAMETER_FORMS[attribute](value) for attribute, value in records if attribute in _PARAMETER_FORMS)
    threads = next((struct.unpack_from("<3I", value) for what, value in records if what == _REQUIRED_THREADS), (0,))
    parameters = tuple(sizes[position] for position in sorted(sizes))
    stack = max(counts.get(_FRAME_SIZE, 0), counts.get(_STACK, 0))
    return KernelInfo(name, parameters, counts.get(_REGISTERS, 0), stack, threads[0])


def _parameter(value: bytes) -> tuple[int, int]:
    """Return the position of a parameter and its size."""
    _, position, _, bits = struct.unpack("<IHHI", value)
    return position, bits >> 18


def _wide_parameter(value: bytes) -> tuple[int, int]:
    """Return the position of a parameter and its size."""
    _, position, _, size, _ = struct.unpack("<I4H", value)
    return position, size


_PARAMETER_FORMS = {_PARAMETER: _parameter, _WIDE_PARAMETER: _wide_parameter}


def _counts(records: list[tuple[int, bytes]], function: int) -> dict[int, int]:
    """Return the counts of the common section for the symbol `function`, by attribute."""
    pairs = [(attribute, struct.unpack_from("<II", value)) for attribute, value in records if len(value) >= 8]
    return {attribute: count for attribute, (symbol, count) in pairs if symbol == function}


def _records(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the attribute and the value of every record."""
    place = 0
    while place + 4 <= len(content):
        kind, attribute, short = struct.unpack_from("<BBH", content, place)
        place += 4
        length = short if kind == _SIZED else 0
        yield attribute, content[place : place + length] if kind == _SIZED else short.to_bytes(2, "little")
        place += length


_NOTE = ".note"
_METADATA = 32
"""The type of the note (AMDGPU usage: NT_AMDGPU_METADATA)."""
_HIDDEN = "hidden_"
"""Beginning of the kinds of arguments that the runtime passes."""


def hsaco_kernels(hsaco: bytes) -> dict[str, KernelInfo]:
    """Return the kernels of a hsaco by name. Raises ValueError for what is none."""
    try:
        return {info.name: info for info in _hsaco_kernels(hsaco)}
    except (struct.error, IndexError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"expected a hsaco, {error}") from error


def _hsaco_kernels(hsaco: bytes) -> Iterator[KernelInfo]:
    for kernel in metadata_of(hsaco)["amdhsa.kernels"]:
        sizes = [argument[".size"] for argument in _given(kernel)]
        registers = max(kernel[".vgpr_count"], 1)
        stack, threads = kernel[".private_segment_fixed_size"], kernel[".max_flat_workgroup_size"]
        yield KernelInfo(kernel[".name"], tuple(sizes), registers, stack, threads)


def spills_of(hsaco: bytes) -> int:
    """Return the vector registers of a thread that kernels of a hsaco spill into memory: the most of any."""
    return max(kernel[".vgpr_spill_count"] for kernel in metadata_of(hsaco)["amdhsa.kernels"])


def _given(kernel: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the arguments that a launch gives."""
    return [argument for argument in kernel.get(".args", []) if not argument[".value_kind"].startswith(_HIDDEN)]


def metadata_of(hsaco: bytes) -> dict[str, Any]:
    """Return the metadata of a file. Raises ValueError, struct.error, IndexError or KeyError for what has none."""
    for section in elf.sections(hsaco):
        if section.name == _NOTE:
            names, size, kind = struct.unpack_from("<III", section.content)
            if kind == _METADATA:
                begin = 12 + -(-names // 4) * 4
                found, _ = _unpacked(section.content[begin : begin + size], 0)
                return dict(found)
    raise ValueError("got a file without the metadata of kernels")


# ---------------------------------------------------------------- MessagePack

_INTEGERS = {0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
_LENGTHS = {0xD9: ">B", 0xDA: ">H", 0xDB: ">I", 0xDC: ">H", 0xDD: ">I", 0xDE: ">H", 0xDF: ">I"}


def _unpacked(content: bytes, place: int) -> tuple[Any, int]:
    """Return the value at `place`, and where the next one begins: numbers, texts, lists and maps."""
    tag = content[place]
    place += 1
    if tag < 0x80 or tag >= 0xE0:
        return (tag if tag < 0x80 else tag - 256), place
    if tag in _CONSTANTS:
        return _CONSTANTS[tag], place
    if tag in _INTEGERS:
        form = _INTEGERS[tag]
        return struct.unpack_from(form, content, place)[0], place + struct.calcsize(form)
    length, place = _length(content, tag, place)
    if 0xA0 <= tag < 0xC0 or tag in (0xD9, 0xDA, 0xDB):
        return content[place : place + length].decode(), place + length
    if 0x90 <= tag < 0xA0 or tag in (0xDC, 0xDD):
        return _several(content, place, length)
    if tag < 0x90 or tag in (0xDE, 0xDF):
        flat, place = _several(content, place, 2 * length)
        return dict(zip(flat[::2], flat[1::2])), place
    raise ValueError(f"got a value of kind {tag:#x} in its metadata")


def _length(content: bytes, tag: int, place: int) -> tuple[int, int]:
    if tag in _LENGTHS:
        form = _LENGTHS[tag]
        return struct.unpack_from(form, content, place)[0], place + struct.calcsize(form)
    return tag & (0x1F if tag >= 0xA0 else 0xF), place


def _several(content: bytes, place: int, count: int) -> tuple[list[Any], int]:
    found = []
    for _ in range(count):
        value, place = _unpacked(content, place)
        found.append(value)
    return found, place
