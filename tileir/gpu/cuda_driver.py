"""NVIDIA's driver, through the package `cuda-bindings`."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property
from types import ModuleType
from typing import Any

from tileir.gpu.arch import CAPABILITIES, Vendor, nvidia
from tileir.gpu.descriptors import DESCRIPTOR_BYTES, TensorMap, reach_of
from tileir.gpu.driver import KEPT_BYTES, Driver, EncodedDescriptor, EntryPoints, GpuDevice, LoadedKernel
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.escaping import as_bytes, shown
from tileir.ir.usage import pip_install

DESCRIPTOR_ALIGNMENT = 128
"""Bytes, where the driver writes a descriptor (64 before CUDA 13)."""
DESCRIPTORS_SINCE = 12000
"""The version of CUDA whose form of ``cuTensorMapEncodeTiled`` is called."""
NO_INTERLEAVING, FETCH_128_BYTES = 0, 2
"""``CU_TENSOR_MAP_INTERLEAVE_NONE`` and ``CU_TENSOR_MAP_L2_PROMOTION_L2_128B``."""
SMALL_TENSOR, SMALL_SINCE = 128 << 10, 13020
"""Tensors of fewer bytes get a bit too many in descriptors of drivers before this version."""
SMALL_BIT = 1 << 21
"""In the second word of eight bytes."""

STATIC_SHARED = 48 << 10
"""Bytes of shared memory that every kernel may have without asking."""


_ENCODE = ctypes.CFUNCTYPE(
    ctypes.c_int,  # status
    *(ctypes.c_void_p, ctypes.c_int, ctypes.c_uint, ctypes.c_uint64),  # descriptor, element, rank, address
    *(ctypes.c_void_p,) * 4,  # extents, strides, box, steps
    *(ctypes.c_int,) * 4,  # interleaving, swizzling, fetched bytes, padding
)
"""The type of ``cuTensorMapEncodeTiled``."""


def _entry_points(cuda: ModuleType) -> EntryPoints:
    return EntryPoints(
        allocate=cuda.cuMemAlloc,
        free=cuda.cuMemFree,
        borrow=cuda.cuMemAllocFromPoolAsync,
        give_back=cuda.cuMemFreeAsync,
        fill=cuda.cuMemsetD8Async,
        upload=cuda.cuMemcpyHtoDAsync,
        download=cuda.cuMemcpyDtoHAsync,
        capture=cuda.cuStreamIsCapturing,
        launch_together=cuda.cuLaunchCooperativeKernel,
        resident=cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor,
        wait_for_stream=cuda.cuStreamSynchronize,
        wait_for_device=cuda.cuCtxSynchronize,
        unload=cuda.cuLibraryUnload,
        new_event=cuda.cuEventCreate,
        record=cuda.cuEventRecord,
        wait_for_event=cuda.cuEventSynchronize,
        milliseconds=cuda.cuEventElapsedTime,
        end_event=cuda.cuEventDestroy,
    )


class CudaDriver(Driver):
    """The driver for NVIDIA's GPUs."""

    vendor = Vendor.NVIDIA

    def __init__(self) -> None:
        """Start the driver. Raises ImportError if it, a GPU or the bindings are missing, and says which."""
        self._cuda = cuda = _bindings()
        super().__init__(_entry_points(cuda))
        self._success = cuda.CUresult.CUDA_SUCCESS
        self._devices: dict[int, GpuDevice] = {}
        self._contexts: dict[int, Any] = {}
        self._launch = cuda.cuLaunchKernel
        self._current = cuda.cuCtxGetCurrent

    # ------------------------------------------------------------ contexts and devices

    def device(self) -> GpuDevice:
        """Return the device of the thread's context; without one the first device, whose context is then the
        thread's."""
        status, context = self._current()
        found = self._devices.get(int(context))
        if found is None or status != self._success:
            return self._met(int(context))
        return found

    def devices(self) -> list[str]:
        count = self._do("counting GPUs", self._cuda.cuDeviceGetCount)
        return [self._line(ordinal) for ordinal in range(count)]

    def version(self) -> str:
        number = self._number
        return f"driver for CUDA {number // 1000}.{number % 1000 // 10}"

    @cached_property
    def _number(self) -> int:
        return int(self._do("asking for a version", self._cuda.cuDriverGetVersion))

    @contextmanager
    def on(self, ordinal: int) -> Iterator[None]:
        """Select a device in the context that all libraries share."""
        doing = f"switching to GPU {ordinal}"
        self._do(doing, self._cuda.cuCtxPushCurrent, self._context(ordinal))
        try:
            yield
        finally:
            self._do(doing, self._cuda.cuCtxPopCurrent)

    def _context(self, ordinal: int) -> Any:
        """Return the context of a device that all libraries share; it is never given up."""
        if ordinal not in self._contexts:
            doing = f"using GPU {ordinal}"
            device = self._do(doing, self._cuda.cuDeviceGet, ordinal)
            self._contexts[ordinal] = self._do(doing, self._cuda.cuDevicePrimaryCtxRetain, device)
        return self._contexts[ordinal]

    def _met(self, context: int) -> GpuDevice:
        """Return the device of a context that is new here."""
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
            raise UnsupportedError(
                f"needs a GPU of compute capability {lowest} or higher, {name} has {found}", self.vendor.value
            )
        shared = self._attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN", ordinal)
        x, y, z = (self._attribute(f"MAX_GRID_DIM_{axis}", ordinal) for axis in "XYZ")
        count = self._attribute("MULTIPROCESSOR_COUNT", ordinal)
        return GpuDevice(ordinal, name, nvidia(capability), shared, (x, y, z), multiprocessors=count)

    def _identity(self, ordinal: int) -> tuple[str, int]:
        """Return the name and the capability of a device."""
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

    def load(self, binary: bytes, what: str) -> Any:
        doing = f"loading the code of {what} for {self.device().arch.name}"
        return self._do(doing, self._cuda.cuLibraryLoadData, binary, [], [], 0, [], [], 0)

    def function(
        self, library: Any, kernel: str, threads: int, cluster: int, shared: int, name: str = ""
    ) -> LoadedKernel:
        self._require_shared_memory(name or kernel, shared)
        handle = self._do(
            f"finding kernel @{shown(name or kernel)}", self._cuda.cuLibraryGetKernel, library, as_bytes(kernel)
        )
        self._allow(handle, cluster, shared)
        return LoadedKernel(self._cuda.CUfunction(int(handle)), threads, cluster, shared)

    def _allow(self, kernel: Any, cluster: int, shared: int) -> None:
        """Allow a kernel more than the limits that hold for every kernel."""
        limits = {}
        if shared > STATIC_SHARED:
            limits["MAX_DYNAMIC_SHARED_SIZE_BYTES"] = shared
        if cluster > 8:
            limits["NON_PORTABLE_CLUSTER_SIZE_ALLOWED"] = 1
        for name, value in limits.items():
            attribute = getattr(self._cuda.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
            self._do(
                "preparing a kernel", self._cuda.cuKernelSetAttribute, attribute, value, kernel, self.device().ordinal
            )

    def launch(self, function: LoadedKernel, grid: tuple[int, int, int], parameters: int, stream: int) -> None:
        x, y, z = grid
        if function.cluster == 1:
            threads, shared = function.threads, function.shared
            (status,) = self._launch(function.handle, x, y, z, threads, 1, 1, shared, stream, parameters, 0)
        else:
            config = self._config(function, grid, stream)
            (status,) = self._cuda.cuLaunchKernelEx(config, function.handle, parameters, 0)
        if status:
            raise self._failure(status, "launching a kernel")

    def encode(self, described: TensorMap) -> EncodedDescriptor:
        memory = (ctypes.c_ubyte * (DESCRIPTOR_BYTES + DESCRIPTOR_ALIGNMENT))()
        place = -ctypes.addressof(memory) % DESCRIPTOR_ALIGNMENT
        descriptor = (ctypes.c_ubyte * DESCRIPTOR_BYTES).from_buffer(memory, place)
        rank = len(described.extents)
        extents = (ctypes.c_uint64 * rank)(*described.extents)
        strides = (ctypes.c_uint64 * rank)(*described.strides)
        box, steps = (ctypes.c_uint32 * rank)(*described.box), (ctypes.c_uint32 * rank)(*(1,) * rank)
        tensor = described.element, rank, described.address, extents, strides, box, steps
        how = NO_INTERLEAVING, described.swizzle, FETCH_128_BYTES, int(described.pads_with_nan)
        status = self._encoder(descriptor, *tensor, *how)
        if status:
            raise self._failure(self._cuda.CUresult(status), "describing a tensor")
        if self._number < SMALL_SINCE and reach_of(described) < SMALL_TENSOR:
            words = (ctypes.c_uint64 * 2).from_buffer(descriptor)
            words[1] &= ~SMALL_BIT
        return descriptor

    @cached_property
    def _encoder(self) -> Callable[..., int]:
        """Return ``cuTensorMapEncodeTiled``. That of cuda-bindings has the driver write to memory that is not aligned
        as it must be."""
        name = b"cuTensorMapEncodeTiled"
        address = self._do("describing a tensor", self._cuda.cuGetProcAddress, name, DESCRIPTORS_SINCE, 0)
        return _ENCODE(int(address))

    def _config(self, function: LoadedKernel, grid: tuple[int, int, int], stream: int) -> Any:
        """Return a launch whose tile blocks are clusters of hardware blocks, spread over the GPU."""
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

    # ------------------------------------------------------------ memory and failure

    def _new_pool(self, ordinal: int) -> Any:
        if not self._attribute("MEMORY_POOLS_SUPPORTED", ordinal):
            return None
        cuda, doing = self._cuda, "setting memory aside"
        wanted = cuda.CUmemPoolProps()
        wanted.allocType = cuda.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        wanted.location.type = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        wanted.location.id = ordinal
        pool = self._do(doing, cuda.cuMemPoolCreate, wanted)
        threshold = cuda.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
        self._do(doing, cuda.cuMemPoolSetAttribute, pool, threshold, cuda.cuuint64_t(KEPT_BYTES))
        return pool

    def _named(self, status: Any) -> tuple[str, str]:
        _, text = self._cuda.cuGetErrorString(status)
        return status.name, text.decode() if isinstance(text, bytes) else ""


@cache
def cuda_driver() -> CudaDriver:
    """Return the one driver of this process. Raises ImportError if it, a GPU or the bindings are missing."""
    return CudaDriver()


def _bindings() -> ModuleType:
    """Return the module that calls the driver, started."""
    try:
        import cuda.bindings.driver as cuda
    except ImportError as error:
        raise ImportError(f"needs the package cuda-bindings: {pip_install('gpu')}") from error
    try:
        (status,) = cuda.cuInit(0)
    except Exception as error:  # of a kind that differs from version to version
        raise ImportError("no NVIDIA driver on this machine (libcuda cannot be loaded)") from error
    if status == cuda.CUresult.CUDA_SUCCESS:
        return cuda
    if status == cuda.CUresult.CUDA_ERROR_NO_DEVICE:
        raise ImportError("the NVIDIA driver finds no GPU")
    raise ImportError(f"the NVIDIA driver does not start ({status.name})")
