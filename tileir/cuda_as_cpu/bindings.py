"""Questions to a device through the packages `cuda.bindings` (driver and runtime) and `cuda.core`.

Answered is what asks for devices, their properties and memory, and what waits. Whatever makes something on a device
(modules, allocations, launches) fails as it does on any machine without a driver.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tileir.cuda_as_cpu.device import CAPABILITY, DRIVER, MAX_GRID, NAME, DeviceProperties, memory
from tileir.cuda_as_cpu.timing import Event, Stream

_PREFIX = "CU_DEVICE_ATTRIBUTE_"
_VERSION = 1000 * DRIVER[0] + 10 * DRIVER[1]


def _attributes() -> dict[str, int]:
    """Return the attributes of the device by the driver's names, without the prefix."""
    device = DeviceProperties()
    return {
        "COMPUTE_CAPABILITY_MAJOR": device.major,
        "COMPUTE_CAPABILITY_MINOR": device.minor,
        "MULTIPROCESSOR_COUNT": device.multi_processor_count,
        "WARP_SIZE": device.warp_size,
        "MAX_THREADS_PER_BLOCK": device.max_threads_per_block,
        "MAX_THREADS_PER_MULTIPROCESSOR": device.max_threads_per_multi_processor,
        "MAX_REGISTERS_PER_MULTIPROCESSOR": device.regs_per_multiprocessor,
        "MAX_REGISTERS_PER_BLOCK": device.regs_per_multiprocessor,
        "MAX_SHARED_MEMORY_PER_BLOCK": device.shared_memory_per_block,
        "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": device.shared_memory_per_block_optin,
        "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": device.shared_memory_per_multiprocessor,
        "L2_CACHE_SIZE": device.L2_cache_size,
        "CLOCK_RATE": device.clock_rate,
        "MEMORY_CLOCK_RATE": device.memory_clock_rate,
        "GLOBAL_MEMORY_BUS_WIDTH": device.memory_bus_width,
        "INTEGRATED": device.is_integrated,
        **{f"MAX_GRID_DIM_{axis}": size for axis, size in zip("XYZ", MAX_GRID, strict=True)},
    }


def answer_driver(driver: Any) -> None:
    """Answer for `cuda.bindings.driver`: each function gives a status and its results."""
    fine, wrong = driver.CUresult.CUDA_SUCCESS, driver.CUresult.CUDA_ERROR_INVALID_VALUE

    def attribute(attrib: Any, dev: object) -> tuple[object, int]:
        known = _attributes().get(driver.CUdevice_attribute(int(attrib)).name.removeprefix(_PREFIX))
        return (wrong, 0) if known is None else (fine, known)

    for name in ("cuInit", "cuCtxSynchronize", "cuStreamSynchronize", "cuCtxSetCurrent", "cuDevicePrimaryCtxRelease"):
        setattr(driver, name, lambda *args: (fine,))
    driver.cuDriverGetVersion = lambda: (fine, _VERSION)
    driver.cuDeviceGetCount = lambda: (fine, 1)
    driver.cuDeviceGet = driver.cuDevicePrimaryCtxRetain = lambda ordinal: (fine, driver.CUdevice(0))
    driver.cuDeviceGetName = lambda length, dev: (fine, NAME.encode().ljust(length, b"\0")[:length])
    driver.cuDeviceTotalMem = lambda dev: (fine, memory())
    driver.cuMemGetInfo = lambda: (fine, memory(), memory())
    driver.cuDeviceGetAttribute = attribute


def answer_runtime(runtime: Any) -> None:
    """Answer for `cuda.bindings.runtime`, whose attributes have the driver's numbers."""
    fine, wrong = runtime.cudaError_t.cudaSuccess, runtime.cudaError_t.cudaErrorInvalidValue

    def attribute(attr: Any, device: object) -> tuple[object, int]:
        from cuda.bindings.driver import CUdevice_attribute

        known = _attributes().get(CUdevice_attribute(int(attr)).name.removeprefix(_PREFIX))
        return (wrong, 0) if known is None else (fine, known)

    def properties(device: object) -> tuple[object, object]:
        found, of = runtime.cudaDeviceProp(), DeviceProperties()
        for name, value in {
            "name": NAME.encode().ljust(256, b"\0"),
            "major": of.major,
            "minor": of.minor,
            "totalGlobalMem": memory(),
            "multiProcessorCount": of.multi_processor_count,
            "warpSize": of.warp_size,
            "maxThreadsPerBlock": of.max_threads_per_block,
            "maxThreadsPerMultiProcessor": of.max_threads_per_multi_processor,
            "sharedMemPerBlock": of.shared_memory_per_block,
            "sharedMemPerBlockOptin": of.shared_memory_per_block_optin,
            "sharedMemPerMultiprocessor": of.shared_memory_per_multiprocessor,
            "l2CacheSize": of.L2_cache_size,
            "regsPerMultiprocessor": of.regs_per_multiprocessor,
            "integrated": of.is_integrated,
        }.items():
            setattr(found, name, value)
        return fine, found

    for name in ("cudaSetDevice", "cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaGetLastError"):
        setattr(runtime, name, lambda *args: (fine,))
    runtime.cudaGetDeviceCount = lambda: (fine, 1)
    runtime.cudaGetDevice = lambda: (fine, 0)
    runtime.cudaDriverGetVersion = runtime.cudaRuntimeGetVersion = lambda: (fine, _VERSION)
    runtime.cudaMemGetInfo = lambda: (fine, memory(), memory())
    runtime.cudaDeviceGetAttribute = attribute
    runtime.cudaGetDeviceProperties = properties


# ---------------------------------------------------------------- cuda.core


def answer_core(core: Any) -> None:
    """Let `cuda.core.Device` be the CPU."""
    core.Device = Device


class ComputeCapability(NamedTuple):
    major: int
    minor: int


class _Properties:
    """The attributes of the driver in lower case, as cuda.core names them."""

    def __getattr__(self, name: str) -> int:
        try:
            return _attributes()[name.upper()]
        except KeyError:
            raise AttributeError(f"the CPU has no property '{name}' of a device") from None


class Device:
    """The only device there is, with the questions of `cuda.core.Device`."""

    device_id = 0
    name = NAME
    compute_capability = ComputeCapability(*CAPABILITY)
    arch = "{}{}".format(*CAPABILITY)
    default_stream = Stream.null
    properties = _Properties()

    def __init__(self, device_id: int | None = None) -> None:
        """Accept any number."""

    def set_current(self, context: object = None) -> None:
        """Do nothing, as there is only one device."""

    def sync(self) -> None:
        """Do nothing, as nothing is ever pending."""

    def create_stream(self, *args: object, **kwargs: object) -> Stream:
        return Stream()

    def create_event(self, *args: object, **kwargs: object) -> Event:
        return Event()

    @classmethod
    def get_all_devices(cls) -> tuple[Device, ...]:
        return (cls(),)
