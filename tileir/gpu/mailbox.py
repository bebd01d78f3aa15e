"""The memory in which the blocks of a launch leave requests to the host: print, report a failed assertion.

The host clears the mailbox before a launch and writes its `initial` head; after the launch it reads the head again, and
the part of the records that is `used`. Numbers are little-endian; a site is the number of an operation among those of
the program that need the host, counted from 1.

    byte 0     i32  the site of the assertion that failed first; 0 if none did
    byte 4     3 x i32  the tile block that it failed in
    byte 16    i64  the bytes that records have claimed so far, also those that there was no room for
    byte 24    i64  the records that there was no room for
    byte 32    i64  where the records begin, behind the condition; written by the host
    byte 40    i64  the bytes that there are for records; written by the host
    byte 64    the condition of the assertion that failed first
    behind     the records, in the order in which their memory was claimed

A record begins with its site (i32) and its tile block (3 x i32); the operands of the operation follow, each from a
multiple of 16 bytes on. Elements lie in row-major order, in the bytes of `ir.storage.dtype_of`. The records of one tile
block are in the order in which it wrote them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tileir.ir import types as t
from tileir.ir.core import Op
from tileir.ir.diagnostics import Coordinates
from tileir.ir.storage import dtype_of
from tileir.ops.control import Assert
from tileir.ops.misc import PrintTko

FAILED_SITE, FAILED_BLOCK, CLAIMED, LOST, BEGIN, CAPACITY, CONDITION = 0, 4, 16, 24, 32, 40, 64
HEAD_BYTES = CONDITION
RECORD_SITE, RECORD_BLOCK, RECORD_HEAD = 0, 4, 16
ALIGNMENT = 16

SMALLEST, LARGEST = 1 << 16, 1 << 26
"""Bytes for records that a launch gets at least and at most."""
EXECUTIONS = 4
"""Number of prints expected of each block at one site."""

_HEAD = struct.Struct("<i3i4q")
_RECORD = struct.Struct("<i3i")


@dataclass(frozen=True)
class Printed:
    """One execution of a `print_tko`: its tile block, and the tiles as the interpreter holds them."""

    op: PrintTko
    block: Coordinates
    tiles: tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Failure:
    """The `assert` that failed first, and its condition."""

    op: Assert
    block: Coordinates
    condition: np.ndarray

    @property
    def index(self) -> tuple[int, ...]:
        """The first element that is 0."""
        return tuple(int(at) for at in np.unravel_index(int(np.argmin(self.condition)), self.condition.shape))


@dataclass(frozen=True)
class Mail:
    """Records that a launch left; `lost` of them are missing in `printed`."""

    printed: tuple[Printed, ...]
    lost: int
    failure: Failure | None


# ---------------------------------------------------------------- sizes


def tile_bytes(type: t.TileType) -> int:
    """Return the bytes that a tile takes in the mailbox."""
    return type.count * dtype_of(type.element).itemsize


def aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def record_places(types: Sequence[t.TileType]) -> tuple[list[int], int]:
    """Return the offsets of tiles of the types in a record, and its size."""
    places, end = [], RECORD_HEAD
    for type in types:
        places.append(end)
        end += aligned(tile_bytes(type))
    return places, end


def _condition_bytes(sites: Sequence[Op]) -> int:
    return max((aligned(tile_bytes(op.condition.type)) for op in sites if isinstance(op, Assert)), default=0)


def size_for(sites: Sequence[Op], blocks: int) -> int:
    """Return the bytes that should do for a launch of so many tile blocks."""
    prints = [record_places(_types(op))[1] for op in sites if isinstance(op, PrintTko)]
    records = min(max(EXECUTIONS * blocks * sum(prints), SMALLEST), LARGEST) if prints else 0
    return CONDITION + _condition_bytes(sites) + aligned(records)


# ---------------------------------------------------------------- the host's part


def initial(size: int, sites: Sequence[Op]) -> bytes:
    """Return the head of a mailbox of `size` bytes before a launch; what lies behind must be zeros."""
    begin = CONDITION + _condition_bytes(sites)
    assert size >= begin, f"expected at least {begin} bytes, got {size}"
    return _HEAD.pack(0, 0, 0, 0, 0, 0, begin, size - begin).ljust(HEAD_BYTES, b"\0")


def used(head: bytes | bytearray) -> int:
    """Return the bytes of a mailbox that a launch has used, to be told from its first ones."""
    _, _, _, _, claimed, _, begin, capacity = _HEAD.unpack_from(head)
    return int(begin + min(claimed, capacity))


def read(content: bytes | bytearray, sites: Sequence[Op]) -> Mail:
    """Read what the blocks of a launch left in the used part; `sites` are the operations of the program, in order."""
    site, *block, _, lost, begin, _ = _HEAD.unpack_from(content)
    failure = None
    if site:
        op = sites[site - 1]
        assert isinstance(op, Assert)
        failure = Failure(op, _coordinates(block), _tile(content, CONDITION, op.condition.type))
    return Mail(tuple(_printed(content, begin, sites)), lost, failure)


def _printed(content: bytes | bytearray, begin: int, sites: Sequence[Op]) -> Iterator[Printed]:
    """Yield the records in order. Behind the first that there was no room for there are none."""
    while begin + RECORD_HEAD <= len(content):
        site, *block = _RECORD.unpack_from(content, begin)
        if not site:
            return
        op = sites[site - 1]
        assert isinstance(op, PrintTko)
        types = _types(op)
        places, size = record_places(types)
        tiles = tuple(_tile(content, begin + place, type) for place, type in zip(places, types))
        yield Printed(op, _coordinates(block), tiles)
        begin += size


def _coordinates(block: Sequence[int]) -> Coordinates:
    x, y, z = block
    return x, y, z


def _types(op: PrintTko) -> list[t.TileType]:
    return [value.type for value in op.args]


def _tile(content: bytes | bytearray, begin: int, type: t.TileType) -> np.ndarray:
    return np.frombuffer(content, dtype_of(type.element), type.count, begin).reshape(type.shape)
