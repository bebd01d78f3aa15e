"""A stand-in for `gpu.driver.Driver`: memory is this process's own, launches are recorded and do what a test says."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from tileir.gpu.arch import Arch, Vendor, nvidia
from tileir.gpu.descriptors import DESCRIPTOR_BYTES, TensorMap
from tileir.gpu.driver import GpuDevice

HOPPER = nvidia(90)


@dataclass
class Launched:
    """One launch: its kernel, how the driver was told to run it, and the first 8 bytes of each parameter."""

    kernel: str
    threads: int
    cluster: int
    shared: int
    grid: tuple[int, int, int]
    stream: int
    parameters: tuple[int, ...]
    device: int


@dataclass
class FakeFunction:
    kernel: str
    threads: int
    cluster: int
    shared: int


@dataclass
class FakeDriver:
    """`run` is called with each launch, in place of the kernel; `counts` says how many parameters a kernel has."""

    run: Callable[[Launched], object] = lambda launched: None
    arch: Arch = HOPPER
    shared_memory: int = 227 << 10
    count: int = 1
    launches: list[Launched] = field(default_factory=list)
    borrowed: list[tuple[int, int]] = field(default_factory=list)
    """Bytes and stream of everything that was borrowed."""
    events: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    encoded: list[TensorMap] = field(default_factory=list)
    unloads: int = 0
    current: int = 0
    capturing: set[int] = field(default_factory=set)
    """Streams whose work becomes part of a graph."""
    room: int = 132
    """Blocks that run at the same time."""
    _memory: dict[int, ctypes.Array] = field(default_factory=dict)

    @property
    def vendor(self) -> Vendor:
        return self.arch.vendor

    def device(self) -> GpuDevice:
        return GpuDevice(
            self.current, f"Fake {self.current}", self.arch, self.shared_memory, ((1 << 31) - 1, 65535, 65535)
        )

    @contextmanager
    def on(self, ordinal):
        before, self.current = self.current, ordinal
        yield
        self.current = before

    def load(self, cubin, what):
        self.loads.append(what)
        return cubin

    def unload(self, library):
        self.unloads += 1

    def function(self, library, kernel, threads, cluster, shared, name=""):
        return FakeFunction(kernel, threads, cluster, shared)

    def encode(self, described):
        """A descriptor that begins with its number."""
        self.encoded.append(described)
        return (ctypes.c_ubyte * DESCRIPTOR_BYTES)(len(self.encoded))

    def launch(self, function, grid, parameters, stream):
        addresses = ctypes.cast(parameters, ctypes.POINTER(ctypes.c_void_p))
        values = tuple(ctypes.c_uint64.from_address(addresses[position]).value for position in range(self.count))
        how = function.kernel, function.threads, function.cluster, function.shared
        launched = Launched(*how, grid, stream, values, self.current)
        self.events.append("launch")
        self.launches.append(launched)
        self.run(launched)

    def launch_together(self, function, grid, parameters, stream):
        self.events.append("together")
        self.launch(function, grid, parameters, stream)

    def resident(self, function):
        return self.room

    def allocate(self, size):
        memory = (ctypes.c_ubyte * (size + 256))()
        address = -(-ctypes.addressof(memory) // 256) * 256
        self._memory[address] = memory
        ctypes.memset(address, 0xAA, size)
        return address

    def free(self, address):
        del self._memory[address]

    def borrow(self, size, stream):
        self.borrowed.append((size, stream))
        return self.allocate(size)

    def give_back(self, address, stream):
        self.events.append("give back")
        self.free(address)

    def clear(self, address, size, stream):
        self.events.append("clear")
        ctypes.memset(address, 0, size)

    def upload(self, address, content, stream=0):
        self.events.append("upload")
        ctypes.memmove(address, bytes(content), len(content))

    def send(self, address, content, stream):
        self.events.append("send")
        ctypes.memmove(address, bytes(content), len(content))

    def is_capturing(self, stream):
        return stream in self.capturing

    def download(self, address, content, stream=0):
        self.events.append("download")
        content[:] = ctypes.string_at(address, len(content))

    def finish(self):
        self.events.append("finish")

    def drain(self):
        pass

    def synchronize(self, stream=0):
        self.events.append("synchronize")

    @property
    def held(self) -> int:
        """Pieces of memory that have not been given up."""
        return len(self._memory)


class OnGpu:
    """An array that says it is on a GPU, by CUDA's array interface; its memory is that of a NumPy array."""

    def __init__(self, array: np.ndarray, device: int | None = None) -> None:
        self.array = array
        self.device = type("Device", (), {"id": device})
        self.__cuda_array_interface__ = {
            "data": (array.ctypes.data, False),
            "shape": array.shape,
            "typestr": array.dtype.str,
            "version": 3,
        }
