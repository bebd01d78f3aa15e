"""The data that Python and native code share: the record of a launch, the first line of each arena, trap sites, check
levels.

The record:

    byte 0     i64  number of the next tile block to be handed out; threads take chunks from it
    byte 64    i64  limit: tile blocks of this number and above are not started. The number of tile blocks at first,
                    lowered to that of a tile block that trapped, and to 0 to stop at once
    byte 128   i64  tile blocks handed out at a time
    byte 136   i64  iterations that a tile block may run in its loops
    byte 144   3 x i32  the grid
    byte 160   4 x i64  addresses of the functions of the library (`cpu.memory.lookup`)
    byte 192   i64  address of the function that runs a tile block, 0 until the host has made it (`SINGLE`)
    byte 200   i64  address of the one that runs tile blocks that follow one another as one, 0 if there is none
    byte 208   i64  how many tile blocks that one runs at most
    byte 216   i64  the axis of the grid along which they follow one another, 0 or 1
    byte 224   i64  columns of a band in which tile blocks are numbered
    byte 232   8-byte slots: arguments, addresses of globals, the table of bounds (`cpu.memory.bounds`)

The first line of an arena, which one thread writes:

    byte 0     i64  number of the tile block that runs, or that trapped
    byte 8     i64  tile blocks that the driver has run
    byte 16    i32  attention: not 0 if the host is to be called at the next safepoint
    byte 20    i32  status of a tile block that may be set aside, as the driver gives it
    byte 24    i64  address of the function of the host (`HOST_CALL`)
    byte 32    i64  address of what an operation hands to the host
    byte 40    i64  handle of the tile block that is set aside, 0 if none is
    byte 48    i64  counts what the tile block changed, if it may wait for others; else 0 when the driver begins, and
                    1 once a kernel that keeps something from tile block to tile block has begun with nothing
    byte 56    i64  number of the loop in which it waits (`LoweredKernel.waiting`)
"""

from __future__ import annotations

import ctypes
import enum
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from tileir.ir import types as t
from tileir.ir.core import Op
from tileir.ir.diagnostics import Coordinates

NEXT, LIMIT, CHUNK, FUEL, GRID, LIBRARY = 0, 64, 128, 136, 144, 160
KERNEL, JOINED, MOST, AXIS, WIDTH, SLOTS = 192, 200, 208, 216, 224, 232
LIBRARY_FUNCTIONS = "tileir.held", "tileir.reach", "tileir.box", "tileir.lanes"
KERNEL_NAME, JOINED_NAME = "tileir.kernel", "tileir.joined"
"""The functions of a kernel, whatever the entry is called (names of programs may be anything): the one that runs a tile
block, and the one that runs several as one (`cpu.analysis.coarsening`)."""
DRIVER, RESUME, DESTROY = "tileir.driver", "tileir.resume", "tileir.destroy"
"""The native functions that a thread calls (`cpu.emit.driver`)."""
ENTRY = 4
"""Words of an entry of the table of bounds, and of any other table of memory."""
LINE = 64
COLUMNS, JOINED_COLUMNS = 8, 64
"""Columns of a band in which tile blocks are numbered, and where those of a row are run as one."""
BLOCK, COUNT, ATTENTION, STATUS, HOST, HANDED, HANDLE, CHANGES, WAITING = 0, 8, 16, 20, 24, 32, 40, 48, 56
BEGUN = CHANGES
GO_ON, ABANDON = 1, 0
"""The answers of the host. A call that fails gives 0."""
SAFEPOINT = -1
"""The host is called for a safepoint, not for an operation."""
SINGLE = -2
"""The host is called for the function that runs a single tile block."""
WARNING = -3
"""The host is called for the first warning of the kernel; for the others with the numbers below."""


_HEAD = struct.Struct("<q56xq56xqq3I")


