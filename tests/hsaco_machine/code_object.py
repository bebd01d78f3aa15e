"""Code objects as the driver loads them: the image in memory, and how a wave of a kernel begins.

Sources: AMDGPU usage: code object, kernel descriptor, initial kernel execution state.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from tests.hsaco_machine.typed import Array

_LOADED = 1
"""The type of a segment that is loaded."""


@dataclass(frozen=True)
class CodeObject:
    """``image`` is the memory that it takes, from address 0 on; ``entry`` the place of the first instruction.
    ``scratch`` are the bytes of a lane, ``shared`` those of a block beside what a launch asks for."""

    image: Array
    entry: int
    shared: int
    scratch: int
    user_scalars: int
    properties: int
    resources: int

    @property
    def asks_for(self) -> tuple[bool, bool, bool]:
        """Return whether the numbers of the block along x, y and z are passed."""
        return tuple(bool(self.resources >> 7 + axis & 1) for axis in range(3))  # type: ignore[return-value]


def loaded(content: bytes, kernel: str) -> CodeObject:
    """The code object in a file with the kernel of that name."""
    image = _image(content)
    place = _symbol(content, f"{kernel}.kd")
    shared, scratch, _ = struct.unpack_from("<III", image, place)
    (offset,) = struct.unpack_from("<q", image, place + 16)
    (resources,) = struct.unpack_from("<I", image, place + 52)
    (properties,) = struct.unpack_from("<H", image, place + 56)
    return CodeObject(image, place + offset, shared, scratch, (resources >> 1) & 31, properties, resources)


def _image(content: bytes) -> Array:
    (table,) = struct.unpack_from("<Q", content, 0x20)
    size, count = struct.unpack_from("<HH", content, 0x36)
    segments = [struct.unpack_from("<IIQQQQQQ", content, table + number * size) for number in range(count)]
    wanted = [segment for segment in segments if segment[0] == _LOADED]
    image = np.zeros(max(segment[3] + segment[6] for segment in wanted) + 64, np.uint8)
    for _, _, offset, address, _, length, _, _ in wanted:
        image[address : address + length] = np.frombuffer(content, np.uint8, length, offset)
    return image


def _symbol(content: bytes, name: str) -> int:
    """The address of a symbol."""
    (table,) = struct.unpack_from("<Q", content, 0x28)
    size, count = struct.unpack_from("<HH", content, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", content, table + number * size) for number in range(count)]
    for _, kind, _, _, offset, length, link, _, _, _ in headers:
        if kind != 11:  # dynamic symbols
            continue
        strings = headers[link][4]
        for place in range(offset, offset + length, 24):
            label, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", content, place)
            begin = strings + label
            if content[begin : content.index(b"\0", begin)].decode() == name:
                return int(value)
    raise KeyError(name)
