"""The memory of a native launch: what its code is told of it, and what is said of an access that was stopped.

Knows: how arguments become the slots and the table of bounds that native code reads (`cpu.memory.bounds`), and that the
words for faulty accesses are those of all targets. Does not know: how code is made or run.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, cast

import numpy as np

from tileir.analysis.effects import MemoryAccess
from tileir.cpu.emit.record import ENTRY
from tileir.host.access_faults import AccessFault, DescribedAccess
from tileir.host.address_space import AddressSpace
from tileir.host.allocation import Allocation
from tileir.host.coverage import Runs
from tileir.ir import types as t
from tileir.runtime.arguments import Argument, ArrayArgument
from tileir.runtime.memory import give_memory
from tileir.runtime.storage import GlobalStorage

if TYPE_CHECKING:
    from tileir.cpu.run.traps import FaultyAccess


class NativeArguments:
    """Arguments of a launch for native code.

    `slots` are the low 8 bytes of each argument, the address of each global, and the bounds of all memory.
    """

    __slots__ = ("_arguments", "_further", "_layouts", "_storage", "slots")

    def __init__(self, arguments: Sequence[Argument], storage: GlobalStorage) -> None:
        self._arguments, self._storage = arguments, storage
        table: list[int] = []
        further: list[int] = []
        spaced: list[ArrayArgument] = []
        for argument in arguments:
            if argument.bounds:
                table += argument.bounds
                if argument.bounds[1] != argument.bounds[3]:
                    spaced.append(cast(ArrayArgument, argument))
                for lent in argument.reaches:
                    further += lent.bounds
                    if lent.bounds[1] != lent.bounds[3]:
                        spaced.append(lent)
        self._further = _words(further)
        self._layouts = _words([*chain(*map(_layouts, spaced)), 0]) if spaced else None
        self.slots = (
            *[argument.bits for argument in arguments],
            *storage.addresses.values(),
            *table,
            *storage.bounds,
            len(further) // ENTRY,
            0 if self._further is None else ctypes.addressof(self._further),
            0 if self._layouts is None else ctypes.addressof(self._layouts),
        )

    def access_fault(self, access: FaultyAccess) -> AccessFault:
        """The fault of the access, in the words that serve all targets."""
        space = AddressSpace()
        give_memory(space, self._arguments, self._storage)
        if access.meant is not None:
            begin, end = access.meant
            space.add(Allocation("alloca", begin, (Runs(0, end - begin),), owner=access.block))
        return space.fault_at(access.address, *_described(access))


def _words(numbers: Sequence[int]) -> ctypes.Array[ctypes.c_uint64] | None:
    return (ctypes.c_uint64 * len(numbers))(*numbers) if numbers else None


def _layouts(argument: ArrayArgument) -> Iterator[int]:
    """The words of the layouts of an array with gaps (`cpu.memory.lookup`)."""
    array = argument.array
    for run in array.runs:
        begin, end = array.address + run.start, array.address + run.end
        yield from (begin, end, end if array.writable else begin, end, run.length, len(run.extents))
        for dimension in zip(reversed(run.extents), reversed(run.strides)):
            yield from dimension


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