class LaunchRecord:
    """A record for a kernel with `count` slots; used for one launch at a time.

    `code` are the words from `LIBRARY` up to `SLOTS`, which say where the kernel's code is.
    """

    def __init__(self, count: int, code: Sequence[int]) -> None:
        fields, slots = struct.Struct(f"<{len(code)}Q"), struct.Struct(f"<{count}Q")
        assert LIBRARY + fields.size == SLOTS, "the words fill their place"
        self._memory = ctypes.create_string_buffer(SLOTS + slots.size + LINE)
        address = ctypes.addressof(self._memory)
        self._skip = -address % LINE
        self.address = address + self._skip
        self._fill_head = partial(_HEAD.pack_into, self._memory, self._skip)
        fields.pack_into(self._memory, self._skip + LIBRARY, *code)
        self._fill_slots = partial(slots.pack_into, self._memory, self._skip + SLOTS)
        self._slots: tuple[int, ...] | None = None
        self._limit = ctypes.c_int64.from_address(self.address + LIMIT)
        self._chunk = ctypes.c_int64.from_address(self.address + CHUNK)
        self._next = ctypes.c_int64.from_address(self.address + NEXT)

    def fill(self, total: int, chunk: int, fuel: int, grid: Coordinates, slots: tuple[int, ...]) -> None:
        """Fill the record for a launch from the first tile block. Slots that are filled already are not written
        again."""
        x, y, z = grid
        self._fill_head(0, total, chunk, fuel, x, y, z)
        if slots != self._slots:
            self._fill_slots(*slots)
            self._slots = slots

    @property
    def started(self) -> int:
        """Number of tile blocks handed out (or more, at the end)."""
        return self._next.value

    @property
    def chunk(self) -> int:
        """Number of tile blocks handed out at a time."""
        return self._chunk.value

    @property
    def limit(self) -> int:
        return self._limit.value

    @property
    def grid(self) -> Coordinates:
        x, y, z = (ctypes.c_uint32 * 3).from_address(self.address + GRID)
        return x, y, z

    def use(self, kernel: int) -> None:
        """Have tile blocks run by the function at this address from now on."""
        ctypes.c_uint64.from_address(self.address + KERNEL).value = kernel

    def stop(self) -> None:
        """Start no further tile block."""
        self._limit.value = 0


def block_at(number: int, grid: Coordinates, columns: int = COLUMNS) -> Coordinates:
    """Return the tile block of that number: in bands of `columns` along y, in a band y fastest, then x.

    Neighbours in both directions are run soon after each other, as tiles of a matrix share rows, columns and pages of
    memory. A grid of one dimension is run in order.
    """
    z, within = divmod(number, grid[0] * grid[1])
    band, rest = divmod(within, grid[0] * columns)
    first = band * columns
    x, y = divmod(rest, min(columns, grid[1] - first))
    return x, first + y, z


# ---------------------------------------------------------------- traps


ABANDONED = -1
"""The status of a tile block that left off because the launch has ended."""
SET_ASIDE = -2
"""The status of a tile block that waits."""
NO_MEMORY = -3
"""The status of a tile block that has not begun, as there is no memory for what it keeps while it waits."""
HANGS = "hang"
"""The message of the trap site of a loop that runs too often."""


class TrapKind(enum.Enum):
    """The evidence that a trap leaves in the arena, and so how its text is made."""

    PLAIN = "plain"
    """None: the message of the site is the text."""
    ASSERTION = "assertion"
    """The condition of the `assert`."""
    ACCESS = "access"
    """The position of a tile element, in row-major order, the address that it may not access, and from where to where
    the allocation of the block lies for which that was meant (0 and 0 for none)."""
    OFFSET = "offset"
    """The low and high half of the largest element offset of a view, which is too large."""
    REACH = "reach"
    """The largest offset, within 63 bits, and the address of the view: together they exceed 64 bits."""
    NUMBER = "number"
    """A number that the message has a place for."""
    COUNTER = "counter"
    """The counter of a `for` and its step, for which the message has places."""
    SUBTILE = "subtile"
    """The index of a subtile, for each number that the message shows."""
    LANE = "lane"
    """The position of a tile element, for whose index the message has a place."""


WORDS = t.tile(t.I64, 4)
"""The type of the evidence of most kinds."""
EVIDENCE, EVIDENCE_PLACE, MOST_WORDS = 0, 56, 7
"""The arena begins with 64 bytes that are kept for evidence: of up to seven words, then the place of
evidence that takes more."""


@dataclass
class TrapSite:
    """A place in the code that can stop the launch: its number is what the function returns."""

    op: Op
    message: str
    kind: TrapKind = TrapKind.PLAIN


# ---------------------------------------------------------------- checks


class CheckLevel(enum.Enum):
    """The faults that code checks for besides computing its results."""

    OFF = "unchecked"
    ON = "checked"
    """Accesses to memory that the launch has not given, and broken promises of `assume`."""
    STRICT = "strict"
    """Also everything that the interpreter reports in strict mode."""
