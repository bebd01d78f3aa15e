"""AMD's driver: the HIP runtime, called through ctypes.

Each function is declared once, by its name and the types of its arguments (hip_runtime_api.h of ROCm 6 and 7). HIP has
no contexts: a thread has a current device, the first one until it chooses another.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tileir.gpu.arch import WAVES, Vendor, amd
from tileir.gpu.driver import KEPT_BYTES, Call, Driver, EntryPoints, GpuDevice, LoadedKernel
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.escaping import as_bytes, shown

LIBRARIES = ("libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so", "/opt/rocm/lib/libamdhip64.so")
"""The runtime by its names, the newest first."""
MOST_WORK_ITEMS = (1 << 32) - 1
"""Threads along one axis of a grid (HIP programming guide: launch limits)."""

_NO_DEVICE = 100
_GRID_AXES, _MULTIPROCESSORS, _SHARED_MEMORY, _HAS_POOLS = (29, 30, 31), 63, 74, 88
"""Numbers of hipDeviceAttribute_t."""
_PROPERTIES_BYTES, _ARCH_PLACE, _ARCH_BYTES = 4096, 1160, 256
"""Room for hipDeviceProp_tR0600, which has 1472 bytes, and where in it gcnArchName lies."""
_PINNED, _ON_DEVICE, _RELEASE_THRESHOLD = 1, 1, 4
"""Numbers of hipMemAllocationType, hipMemLocationType and hipMemPoolAttr."""
_POOL_WORDS = 22
"""Words of hipMemPoolProps: type, handles, kind and number of the place; the others may be 0."""

_INT, _UNSIGNED, _SIZE, _HANDLE, _TEXT = (
    ctypes.c_int,
    ctypes.c_uint,
    ctypes.c_size_t,
    ctypes.c_void_p,
    ctypes.c_char_p,
)


class HipDriver(Driver):
    """The driver for AMD's GPUs."""

    vendor = Vendor.AMD

    def __init__(self, library: ctypes.CDLL) -> None:
        """Start the driver that `library` is. Raises ImportError if there is no GPU."""
        self._library = library
        self._devices: dict[int, GpuDevice] = {}
        super().__init__(self._entry_points())
        self._current = self._call("hipGetDevice", result=_INT)
        self._choose = self._call("hipSetDevice", _INT)
        self._load = self._call("hipModuleLoadData", _TEXT, result=_HANDLE)
        self._find = self._call("hipModuleGetFunction", _HANDLE, _TEXT, result=_HANDLE)
        sizes = [_UNSIGNED] * 7
        self._launch = self._call("hipModuleLaunchKernel", _HANDLE, *sizes, _HANDLE, _HANDLE, _HANDLE)
        self._start()

    def _call(self, name: str, *arguments: type, result: type | None = None) -> Call:
        """Return the function `name` of the library: given its arguments, without the place of a result, it gives its
        status and the result."""
        try:
            function = self._library[name]
        except AttributeError:
            raise ImportError(f"the HIP runtime of this machine has no {name}: expected that of ROCm 6 or 7") from None
        if result is None:
            function.argtypes = arguments
            return lambda *given: (function(*given),)
        function.argtypes = (_HANDLE, *arguments)

        def with_result(*given: object) -> tuple[int, Any]:
            place = result()
            return function(ctypes.addressof(place), *given), place.value

        return with_result

    def _entry_points(self) -> EntryPoints:
        call = self._call
        upload = call("hipMemcpyHtoDAsync", _HANDLE, _HANDLE, _SIZE, _HANDLE)
        download = call("hipMemcpyDtoHAsync", _HANDLE, _HANDLE, _SIZE, _HANDLE)
        capture = call("hipStreamIsCapturing", _HANDLE, _HANDLE)
        sizes = [_UNSIGNED] * 7

        def is_capturing(stream: int) -> tuple[int, int]:
            found = _INT()
            (status,) = capture(stream, ctypes.addressof(found))
            return status, found.value

        return EntryPoints(
            allocate=call("hipMalloc", _SIZE, result=_HANDLE),
            free=call("hipFree", _HANDLE),
            borrow=call("hipMallocFromPoolAsync", _SIZE, _HANDLE, _HANDLE, result=_HANDLE),
            give_back=call("hipFreeAsync", _HANDLE, _HANDLE),
            fill=call("hipMemsetD8Async", _HANDLE, ctypes.c_ubyte, _SIZE, _HANDLE),
            upload=lambda address, content, size, stream: upload(address, _address(content), size, stream),
            download=lambda content, address, size, stream: download(_address(content), address, size, stream),
            capture=is_capturing,
            launch_together=call("hipModuleLaunchCooperativeKernel", _HANDLE, *sizes, _HANDLE, _HANDLE),
            resident=call("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", _HANDLE, _INT, _SIZE, result=_INT),
            wait_for_stream=call("hipStreamSynchronize", _HANDLE),
            wait_for_device=call("hipDeviceSynchronize"),
            unload=call("hipModuleUnload", _HANDLE),
            new_event=call("hipEventCreateWithFlags", _UNSIGNED, result=_HANDLE),
            record=call("hipEventRecord", _HANDLE, _HANDLE),
            wait_for_event=call("hipEventSynchronize", _HANDLE),
            milliseconds=call("hipEventElapsedTime", _HANDLE, _HANDLE, result=ctypes.c_float),
            end_event=call("hipEventDestroy", _HANDLE),
        )

    def _start(self) -> None:
        (status,) = self._call("hipInit", _UNSIGNED)(0)
        if not status:
            status, count = self._call("hipGetDeviceCount", result=_INT)()
            if not status and count:
                return
        if status in (0, _NO_DEVICE):
            raise ImportError("the HIP runtime finds no AMD GPU")
        raise ImportError(f"the HIP runtime does not start ({self._named(status)[0]})")

    # ------------------------------------------------------------ devices

    def device(self) -> GpuDevice:
        status, ordinal = self._current()
        if status:
            raise self._failure(status, "choosing a GPU")
        found = self._devices.get(ordinal)
        if found is None:
            found = self._devices[ordinal] = self._described(ordinal)
        return found

    def devices(self) -> list[str]:
        count = self._do("counting GPUs", self._call("hipGetDeviceCount", result=_INT))
        return [", ".join(self._identity(ordinal)) for ordinal in range(count)]

    def version(self) -> str:
        number = self._do("asking for a version", self._call("hipRuntimeGetVersion", result=_INT))
        return f"HIP runtime {number // 10_000_000}.{number // 100_000 % 100}"

    @contextmanager
    def on(self, ordinal: int) -> Iterator[None]:
        doing = f"switching to GPU {ordinal}"
        before = self._do(doing, self._current)
        self._do(doing, self._choose, ordinal)
        try:
            yield
        finally:
            self._do(doing, self._choose, before)

    def _described(self, ordinal: int) -> GpuDevice:
        name, arch = self._identity(ordinal)
        if arch not in WAVES:
            raise UnsupportedError(f"needs a GPU of {', '.join(WAVES)}, {name} is {arch}", self.vendor.value)
        x, y, z = (self._attribute(axis, ordinal) for axis in _GRID_AXES)
        shared = self._attribute(_SHARED_MEMORY, ordinal)
        count = self._attribute(_MULTIPROCESSORS, ordinal)
        return GpuDevice(ordinal, name, amd(arch), shared, (x, y, z), MOST_WORK_ITEMS, count)

    def _identity(self, ordinal: int) -> tuple[str, str]:
        """Return the name and the architecture of a device, without its features (``gfx942:sramecc+:xnack-``)."""
        name = ctypes.create_string_buffer(128)
        doing = "asking for the name of a GPU"
        self._do(doing, self._call("hipDeviceGetName", _HANDLE, _INT, _INT), ctypes.addressof(name), 128, ordinal)
        facts = ctypes.create_string_buffer(_PROPERTIES_BYTES)
        properties = self._call("hipGetDevicePropertiesR0600", _HANDLE, _INT)
        self._do(doing, properties, ctypes.addressof(facts), ordinal)
        arch = facts.raw[_ARCH_PLACE : _ARCH_PLACE + _ARCH_BYTES].split(b"\0")[0].decode(errors="replace")
        return name.value.decode(errors="replace"), arch.split(":")[0]

    def _attribute(self, number: int, ordinal: int) -> int:
        attribute = self._call("hipDeviceGetAttribute", _INT, _INT, result=_INT)
        return int(self._do("asking what a GPU can do", attribute, number, ordinal))

    # ------------------------------------------------------------ kernels

    def load(self, binary: bytes, what: str) -> Any:
        return self._do(f"loading the code of {what} for {self.device().arch.name}", self._load, binary)

    def function(
        self, library: Any, kernel: str, threads: int, cluster: int, shared: int, name: str = ""
    ) -> LoadedKernel:
        assert cluster == 1, "AMD's GPUs have no clusters"
        self._require_shared_memory(name or kernel, shared)
        handle = self._do(f"finding kernel @{shown(name or kernel)}", self._find, library, as_bytes(kernel))
        return LoadedKernel(handle, threads, cluster, shared)

    def launch(self, function: LoadedKernel, grid: tuple[int, int, int], parameters: int, stream: int) -> None:
        threads, shared = function.threads, function.shared
        (status,) = self._launch(function.handle, *grid, threads, 1, 1, shared, stream, parameters, None)
        if status:
            raise self._failure(status, "launching a kernel")

    # ------------------------------------------------------------ memory and failure

    def _new_pool(self, ordinal: int) -> Any:
        if not self._attribute(_HAS_POOLS, ordinal):
            return None
        doing = "setting memory aside"
        wanted = np.array([_PINNED, 0, _ON_DEVICE, ordinal, *[0] * (_POOL_WORDS - 4)], np.int32)
        pool = self._do(doing, self._call("hipMemPoolCreate", _HANDLE, result=_HANDLE), wanted.ctypes.data)
        kept = ctypes.c_uint64(KEPT_BYTES)
        change = self._call("hipMemPoolSetAttribute", _HANDLE, _INT, _HANDLE)
        self._do(doing, change, pool, _RELEASE_THRESHOLD, ctypes.addressof(kept))
        return pool

    def _named(self, status: int) -> tuple[str, str]:
        return self._said("hipGetErrorName", status), self._said("hipGetErrorString", status)

    def _said(self, name: str, status: int) -> str:
        function = self._library[name]
        function.argtypes, function.restype = (_INT,), _TEXT
        return (function(status) or b"").decode(errors="replace")


