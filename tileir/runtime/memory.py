"""The memory of a launch: what its arguments and the globals of its module let a kernel use.

Knows: how arguments are described as pieces of memory. Does not know: who accesses it, nor how.
"""

from __future__ import annotations

from collections.abc import Sequence

from tileir.host.address_space import AddressSpace
from tileir.host.allocation import Allocation
from tileir.host.coverage import Runs, runs_of
from tileir.runtime.arguments import Argument, ArrayArgument, PointerArgument
from tileir.runtime.mappings import mapping_at
from tileir.runtime.pointer import may_be_memory
from tileir.runtime.storage import GlobalStorage


def give_memory(space: AddressSpace, arguments: Sequence[Argument], storage: GlobalStorage) -> None:
    """Let a launch use its arrays, the globals of its module, and what raw addresses stand for."""
    for name, placed in storage.placed.items():
        runs = (Runs(0, placed.size),)
        space.add(Allocation(f"@{name}", placed.address, runs, writable=not placed.constant, keep=placed))
    for argument in arguments:
        if isinstance(argument, ArrayArgument):
            for lent in (argument, *argument.reaches):
                space.add(allocation_of(lent))
    for argument in arguments:
        if isinstance(argument, PointerArgument):
            _add_pointer(space, argument)


def allocation_of(argument: ArrayArgument) -> Allocation:
    """The memory of an array, or what the launch may use around it."""
    name, array = argument.name, argument.array
    begin, _, _, end = argument.bounds
    if (begin, end) != (array.address, array.bounds[3]):
        whole = (Runs(0, end - begin),)
        return Allocation(name, begin, whole, origin=array.address, writable=array.writable, keep=array)
    if array.contiguous:
        size = array.itemsize
        for extent in array.shape:
            size *= extent
        return Allocation(name, array.address, (Runs(0, size),), writable=array.writable, keep=array)
    origin, runs = runs_of(array.shape, array.strides, array.itemsize)
    return Allocation(name, array.address - origin, (runs,), origin=array.address, writable=array.writable, keep=array)


def _add_pointer(space: AddressSpace, argument: PointerArgument) -> None:
    """The memory that a raw address stands for, unless it lies in memory that the launch has anyway."""
    pointer = argument.pointer
    if not may_be_memory(pointer):
        return
    if pointer.size is not None:
        space.add(Allocation(argument.name, pointer.address, (Runs(0, pointer.size),), keep=pointer))
    elif space.find(pointer.address) is None:
        try:
            mapping = mapping_at(pointer.address)
        except OSError:
            raise ValueError("this system does not tell how far memory reaches: give tileir.Pointer a size") from None
        if mapping is not None:
            runs = (Runs(0, mapping.end - pointer.address),)
            space.add_unbounded(
                Allocation(argument.name, pointer.address, runs, writable=mapping.writable, keep=pointer)
            )
