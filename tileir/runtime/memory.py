"""The memory of a launch: globals of the module, arrays, and what raw addresses stand for (spec: memory#globals)."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tileir.host.address_space import AddressSpace
from tileir.host.allocation import Allocation, Runs, runs_of
from tileir.host.limits import MAX_GLOBALS
from tileir.ir import types as t
from tileir.ir.attributes import DenseElements
from tileir.ir.core import Op
from tileir.ir.diagnostics import UnsupportedError
from tileir.numerics import bits
from tileir.ops.module import Global
from tileir.runtime.arguments import Argument, ArrayArgument, PointerArgument, may_be_memory


@dataclass(frozen=True)
class Placed:
    """One global in memory: `size` bytes at `address`. `buffer` is the memory, and more for the alignment."""

    address: int
    size: int
    constant: bool
    buffer: np.ndarray

    @property
    def bounds(self) -> tuple[int, int, int, int]:
        """The first address, the end of what may be read, the end of what may be written, and that of all of it."""
        end = self.address + self.size
        return self.address, end, self.address if self.constant else end, end


class GlobalStorage:
    """The globals of a module by name, initialised once."""

    def __init__(self, items: Iterable[Op]) -> None:
        """Allocate the globals. Raises UnsupportedError if they take more than there may be."""
        globals = [item for item in items if isinstance(item, Global)]
        taken = 0
        for op in globals:
            taken += op.value.type.count * op.value.element.byte_size + alignment_of(op)
            if taken > MAX_GLOBALS:
                what = f"globals of {taken} bytes and more with their alignment: the limit of a module is {MAX_GLOBALS}"
                raise UnsupportedError(what, "host", op.loc)
        self.placed = {item.sym_name: _placed(item) for item in globals}
        self.addresses = {name: placed.address for name, placed in self.placed.items()}
        self.bounds = tuple(word for placed in self.placed.values() for word in placed.bounds)
        """The bounds of each global, one after the other."""


def alignment_of(op: Global) -> int:
    """Return the alignment of a global in bytes: a power of two."""
    return max(op.value.element.alignment, 1 << max(0, op.alignment - 1).bit_length())


def _placed(op: Global) -> Placed:
    image = memory_image(op.value)
    alignment = alignment_of(op)
    buffer = np.zeros(max(1, image.size) + alignment - 1, np.uint8)
    start: int = buffer.__array_interface__["data"][0]
    skip = -start % alignment
    buffer[skip : skip + image.size] = image
    return Placed(start + skip, image.size, op.constant, buffer)


def memory_image(value: DenseElements) -> np.ndarray:
    """Return the bytes of the elements as they lie in memory: as in the attribute, but f4E2M1FN two to a byte."""
    data = np.frombuffer(value.data, np.uint8)
    if value.is_splat:
        data = np.tile(data, value.type.count)
    if value.type.element is not t.F4E2M1FN:
        return data
    return bits.packed(data)


# ---------------------------------------------------------------- a launch


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
    """Return the memory of an array, or what the launch may use around it."""
    array = argument.array
    begin, _, _, end = argument.bounds
    if array.contiguous or (begin, end) != (array.address, array.bounds[3]):
        runs = Runs(0, end - begin)
    else:
        before, runs = runs_of(array.shape, array.strides, array.itemsize)
        begin -= before
    return Allocation(argument.name, begin, (runs,), origin=array.address, writable=array.writable, keep=array)


def _add_pointer(space: AddressSpace, argument: PointerArgument) -> None:
    """Add the memory of a raw address, unless it lies in memory that the launch has anyway."""
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


# ---------------------------------------------------------------- raw addresses


PROC_MAPS = "/proc/self/maps"
"""The mappings of this process, where the system has such a table."""


class Mapping(NamedTuple):
    """Mapped memory from `start` up to `end`."""

    start: int
    end: int
    writable: bool


_QUERY = struct.Struct("<9Q4I2Q")
"""Linux's ``struct procmap_query``: its size, flags, the address, start, end and flags of the mapping, and more."""
_ASK = 0xC0686611
"""``PROCMAP_QUERY``, the request of one mapping."""
_READABLE, _WRITABLE = 1, 2


def mapping_at(address: int) -> Mapping | None:
    """Return the readable mapping that holds `address`; None if there is none. Raises OSError where it cannot be
    known."""
    with open(PROC_MAPS, "rb", buffering=0) as table:
        try:
            return _asked(table.fileno(), address)
        except OSError:  # Linux before 6.11, and some sandboxes, cannot be asked for one
            return _found(io.TextIOWrapper(io.BufferedReader(table), "ascii", "replace"), address)


def _asked(table: int, address: int) -> Mapping | None:
    import fcntl  # absent on Windows, as the table is

    query = bytearray(_QUERY.pack(_QUERY.size, 0, address, *[0] * 12))
    try:
        fcntl.ioctl(table, _ASK, query)
    except FileNotFoundError:
        return None
    _, _, _, start, end, access, *_ = _QUERY.unpack(query)
    return Mapping(start, end, bool(access & _WRITABLE)) if access & _READABLE else None


def _found(table: Iterable[str], address: int) -> Mapping | None:
    """Look through the lines of the whole table."""
    for line in table:
        extent, access = line.split(maxsplit=2)[:2]
        start, end = (int(bound, 16) for bound in extent.split("-"))
        if start <= address < end:
            return Mapping(start, end, "w" in access) if "r" in access else None
    return None