def _address(content: bytes | bytearray | memoryview) -> int:
    """Return the address of bytes, which the caller keeps meanwhile."""
    return int(np.frombuffer(content, np.uint8).ctypes.data)


@cache
def hip_driver() -> HipDriver:
    """Return the one driver of this process. Raises ImportError if the HIP runtime or a GPU is missing."""
    return HipDriver(_runtime())


def _runtime() -> ctypes.CDLL:
    """Return the HIP runtime: the one loaded in the process, else torch's own, else the machine's."""
    for name in LIBRARIES:
        with suppress(OSError):
            return ctypes.CDLL(name, mode=ctypes.DEFAULT_MODE | getattr(os, "RTLD_NOLOAD", 0))
    for name in (*_of_torch(), *LIBRARIES):
        with suppress(OSError):
            return ctypes.CDLL(name)
    raise ImportError("no HIP runtime on this machine (libamdhip64 cannot be loaded)")


def _of_torch() -> list[str]:
    """Return the runtime that torch brings along and will load: a process must have one only."""
    with suppress(ImportError, ValueError):
        found = importlib.util.find_spec("torch")
        if found is not None and found.origin is not None:
            path = Path(found.origin).parent / "lib" / "libamdhip64.so"
            return [str(path)] if path.exists() else []
    return []
