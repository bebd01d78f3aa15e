"""Launch machine code of either vendor and route.

Every parameter lies in eight bytes of its own, a value in the low ones: the driver takes as many as the kernel wants.
Descriptors of tensors lie where they were encoded.
A launch returns before the kernel has run, except one with a mailbox, which is read.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from operator import mul

from tileir.gpu.descriptors import MAX_EXTENT, DescriptorParameter, tensor_map
from tileir.gpu.driver import DeviceMemory, Driver, EncodedDescriptor, Library
from tileir.gpu.executable import (
    PARAMETER_BYTES,
    BlockMemory,
    ConstantMemory,
    Executable,
    GlobalMemory,
    Hidden,
    Mailbox,
)
from tileir.gpu.expressions import evaluated, parameters_in
from tileir.gpu.mailbox import HEAD_BYTES, Mail, initial, read, size_for, used
from tileir.ir.core import Op
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.escaping import shown

Grid = tuple[int, int, int]
NOTHING = Mail((), 0, None)
KEPT_TENSORS = 64
"""Launches with other tensors whose descriptors a kernel keeps."""


class _Parameters:
    """The parameters of a launch in memory, and the address that the driver is given."""

    __slots__ = ("_addresses", "_slots", "address", "fill")

    def __init__(self, count: int) -> None:
        self._slots = (ctypes.c_uint64 * count)()
        first = ctypes.addressof(self._slots)
        self._addresses = (ctypes.c_void_p * count)(*range(first, first + count * PARAMETER_BYTES, PARAMETER_BYTES))
        self.address = ctypes.addressof(self._addresses)
        self.fill = partial(struct.Struct(f"={count}Q").pack_into, self._slots, 0)
        """Takes the values of all parameters, as unsigned numbers."""

    def place(self, positions: Sequence[int], descriptors: Sequence[EncodedDescriptor]) -> None:
        """Take descriptors as the parameters at these positions. They must be there when the driver is called."""
        for position, descriptor in zip(positions, descriptors):
            self._addresses[position] = ctypes.addressof(descriptor)


@dataclass(frozen=True)
class _Borrowed:
    """Memory that a launch borrows, whose address is the parameter at `position` after those of the entry."""

    position: int
    size: Callable[[int], int]
    """Bytes for so many tile blocks."""
    alignment: int = 1


class KernelLauncher:
    """A kernel that is loaded on one device, ready to be launched any number of times, from any thread."""

    def __init__(
        self,
        driver: Driver,
        executable: Executable,
        library: Library,
        sites: Sequence[Op],
        given: int,
        global_address: Callable[[str], int],
        name: str,
    ) -> None:
        """Make the kernel of `executable` ready, which has been loaded as `library` on the thread's device.

        ``sites`` are the operations that have the numbers of ``executable.sites``. A launch gives ``given`` values;
        ``global_address`` tells where the globals of the module are on that device; ``name`` is what messages call the
        kernel. Raises UnsupportedError for what the device does not have.
        """
        self._driver = driver
        self.device = driver.device()
        self._name = name
        x, y, z = self.device.grid
        self._largest = min(x // executable.cluster, self.device.threads // executable.threads), y, z
        how = executable.threads, executable.cluster, executable.shared
        self._function = driver.function(library.handle, executable.kernel, *how, name)
        self._library = library
        self._constants: list[DeviceMemory] = []
        self._fixed = tuple(self._address(hidden, global_address) for hidden in executable.hidden)
        self._fixed += (0, 0) if executable.scratch is not None else ()
        self._sites = sites
        self._borrowed = list(_borrowed(executable, sites))
        self._mailbox = next((at for at, one in enumerate(executable.hidden) if isinstance(one, Mailbox)), None)
        self._count = given + len(self._fixed)
        self._described = [
            given + at for at, one in enumerate(executable.hidden) if isinstance(one, DescriptorParameter)
        ]
        self._deciding = _deciding(executable)
        self._encoded = lru_cache(KEPT_TENSORS)(partial(_encoded, driver, executable, self._deciding))
        self._most: int | None = None
        """The most blocks of a grid, where all must run at the same time."""
        self._start_blocks = driver.launch
        if executable.polls and executable.cluster == 1:
            self._most, self._start_blocks = driver.resident(self._function), driver.launch_together
        self._free: list[_Parameters] = []

    def descriptors(self, values: Sequence[int]) -> tuple[EncodedDescriptor, ...] | None:
        """Return the descriptors for a launch with these values, which are kept for the next one; None if the code
        expects other tensors."""
        return self._encoded(*(values[position] for position in self._deciding)) if self._deciding else ()

    def launch(
        self, grid: Grid, values: Sequence[int], stream: int, descriptors: Sequence[EncodedDescriptor] = ()
    ) -> Mail | None:
        """Launch over `grid`; gives what the blocks left for the host, None if they cannot leave anything.

        ``values`` are the entry's arguments as unsigned numbers below 2^64, and ``descriptors`` those for them. Raises
        UnsupportedError, and Trap for a kernel that went wrong.
        """
        x, y, z = self._largest
        if grid[0] > x or grid[1] > y or grid[2] > z:
            raise self._unsupported(f": a grid of {grid}, the largest that {self.device.name} has is {(x, y, z)}")
        blocks = grid[0] * grid[1] * grid[2]
        if self._most is not None and blocks > self._most:
            what = f" waits for other tile blocks, so that all {blocks} must run together"
            hint = "use a smaller grid, whose tile blocks have more to do"
            raise self._unsupported(f"{what}, and {self.device.name} has room for {self._most}; {hint}")
        if self._borrowed:
            return self._launch_with_memory(grid, values, stream, descriptors)
        self._start(grid, (*values, *self._fixed), stream, descriptors)
        return None

    def _unsupported(self, why: str) -> UnsupportedError:
        """Return the error for a launch; `why` continues the kernel's name."""
        return UnsupportedError(f"kernel @{shown(self._name)}{why}", self.device.arch.vendor.value)

    def _start(self, grid: Grid, values: Sequence[int], stream: int, descriptors: Sequence[EncodedDescriptor]) -> None:
        """Start the kernel with the values of all parameters but descriptors."""
        try:
            parameters = self._free.pop()
        except IndexError:
            parameters = _Parameters(self._count)
        parameters.fill(*values)
        parameters.place(self._described, descriptors)
        self._start_blocks(self._function, grid, parameters.address, stream)
        self._free.append(parameters)

    def _launch_with_memory(
        self, grid: Grid, values: Sequence[int], stream: int, descriptors: Sequence[EncodedDescriptor]
    ) -> Mail | None:
        if self._mailbox is not None and self._driver.is_capturing(stream):
            what = " prints or has an 'assert', whose launch waits for its end"
            raise self._unsupported(f"{what}: a graph cannot hold it")
        blocks = grid[0] * grid[1] * grid[2]
        extra = list(self._fixed)
        addresses: list[int] = []
        try:
            for one in self._borrowed:
                addresses.append(self._driver.borrow(one.size(blocks) + one.alignment - 1, stream))
                extra[one.position] = _aligned(addresses[-1], one.alignment)
            if self._mailbox is None:
                self._start(grid, (*values, *extra), stream, descriptors)
                return None
            address, size = extra[self._mailbox], size_for(self._sites, blocks)
            empty = initial(size, self._sites)
            self._driver.clear(address, size, stream)
            self._driver.upload(address, empty, stream)
            self._start(grid, (*values, *extra), stream, descriptors)
            return self._mail(address, empty, stream)
        finally:
            for address in addresses:
                self._driver.give_back(address, stream)

    def _mail(self, address: int, empty: bytes, stream: int) -> Mail:
        """Return the content of the mailbox, when the kernel has run; its head was `empty`."""
        head = bytearray(HEAD_BYTES)
        self._driver.download(address, head, stream)
        if head == empty:
            return NOTHING
        content = bytearray(used(head))
        self._driver.download(address, content, stream)
        return read(content, self._sites)

    def _address(self, hidden: Hidden, global_address: Callable[[str], int]) -> int:
        """Return the address of hidden memory; 0 for what every launch borrows or encodes."""
        if isinstance(hidden, GlobalMemory):
            return global_address(hidden.name)
        if isinstance(hidden, ConstantMemory):
            self._constants.append(DeviceMemory(self._driver, hidden.content))
            return self._constants[-1].address
        return 0


