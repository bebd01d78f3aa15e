"""A compiled entry: machine code, and what a launch needs to run it.

Knows: how an entry becomes loaded code, and how tile blocks are run. Does not know: arrays (`runtime.native`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from tileir.cpu.emitter import ARENA_ALIGNMENT, TrapSite
from tileir.cpu.engine import Loaded, data_layout, host, object_code
from tileir.cpu.lowering import Kernel, lower_entry
from tileir.cpu.rules import RULES
from tileir.ir.diagnostics import Trap
from tileir.ir.loc import Source
from tileir.ops.module import Entry

_SIGNATURE = ctypes.CFUNCTYPE(
    ctypes.c_int32,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_int32,
    ctypes.c_int32,
    ctypes.c_int32,
    ctypes.c_void_p,
)

Coordinates = tuple[int, int, int]


class Program:
    """Native code of one entry. `arena_size` is the bytes that each running tile block needs."""

    def __init__(self, entry: Entry, kernel: Kernel, code: bytes) -> None:
        self.name: str = entry.sym_name
        self.arena_size = kernel.arena_size
        self.traps: Sequence[TrapSite] = kernel.traps
        self._loaded = Loaded(code, host())
        self._function = _SIGNATURE(self._loaded.address(kernel.name))

    def run(self, grid: Coordinates, slots: np.ndarray, source: Source | None) -> None:
        """Run every tile block; `slots` holds 8 bytes per argument. Raises Trap at the first block that traps."""
        extents = np.array(grid, np.int32)
        arena = _aligned(self.arena_size)
        arguments, shape, space = slots.ctypes.data, extents.ctypes.data, _address(arena)
        for z in range(grid[2]):
            for y in range(grid[1]):
                for x in range(grid[0]):
                    status = self._function(arguments, shape, x, y, z, space)
                    if status:
                        raise self._trap(status, (x, y, z), source)

    def _trap(self, status: int, block: Coordinates, source: Source | None) -> Trap:
        site = self.traps[status - 1]
        return Trap(
            site.message, kernel=self.name, block=block, op=site.op.spec.name, loc=site.op.loc, source=source
        )


def _aligned(size: int) -> np.ndarray:
    return np.empty(size + ARENA_ALIGNMENT, np.uint8)


def _address(arena: np.ndarray) -> int:
    return -(-int(arena.ctypes.data) // ARENA_ALIGNMENT) * ARENA_ALIGNMENT


def compiled(entry: Entry) -> Program:
    """Lower and compile an entry for this machine. Raises UnsupportedError for what has no native code."""
    kernel = lower_entry(entry, RULES, host().triple, data_layout(host()))
    return Program(entry, kernel, object_code(str(kernel.module), host()))


