"""A compiled entry: machine code, and what a launch needs to run it.

Knows: how an entry becomes loaded code, and how tile blocks are run. Does not know: arrays (`runtime.native`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

import numpy as np

from tileir.cpu.emitter import ARENA_ALIGNMENT, TrapSite
from tileir.cpu.engine import Loaded, data_layout, host, object_code
from tileir.cpu.lowering import Kernel, lower_entry
from tileir.cpu.rules import RULES
from tileir.ir import types as t
from tileir.ir.core import Op
from tileir.ir.diagnostics import Trap
from tileir.ir.loc import Source
from tileir.ir.storage import dtype_of
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

_PRINT = ctypes.CFUNCTYPE(None, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p)

Coordinates = tuple[int, int, int]
Print = Callable[[Op, list[np.ndarray]], None]
"""Writes what a `print_tko` prints, given its tiles."""


class Program:
    """Native code of one entry. `arena_size` is the bytes that each running tile block needs."""

    def __init__(self, entry: Entry, kernel: Kernel, code: bytes) -> None:
        self.name: str = entry.sym_name
        self.arena_size = kernel.arena_size
        self.traps: Sequence[TrapSite] = kernel.traps
        self.prints: Sequence[Op] = kernel.prints
        self._loaded = Loaded(code, host())
        self._function = _SIGNATURE(self._loaded.address(kernel.name))

    def run(self, grid: Coordinates, values: Sequence[int], source: Source | None, write: Print) -> None:
        """Run every tile block. Raises Trap at the first block that traps.

        `values`: the low 8 bytes of each argument, then the address of each global.
        """
        callback = self._callback(write)
        slots = np.array([*values, ctypes.cast(callback, ctypes.c_void_p).value or 0], np.uint64)
        extents = np.array(grid, np.int32)
        arena = _aligned(self.arena_size)
        arguments, shape, space = slots.ctypes.data, extents.ctypes.data, _address(arena)
        for z in range(grid[2]):
            for y in range(grid[1]):
                for x in range(grid[0]):
                    status = self._function(arguments, shape, x, y, z, space)
                    if status:
                        raise self._trap(status, (x, y, z), source)

    def _callback(self, write: Print) -> ctypes._FuncPointer:
        """The function that native code calls to print."""

        def call(number: int, addresses: ctypes._Pointer[ctypes.c_void_p], block: int) -> None:
            op = self.prints[number]
            types = [value.type for value in op.operand_group(0)]
            write(op, [_array_at(addresses[position], type) for position, type in enumerate(types)])

        return _PRINT(call)

    def _trap(self, status: int, block: Coordinates, source: Source | None) -> Trap:
        site = self.traps[status - 1]
        return Trap(
            site.message, kernel=self.name, block=block, op=site.op.spec.name, loc=site.op.loc, source=source
        )


def _array_at(address: int, type: t.Type) -> np.ndarray:
    """A copy of the dense tile at `address`."""
    assert isinstance(type, t.TileType)
    dtype = dtype_of(type.element)
    raw = (ctypes.c_char * (dtype.itemsize * type.count)).from_address(address)
    return np.frombuffer(bytes(raw), dtype).reshape(type.shape)


def _aligned(size: int) -> np.ndarray:
    return np.empty(size + ARENA_ALIGNMENT, np.uint8)


def _address(arena: np.ndarray) -> int:
    return -(-int(arena.ctypes.data) // ARENA_ALIGNMENT) * ARENA_ALIGNMENT


def compiled(entry: Entry, global_names: Sequence[str]) -> Program:
    """Lower and compile an entry for this machine. Raises UnsupportedError for what has no native code.

    `global_names`: the globals of the module, in the order in which `run` is given their addresses.
    """
    kernel = lower_entry(entry, global_names, RULES, host().triple, data_layout(host()))
    return Program(entry, kernel, object_code(str(kernel.module), host()))