def _deciding(executable: Executable) -> list[int]:
    """Return the parameters that descriptors and expected extents depend on."""
    tensors = (hidden.parameters() for hidden in executable.hidden if isinstance(hidden, DescriptorParameter))
    return sorted(set().union(*tensors, *map(parameters_in, executable.narrow)))


def _encoded(
    driver: Driver, executable: Executable, positions: Sequence[int], *values: int
) -> tuple[EncodedDescriptor, ...] | None:
    """Return the descriptors for these values of parameters; None if the code expects other tensors."""
    arguments = dict(zip(positions, values))
    if any(evaluated(extent, arguments) > MAX_EXTENT for extent in executable.narrow):
        return None
    tensors = (hidden for hidden in executable.hidden if isinstance(hidden, DescriptorParameter))
    maps = [tensor_map(tensor, layout, arguments) for tensor, layout in zip(tensors, executable.layouts)]
    found = [described for described in maps if described is not None]
    return tuple(map(driver.encode, found)) if len(found) == len(maps) else None


def _borrowed(executable: Executable, sites: Sequence[Op]) -> Iterator[_Borrowed]:
    for position, hidden in enumerate(executable.hidden):
        if isinstance(hidden, BlockMemory):
            yield _Borrowed(position, partial(mul, hidden.size))
        elif isinstance(hidden, Mailbox):
            yield _Borrowed(position, partial(size_for, sites))
    scratch = executable.scratch
    if scratch is not None and scratch.size:
        yield _Borrowed(len(executable.hidden), partial(mul, scratch.size * executable.cluster), scratch.alignment)


def _aligned(address: int, alignment: int) -> int:
    return -(-address // alignment) * alignment
