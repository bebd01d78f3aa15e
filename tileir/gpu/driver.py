"""The CUDA driver, through the package `cuda-bindings`.

Knows: contexts, devices, loaded kernels, memory, streams and launches, as far as they are needed here; and how what the
driver reports is put into words. Does not know: what the parameters of a kernel mean (`gpu.launch`), arrays.

A stream is a number, as the driver has it: 0 is the default stream of the context. Memory that is borrowed belongs to
a stream: it may be given back while kernels that use it still wait there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from tileir.gpu.arch import CAPABILITIES, Arch, nvidia
from tileir.gpu.faults import failure
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.shown import as_bytes, shown

TARGET = "cuda"
KEPT_BYTES = 64 << 20
"""Limit of the borrowed memory that is kept from one launch to the next."""
STATIC_SHARED = 48 << 10
"""Bytes of shared memory that every kernel may have without asking."""


@dataclass(frozen=True)
class GpuDevice:
    """A GPU: its number, and what a launch on it is held to."""

    ordinal: int
    name: str
    arch: Arch
    shared_memory: int
    """Bytes that one block may have."""
    grid: tuple[int, int, int]
    """The most blocks along each axis."""


@dataclass(frozen=True, eq=False)
class LoadedKernel:
    """A kernel that is loaded, and how it is launched: see `executable.Executable`."""

    handle: Any
    threads: int
    cluster: int
    shared: int


class Driver:
    """The driver of this process. Safe to share among threads."""

    def __init__(self) -> None:
        """Start the driver. Raises ImportError if it, a GPU or the bindings are missing, and says which."""
        self._cuda = cuda = _bindings()
        self._success = cuda.CUresult.CUDA_SUCCESS
        self._devices: dict[int, GpuDevice] = {}
        self._contexts: dict[int, Any] = {}
        self._pools: dict[int, Any] = {}
        self._launch = cuda.cuLaunchKernel
        self._current = cuda.cuCtxGetCurrent
        self._lend = cuda.cuMemAllocFromPoolAsync
        self._take_back = cuda.cuMemFreeAsync

    # ------------------------------------------------------------ contexts and devices

    def device(self) -> GpuDevice:
        """The device of the thread's context; without one the first device, whose context is then the thread's."""
        status, context = self._current()
        found = self._devices.get(int(context))
        if found is None or status != self._success:
            return self._met(int(context))
        return found

    def devices(self) -> list[str]:
        """A line for every GPU."""
        count = self._do("counting GPUs", self._cuda.cuDeviceGetCount)
        return [self._line(ordinal) for ordinal in range(count)]

    def version(self) -> str:
        """The version of CUDA that the driver is for."""
        number = self._do("asking for a version", self._cuda.cuDriverGetVersion)
        return f"driver for CUDA {number // 1000}.{number % 1000 // 10}"

    @contextmanager
    def on(self, ordinal: int) -> Iterator[None]:
        """Work on device `ordinal` meanwhile, in the context that all libraries share."""
        doing = f"switching to GPU {ordinal}"
        self._do(doing, self._cuda.cuCtxPushCurrent, self._context(ordinal))
        try:
            yield
        finally:
            self._do(doing, self._cuda.cuCtxPopCurrent)

    def _context(self, ordinal: int) -> Any:
        """The context of a device that all libraries share; it is never given up."""
        if ordinal not in self._contexts:
            doing = f"using GPU {ordinal}"
            device = self._do(doing, self._cuda.cuDeviceGet, ordinal)
            self._contexts[ordinal] = self._do(doing, self._cuda.cuDevicePrimaryCtxRetain, device)
        return self._contexts[ordinal]

    def _met(self, context: int) -> GpuDevice:
        """The device of a context that is new here."""
        doing = "choosing a GPU"
        if not context:
            self._do(doing, self._cuda.cuCtxSetCurrent, self._context(0))
            context = int(self._context(0))
        ordinal = int(self._do(doing, self._cuda.cuCtxGetDevice))
        device = self._devices[context] = self._described(ordinal)
        return device

    def _described(self, ordinal: int) -> GpuDevice:
        name, capability = self._identity(ordinal)
        if capability < min(CAPABILITIES):
            lowest, found = (f"{number // 10}.{number % 10}" for number in (min(CAPABILITIES), capability))
            raise UnsupportedError(f"needs a GPU of compute capability {lowest} or higher, {name} has {found}", TARGET)
        shared = self._attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN", ordinal)
        x, y, z = (self._attribute(f"MAX_GRID_DIM_{axis}", ordinal) for axis in "XYZ")
        return GpuDevice(ordinal, name, nvidia(capability), shared, (x, y, z))

    def _identity(self, ordinal: int) -> tuple[str, int]:
        """Name and capability of a device."""
        name: bytes = self._do("asking for the name of a GPU", self._cuda.cuDeviceGetName, 128, ordinal)
        major, minor = (self._attribute(f"COMPUTE_CAPABILITY_{part}", ordinal) for part in ("MAJOR", "MINOR"))
        return name.split(b"\0")[0].decode(errors="replace"), 10 * major + minor

    def _attribute(self, name: str, ordinal: int) -> int:
        attribute = getattr(self._cuda.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(self._do("asking what a GPU can do", self._cuda.cuDeviceGetAttribute, attribute, ordinal))

    def _line(self, ordinal: int) -> str:
        name, capability = self._identity(ordinal)
        return f"{name}, compute capability {capability // 10}.{capability % 10}"

    # ------------------------------------------------------------ kernels

    def load(self, cubin: bytes, what: str) -> Any:
        """Load a cubin for the thread's device; `what` names it in the UnsupportedError if it is refused."""
        doing = f"loading the code of {what} for {self.device().arch.name}"
        return self._do(doing, self._cuda.cuLibraryLoadData, cubin, [], [], 0, [], [], 0)

    def unload(self, library: Any) -> None:
        """Give up what was loaded. Nothing is said of failure, as of `free`."""
        self._cuda.cuLibraryUnload(library)

    def function(
        self, library: Any, kernel: str, threads: int, cluster: int, shared: int, name: str = ""
    ) -> LoadedKernel:
        """A kernel of a library, to be launched on the thread's device as `executable.Executable` says.

        ``name`` is what messages call it, if not that. Raises UnsupportedError.
        """
        device = self.device()
        if shared > device.shared_memory:
            what = (
                f"kernel @{shown(name or kernel)} needs {shared} bytes of shared memory in a block, {device.name} has"
            )
            hint = "smaller tiles or fewer pipeline stages need less"
            raise UnsupportedError(f"{what} {device.shared_memory} ({hint})", TARGET)
        handle = self._do(
            f"finding kernel @{shown(name or kernel)}", self._cuda.cuLibraryGetKernel, library, as_bytes(kernel)
        )
        self._allow(handle, cluster, shared, device.ordinal)
        return LoadedKernel(self._cuda.CUfunction(int(handle)), threads, cluster, shared)

    def _allow(self, kernel: Any, cluster: int, shared: int, ordinal: int) -> None:
        """Let a kernel have what goes beyond that which every kernel may have."""
        wishes = {}
        if shared > STATIC_SHARED:
            wishes["MAX_DYNAMIC_SHARED_SIZE_BYTES"] = shared
        if cluster > 8:
            wishes["NON_PORTABLE_CLUSTER_SIZE_ALLOWED"] = 1
        for name, value in wishes.items():
            attribute = getattr(self._cuda.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
            self._do("preparing a kernel", self._cuda.cuKernelSetAttribute, attribute, value, kernel, ordinal)

    def launch(self, function: LoadedKernel, grid: tuple[int, int, int], parameters: int, stream: int) -> None:
        """Start a kernel; `parameters` is the address of the addresses of its parameters."""
        x, y, z = grid
        if function.cluster == 1:
            threads, shared = function.threads, function.shared
            (status,) = self._launch(function.handle, x, y, z, threads, 1, 1, shared, stream, parameters, 0)
        else:
            config = self._config(function, grid, stream)
            (status,) = self._cuda.cuLaunchKernelEx(config, function.handle, parameters, 0)
        if status:
            raise self._failure(status, "launching a kernel")

    def _config(self, function: LoadedKernel, grid: tuple[int, int, int], stream: int) -> Any:
        """A launch whose tile blocks are clusters of hardware blocks, spread over the GPU."""
        cuda = self._cuda
        config = cuda.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = grid[0] * function.cluster, grid[1], grid[2]
        config.blockDimX, config.blockDimY, config.blockDimZ = function.threads, 1, 1
        config.sharedMemBytes, config.hStream = function.shared, stream
        size, policy = cuda.CUlaunchAttribute(), cuda.CUlaunchAttribute()
        size.id = cuda.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        size.value.clusterDim.x, size.value.clusterDim.y, size.value.clusterDim.z = function.cluster, 1, 1
        policy.id = cuda.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE
        spread = cuda.CUclusterSchedulingPolicy.CU_CLUSTER_SCHEDULING_POLICY_SPREAD
        policy.value.clusterSchedulingPolicyPreference = spread
        config.attrs, config.numAttrs = [size, policy], 2
        return config

    # ------------------------------------------------------------ memory

    def allocate(self, size: int) -> int:
        """Memory that stays until it is freed."""
        return int(self._do(_allocating(size), self._cuda.cuMemAlloc, max(1, size)))

    def free(self, address: int) -> None:
        """Free allocated memory. Nothing is said of failure: the context may be gone already, at the program's end."""
        self._cuda.cuMemFree(address)

    def borrow(self, size: int, stream: int) -> int:
        """Memory for what is launched on `stream` from now on."""
        pool = self._pool(self.device().ordinal)
        if pool is None:
            return self.allocate(size)
        status, address = self._lend(size or 1, pool, stream)
        if status:
            raise self._failure(status, _allocating(size))
        return int(address)

    def give_back(self, address: int, stream: int) -> None:
        """End the use of borrowed memory by what is launched on `stream` from now on."""
        if self._pool(self.device().ordinal) is None:
            self.free(address)
            return
        (status,) = self._take_back(address, stream)
        if status:
            raise self._failure(status, "giving back memory")

    def _pool(self, ordinal: int) -> Any:
        """The pool that memory is borrowed from; None if the device has none."""
        try:
            return self._pools[ordinal]
        except KeyError:
            has_pools = self._attribute("MEMORY_POOLS_SUPPORTED", ordinal)
            return self._pools.setdefault(ordinal, self._new_pool(ordinal) if has_pools else None)

    def _new_pool(self, ordinal: int) -> Any:
        cuda, doing = self._cuda, "setting memory aside"
        wanted = cuda.CUmemPoolProps()
        wanted.allocType = cuda.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        wanted.location.type = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        wanted.location.id = ordinal
        pool = self._do(doing, cuda.cuMemPoolCreate, wanted)
        threshold = cuda.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
        self._do(doing, cuda.cuMemPoolSetAttribute, pool, threshold, cuda.cuuint64_t(KEPT_BYTES))
        return pool

    def clear(self, address: int, size: int, stream: int) -> None:
        """Fill memory with zeros, in the order of the stream."""
        self._do("clearing memory", self._cuda.cuMemsetD8Async, address, 0, size, stream)

    def upload(self, address: int, content: bytes | memoryview, stream: int = 0) -> None:
        """Copy bytes to the device, in the order of the stream. When this returns they have been copied."""
        size = memoryview(content).nbytes
        if size:
            self._do("copying to the GPU", self._cuda.cuMemcpyHtoDAsync, address, content, size, stream)
        self.synchronize(stream)

    def download(self, address: int, content: bytearray | memoryview, stream: int = 0) -> None:
        """Fill `content` with bytes of the device, once everything on the stream is done."""
        size = memoryview(content).nbytes
        if size:
            self._do("copying from the GPU", self._cuda.cuMemcpyDtoHAsync, content, address, size, stream)
        self.synchronize(stream)

    # ------------------------------------------------------------ time

    def synchronize(self, stream: int = 0) -> None:
        """Wait until everything on the stream is done. Raises Trap for a fault of a kernel."""
        self._do("waiting for kernels", self._cuda.cuStreamSynchronize, stream)

    def finish(self) -> None:
        """Wait until everything on the thread's device is done. Raises Trap for a fault of a kernel."""
        self._do("waiting for kernels", self._cuda.cuCtxSynchronize)

    def drain(self) -> None:
        """The same, but nothing is said of failure, as of `free`."""
        self._cuda.cuCtxSynchronize()

    def seconds(self, action: Callable[[], object], stream: int = 0) -> float:
        """Measure the device's time for what `action` launches on the stream, in seconds."""
        cuda, doing = self._cuda, "measuring time"
        begin, end = (self._do(doing, cuda.cuEventCreate, 0) for _ in range(2))
        self._do(doing, cuda.cuEventRecord, begin, stream)
        action()
        self._do(doing, cuda.cuEventRecord, end, stream)
        self._do("waiting for kernels", cuda.cuEventSynchronize, end)
        milliseconds = float(self._do(doing, cuda.cuEventElapsedTime, begin, end))
        for event in (begin, end):
            cuda.cuEventDestroy(event)
        return milliseconds * 1e-3

    # ------------------------------------------------------------ failure

    def _do(self, doing: str, function: Callable[..., Sequence[Any]], *arguments: object) -> Any:
        """The result of a function of the driver, if it has one."""
        status, *results = function(*arguments)
        if status != self._success:
            raise self._failure(status, doing)
        return results[0] if results else None

    def _failure(self, status: Any, doing: str) -> Exception:
        _, text = self._cuda.cuGetErrorString(status)
        return failure(status.name, text.decode() if isinstance(text, bytes) else "", doing)


def _allocating(size: int) -> str:
    return f"allocating {size} bytes"


@cache
def shared_driver() -> Driver:
    """The one driver of this process. Raises ImportError if it, a GPU or the bindings are missing."""
    return Driver()


def _bindings() -> ModuleType:
    """The module that calls the driver, started."""
    try:
        import cuda.bindings.driver as cuda
    except ImportError as error:
        raise ImportError("needs the package cuda-bindings: pip install 'tileir[gpu]'") from error
    try:
        (status,) = cuda.cuInit(0)
    except Exception as error:  # of a kind that differs from version to version
        raise ImportError("no NVIDIA driver on this machine (libcuda cannot be loaded)") from error
    if status == cuda.CUresult.CUDA_SUCCESS:
        return cuda
    if status == cuda.CUresult.CUDA_ERROR_NO_DEVICE:
        raise ImportError("the NVIDIA driver finds no GPU")
    raise ImportError(f"the NVIDIA driver does not start ({status.name})")
