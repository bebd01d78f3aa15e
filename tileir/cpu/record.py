"""The record of a launch: the memory that Python and the native driver share.

Knows: what lies where in it, and how Python fills it. Does not know: who runs the tile blocks (`cpu.pool`,
`cpu.driver`).

    byte 0     i64  number of the next tile block to be handed out; threads take chunks from it
    byte 64    i64  limit: tile blocks of this number and above are not started. The number of tile blocks at first,
                    lowered to that of a tile block that trapped, and to 0 to stop at once
    byte 128   i64  tile blocks handed out at a time
    byte 136   3 x i32  the grid
    byte 152   8-byte slots: arguments, addresses of globals, of the function that prints, of the one that pauses

What threads write lies on cache lines of its own. The first line of each thread's arena is its report: the number of
the tile block that trapped, and how many it has run.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence

NEXT, LIMIT, CHUNK, GRID, SLOTS = 0, 64, 128, 136, 152
LINE = 64
COLUMNS = 8
REPORTED_BLOCK, REPORTED_COUNT = 0, 8

Coordinates = tuple[int, int, int]


class Record:
    """A record for kernels with `count` slots; used for one launch at a time."""

    def __init__(self, count: int) -> None:
        self._fields = struct.Struct(f"<q56xq56xq3I4x{count}Q")
        self._memory = ctypes.create_string_buffer(self._fields.size + LINE)
        address = ctypes.addressof(self._memory)
        self._skip = -address % LINE
        self.address = address + self._skip
        self._limit = ctypes.c_int64.from_address(self.address + LIMIT)
        self._next = ctypes.c_int64.from_address(self.address + NEXT)

    def fill(self, total: int, chunk: int, grid: Coordinates, slots: Sequence[int]) -> None:
        self._fields.pack_into(self._memory, self._skip, 0, total, chunk, *grid, *slots)

    @property
    def started(self) -> int:
        """How many tile blocks have been handed out (or more, at the end)."""
        return self._next.value

    @property
    def limit(self) -> int:
        return self._limit.value

    def stop(self) -> None:
        """Start no further tile block."""
        self._limit.value = 0


def block_at(number: int, grid: Coordinates) -> Coordinates:
    """The tile block of that number: in bands of `COLUMNS` along y, in a band y fastest, then x.

    Neighbours in both directions are run soon after each other, as tiles of a matrix share rows, columns and pages of
    memory. A grid of one dimension is run in order.
    """
    z, within = divmod(number, grid[0] * grid[1])
    band, rest = divmod(within, grid[0] * COLUMNS)
    first = band * COLUMNS
    x, y = divmod(rest, min(COLUMNS, grid[1] - first))
    return x, first + y, z
