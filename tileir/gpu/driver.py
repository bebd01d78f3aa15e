"""The parts of a GPU driver that the launcher needs, its errors in words, and memory and code freed after their last
use."""

from __future__ import annotations

import ctypes
import re
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from tileir.gpu.arch import Arch, Vendor
from tileir.gpu.descriptors import TensorMap
from tileir.ir.diagnostics import Trap, UnsupportedError
from tileir.ir.escaping import shown

_OF_A_KERNEL = {
    "ILLEGAL_ADDRESS": "accessed memory that is not there",
    "MISALIGNED_ADDRESS": "accessed memory at an address that is not aligned",
    "ILLEGAL_INSTRUCTION": "ran an instruction that this GPU lacks",
    "INVALID_ADDRESS_SPACE": "accessed memory of the wrong kind",
    "INVALID_PC": "jumped to where there is no code",
    "HARDWARE_STACK_ERROR": "overflowed its stack",
    "LAUNCH_FAILED": "failed",
    "LAUNCH_FAILURE": "failed",
    "LAUNCH_TIMEOUT": "ran longer than this machine allows",
    "LAUNCH_TIME_OUT": "ran longer than this machine allows",
    "ASSERT": "stopped at an assertion",
    "TENSOR_MEMORY_LEAK": "did not free its tensor memory",
}
"""Errors of code that ran, which the driver reports at some later call and at every call after that."""

_OF_THE_CODE = (
    "INVALID_IMAGE",
    "INVALID_KERNEL_FILE",
    "SHARED_OBJECT_INIT_FAILED",
    "NO_BINARY_FOR_GPU",
    "INVALID_SOURCE",
    "UNSUPPORTED_PTX_VERSION",
    "NOT_FOUND",
)
"""Errors of code that was not accepted."""


def failure(vendor: Vendor, name: str, text: str, doing: str) -> Exception:
    """Return the exception for the driver's error `name`, described by `text`, met while `doing` something."""
    short, target = _short(name), vendor.value
    if short in _OF_A_KERNEL:
        what = f"a kernel {_OF_A_KERNEL[short]}; this process can no longer use the GPU"
        return Trap(f"{what} (noticed while {doing}: {name})")
    said = f"{name}: {text}" if text else name
    if short == "OUT_OF_MEMORY":
        return UnsupportedError(f"not enough GPU memory: failed at {doing} ({name})", target)
    if short == "LAUNCH_OUT_OF_RESOURCES":
        hint = "the kernel needs more registers or threads than a block can have: use smaller tiles"
        return UnsupportedError(f"failed at {doing}: {hint} ({name})", target)
    if short in _OF_THE_CODE:
        hint = "the driver may be too old for this code; 'tileir info' shows its version"
        return UnsupportedError(f"failed at {doing}: the driver refused it ({said}); {hint}", target)
    return UnsupportedError(f"failed at {doing} ({said})", target)


