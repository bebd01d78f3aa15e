"""The memory of a native launch: what its code is told of it, and what is said of an access that was stopped.

Knows: how arguments become the slots and the table of bounds that native code reads (`cpu.memory.bounds`), and that the
words for faulty accesses are those of all targets. Does not know: how code is made or run.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tileir.analysis.effects import MemoryAccess
from tileir.host.access_faults import AccessFault, DescribedAccess
from tileir.host.address_space import AddressSpace
from tileir.host.allocation import Allocation
from tileir.host.coverage import Runs
from tileir.ir import types as t
from tileir.runtime.arguments import Argument
from tileir.runtime.memory import give_memory
from tileir.runtime.storage import GlobalStorage

if TYPE_CHECKING:
    from tileir.cpu.run.traps import FaultyAccess


class NativeArguments:
    """Arguments of a launch for native code.

    `slots` are the low 8 bytes of each argument, the address of each global, and the bounds of all memory.
    """

    __slots__ = ("_arguments", "_further", "_storage", "slots")

    def __init__(self, arguments: Sequence[Argument], storage: GlobalStorage) -> None:
        self._arguments, self._storage = arguments, storage
        table: list[int] = []
        further: list[int] = []
        for argument in arguments:
            if argument.bounds:
                table += argument.bounds
                for lent in argument.reaches:
                    further += lent.bounds
        self._further = (ctypes.c_uint64 * len(further))(*further) if further else None
        self.slots = (
            *[argument.bits for argument in arguments],
            *storage.addresses.values(),
            *table,
            *storage.bounds,
            len(further) // 3,
            ctypes.addressof(self._further) if self._further is not None else 0,
        )

    def access_fault(self, access: FaultyAccess) -> AccessFault:
        """The fault of the access, in the words that serve all targets."""
        space = AddressSpace()
        give_memory(space, self._arguments, self._storage)
        if access.meant is not None:
            begin, end = access.meant
            space.add(Allocation("alloca", begin, (Runs(0, end - begin),), owner=access.block))
        return space.fault_at(access.address, *_described(access))


def _described(access: FaultyAccess) -> tuple[DescribedAccess, tuple[int, ...]]:
    """The access in the words of a message, and the index of the tile element."""
    made = MemoryAccess.of(access.op)
    through = made.address.type
    if isinstance(through, t.TileType):
        element, shape = t.checked_cast(through.element, t.PointerType).pointee, through.shape
    else:
        moved = made.result if made.value is None else made.value
        assert moved is not None
        element, shape = moved.tile.number, moved.tile.shape
    verb = "update" if made.updates else "store" if made.writes else "load"
    index = tuple(int(at) for at in np.unravel_index(access.lane, shape)) if shape else ()
    return DescribedAccess(element, access.block, verb), index
