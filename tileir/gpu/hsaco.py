"""Looking into hsaco files, AMD's code objects: which kernels one holds, and what it says of each.

Knows: the note in which that is written as MessagePack, as far as a launch and the user care (AMDGPU usage, code object
version 5). Does not know: who made the file, nor how it is loaded.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from tileir.gpu.elf import KernelInfo, sections

_NOTE = ".note"
_METADATA = 32
"""The type of the note (AMDGPU usage: NT_AMDGPU_METADATA)."""
_HIDDEN = "hidden_"
"""Beginning of the kinds of arguments that the runtime passes."""


def kernels_of(hsaco: bytes) -> dict[str, KernelInfo]:
    """The kernels of a hsaco by name. Raises ValueError for what is none."""
    try:
        return {info.name: info for info in _kernels(hsaco)}
    except (struct.error, IndexError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"expected a hsaco, {error}") from error


def _kernels(hsaco: bytes) -> Iterator[KernelInfo]:
    for kernel in metadata_of(hsaco)["amdhsa.kernels"]:
        sizes = [argument[".size"] for argument in _given(kernel)]
        registers = max(kernel[".vgpr_count"], 1)
        stack, threads = kernel[".private_segment_fixed_size"], kernel[".max_flat_workgroup_size"]
        yield KernelInfo(kernel[".name"], tuple(sizes), registers, stack, threads)


def spills_of(hsaco: bytes) -> int:
    """The vector registers of a thread that kernels of a hsaco spill into memory: the most of any."""
    return max(kernel[".vgpr_spill_count"] for kernel in metadata_of(hsaco)["amdhsa.kernels"])


def _given(kernel: dict[str, Any]) -> list[dict[str, Any]]:
    """The arguments that a launch gives."""
    return [argument for argument in kernel.get(".args", []) if not argument[".value_kind"].startswith(_HIDDEN)]


def metadata_of(hsaco: bytes) -> dict[str, Any]:
    """The metadata of a file. Raises ValueError, struct.error, IndexError or KeyError for what has none."""
    for section in sections(hsaco):
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
    """The value at `place`, and where the next one begins: numbers, texts, lists and maps."""
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