def _short(name: str) -> str:
    """Return an error without its prefix, as CUDA writes it: ``hipErrorNoBinaryForGpu`` is ``NO_BINARY_FOR_GPU``."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.removeprefix("hipError"))
    return words.upper() if name.startswith("hipError") else name.removeprefix("CUDA_ERROR_")


KEPT_BYTES = 64 << 20
"""Limit of the borrowed memory that is kept from one launch to the next."""
MOST_THREADS = 1 << 41
"""Threads along the first axis of a grid, where nothing but its blocks limits them."""


@dataclass(frozen=True)
class GpuDevice:
    """A GPU: its number, and the limits of a launch on it."""

    ordinal: int
    name: str
    arch: Arch
    shared_memory: int
    """Bytes that one block may have."""
    grid: tuple[int, int, int]
    """The most blocks along each axis."""
    threads: int = MOST_THREADS
    """The most threads of all blocks along the first axis."""
    multiprocessors: int = 1


@dataclass(frozen=True, eq=False)
class LoadedKernel:
    """A kernel that is loaded, and how it is launched: see `executable.Executable`."""

    handle: Any
    threads: int
    cluster: int
    shared: int


EncodedDescriptor = ctypes.Array[ctypes.c_ubyte]

Call = Callable[..., Sequence[Any]]
"""A function of a driver. It gives its status, then its results."""


@dataclass(frozen=True)
class EntryPoints:
    """The functions of a driver that all vendors have alike, with their arguments and results."""

    allocate: Call
    """Bytes; the address."""
    free: Call
    """Address."""
    borrow: Call
    """Bytes, pool, stream; the address."""
    give_back: Call
    """Address, stream."""
    fill: Call
    """Address, byte, count, stream."""
    upload: Call
    """Address, content, bytes, stream."""
    download: Call
    """Content, address, bytes, stream."""
    capture: Call
    """Stream; whether work for it becomes part of a graph."""
    launch_together: Call
    """Kernel, blocks and threads along three axes, shared memory, stream, parameters."""
    resident: Call
    """Kernel, threads, shared memory; the blocks that fit on a multiprocessor."""
    wait_for_stream: Call
    wait_for_device: Call
    unload: Call
    """The loaded library."""
    new_event: Call
    """Flags; the event."""
    record: Call
    """Event, stream."""
    wait_for_event: Call
    milliseconds: Call
    """Event of the beginning, event of the end; the time between them."""
    end_event: Call


class Driver(ABC):
    """The driver of a vendor in this process. Safe to share among threads."""

    vendor: Vendor

    def __init__(self, calls: EntryPoints) -> None:
        self._calls = calls
        self._pools: dict[int, Any] = {}

    # ------------------------------------------------------------ devices and kernels

    @abstractmethod
    def device(self) -> GpuDevice:
        """Return the device of the thread; the first one, if it has none yet."""

    @abstractmethod
    def devices(self) -> list[str]:
        """Return a line for every GPU."""

    @abstractmethod
    def version(self) -> str:
        """Return the version of the driver, in words."""

    @abstractmethod
    def on(self, ordinal: int) -> AbstractContextManager[None]:
        """Work on device `ordinal` meanwhile."""

    @abstractmethod
    def load(self, binary: bytes, what: str) -> Any:
        """Load machine code for the thread's device; `what` names it in the UnsupportedError if it is refused."""

    @abstractmethod
    def function(
        self, library: Any, kernel: str, threads: int, cluster: int, shared: int, name: str = ""
    ) -> LoadedKernel:
        """Return a kernel of what was loaded, to be launched on the thread's device as `executable.Executable` says.

        ``name`` is what messages call it, if not that. Raises UnsupportedError.
        """

    @abstractmethod
    def launch(self, function: LoadedKernel, grid: tuple[int, int, int], parameters: int, stream: int) -> None:
        """Start a kernel; `parameters` is the address of the addresses of its parameters."""

    def encode(self, described: TensorMap) -> EncodedDescriptor:
        """Return a descriptor as a kernel takes it. The tensor must be as `DescriptorParameter.tensor` returns them."""
        raise NotImplementedError

    def launch_together(self, function: LoadedKernel, grid: tuple[int, int, int], parameters: int, stream: int) -> None:
        """Start a kernel whose blocks all run at the same time; there must be no more than `resident`."""
        threads, shared = function.threads, function.shared
        how = function.handle, *grid, threads, 1, 1, shared, stream, parameters
        self._do("launching a kernel", self._calls.launch_together, *how)

    def resident(self, function: LoadedKernel) -> int:
        """Return the number of blocks of a kernel that find room on the thread's device at the same time."""
        how = function.handle, function.threads, function.shared
        return int(self._do("preparing a kernel", self._calls.resident, *how)) * self.device().multiprocessors

    def unload(self, library: Any) -> None:
        """Unload a library. A failure is ignored, as by `free`."""
        self._calls.unload(library)

    def _require_shared_memory(self, kernel: str, needed: int) -> None:
        """Raise UnsupportedError for a kernel that needs more than a block on the thread's device may have."""
        device = self.device()
        if needed > device.shared_memory:
            what = f"kernel @{shown(kernel)} needs {needed} bytes of shared memory in a block, {device.name} has"
            hint = "smaller tiles or fewer pipeline stages need less"
            raise UnsupportedError(f"{what} {device.shared_memory} ({hint})", self.vendor.value)

    # ------------------------------------------------------------ memory

    def allocate(self, size: int) -> int:
        """Return memory that stays until it is freed."""
        return int(self._do(_allocating(size), self._calls.allocate, max(1, size)))

    def free(self, address: int) -> None:
        """Free allocated memory. Nothing is said of failure: the context may be gone already, at the program's end."""
        self._calls.free(address)

    def borrow(self, size: int, stream: int) -> int:
        """Return memory for what is launched on `stream` from now on."""
        pool = self._pool(self.device().ordinal)
        if pool is None:
            return self.allocate(size)
        status, address = self._calls.borrow(size or 1, pool, stream)
        if status:
            raise self._failure(status, _allocating(size))
        return int(address)

    def give_back(self, address: int, stream: int) -> None:
        """End the use of borrowed memory by what is launched on `stream` from now on."""
        if self._pool(self.device().ordinal) is None:
            self.free(address)
            return
        (status,) = self._calls.give_back(address, stream)
        if status:
            raise self._failure(status, "giving back memory")

    def _pool(self, ordinal: int) -> Any:
        """Return the pool that memory is borrowed from; None if the device has none."""
        try:
            return self._pools[ordinal]
        except KeyError:
            return self._pools.setdefault(ordinal, self._new_pool(ordinal))

    @abstractmethod
    def _new_pool(self, ordinal: int) -> Any:
        """Return a pool of a device that keeps `KEPT_BYTES`; None if the device has none."""

    def clear(self, address: int, size: int, stream: int) -> None:
        """Fill memory with zeros, in the order of the stream."""
        self._do("clearing memory", self._calls.fill, address, 0, size, stream)

    def send(self, address: int, content: bytes | memoryview, stream: int) -> None:
        """Copy bytes to the device, in the order of the stream. They may be changed when this returns, except if the
        copy becomes part of a graph, which reads them at every run."""
        size = memoryview(content).nbytes
        if size:
            self._do("copying to the GPU", self._calls.upload, address, content, size, stream)

    def upload(self, address: int, content: bytes | memoryview, stream: int = 0) -> None:
        """Copy bytes to the device, in the order of the stream. When this returns they have been copied."""
        self.send(address, content, stream)
        self.synchronize(stream)

    def is_capturing(self, stream: int) -> bool:
        """Return whether work for a stream becomes part of a graph, rather than being done."""
        return bool(int(self._do("asking for the state of a stream", self._calls.capture, stream)))

    def download(self, address: int, content: bytearray | memoryview, stream: int = 0) -> None:
        """Fill `content` with bytes of the device, once everything on the stream is done."""
        size = memoryview(content).nbytes
        if size:
            self._do("copying from the GPU", self._calls.download, content, address, size, stream)
        self.synchronize(stream)

    # ------------------------------------------------------------ time

    def synchronize(self, stream: int = 0) -> None:
        """Wait until everything on the stream is done. Raises Trap for a fault of a kernel."""
        self._do("waiting for kernels", self._calls.wait_for_stream, stream)

    def finish(self) -> None:
        """Wait until everything on the thread's device is done. Raises Trap for a fault of a kernel."""
        self._do("waiting for kernels", self._calls.wait_for_device)

    def drain(self) -> None:
        """Wait for the device; failures are ignored, as by `free`."""
        self._calls.wait_for_device()

    def seconds(self, action: Callable[[], object], stream: int = 0) -> float:
        """Measure the device's time for what `action` launches on the stream, in seconds."""
        calls, doing = self._calls, "measuring time"
        begin, end = (self._do(doing, calls.new_event, 0) for _ in range(2))
        self._do(doing, calls.record, begin, stream)
        action()
        self._do(doing, calls.record, end, stream)
        self._do("waiting for kernels", calls.wait_for_event, end)
        milliseconds = float(self._do(doing, calls.milliseconds, begin, end))
        for event in (begin, end):
            calls.end_event(event)
        return milliseconds * 1e-3

    # ------------------------------------------------------------ failure

    def _do(self, doing: str, function: Call, *arguments: object) -> Any:
        """Return the result of a function of the driver, if it has one."""
        status, *results = function(*arguments)
        if status:
            raise self._failure(status, doing)
        return results[0] if results else None

    def _failure(self, status: Any, doing: str) -> Exception:
        return failure(self.vendor, *self._named(status), doing)

    @abstractmethod
    def _named(self, status: Any) -> tuple[str, str]:
        """Return the driver's name and description of an error."""


def _allocating(size: int) -> str:
    return f"allocating {size} bytes"


class DeviceMemory:
    """Memory on the thread's device with a copy of `content`, at a multiple of `alignment`."""

    def __init__(self, driver: Driver, content: bytes, alignment: int = 1) -> None:
        allocated = driver.allocate(len(content) + alignment - 1)
        _at_end(self, driver, driver.free, allocated)
        self.address = -(-allocated // alignment) * alignment
        driver.upload(self.address, content)


class Library:
    """A cubin loaded on the thread's device; `what` names it if it is refused."""

    def __init__(self, driver: Driver, cubin: bytes, what: str) -> None:
        self.handle = driver.load(cubin, what)
        _at_end(self, driver, driver.unload, self.handle)


def _at_end(owner: object, driver: Driver, give_up: Callable[[Any], None], what: Any) -> None:
    weakref.finalize(owner, _give_up, driver, driver.device().ordinal, give_up, what).atexit = False


def _give_up(driver: Driver, ordinal: int, give_up: Callable[[Any], None], what: Any) -> None:
    with driver.on(ordinal):
        driver.drain()  # kernels may run that use it
        give_up(what)
