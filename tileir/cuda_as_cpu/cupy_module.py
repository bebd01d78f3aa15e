"""A `cupy` that is NumPy, for scripts that import it on a machine without CUDA.

NumPy's functions give arrays as cupy's do: with ``get``, ``data.ptr``, and of rank 0 instead of scalars. Added are the
parts of cupy that typical scripts use beyond NumPy: random numbers with a `dtype`, memory pools, the runtime, streams,
events, and the timer of `cupyx`. Kernels of CUDA C++ are refused by name.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, update_wrapper
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

from tileir.cuda_as_cpu.device import CAPABILITY, DRIVER, NAME, DeviceProperties, memory
from tileir.cuda_as_cpu.timing import Event, Stream
from tileir.ir.diagnostics import UnsupportedError

Function = Callable[..., Any]

VERSION = "13.6.0"
"""The version of cupy that is answered for."""

# ---------------------------------------------------------------- arrays


class ndarray(np.ndarray):
    """A NumPy array with cupy's ways to the CPU, where it is; elements and sums are arrays of rank 0."""

    def get(self, *args: object, **kwargs: object) -> np.ndarray:
        return np.array(self, copy=True, subok=False)

    def set(self, array: np.ndarray, stream: object = None) -> None:
        self[...] = array

    @property
    def data(self) -> MemoryPointer:  # type: ignore[override]
        return MemoryPointer(self.ctypes.data, self)

    @property
    def device(self) -> CpuDevice:  # type: ignore[override]
        return CpuDevice()

    def toDlpack(self) -> object:
        return self.__dlpack__()

    def __array_wrap__(  # type: ignore[override]
        self, array: np.ndarray, context: object = None, return_scalar: bool = False
    ) -> np.ndarray:
        return array.view(ndarray)

    def __getitem__(self, index: Any) -> Any:
        return as_cupy(super().__getitem__(index))

    def __repr__(self) -> str:
        return repr(self.get())

    def __str__(self) -> str:
        return str(self.get())


@dataclass(frozen=True)
class MemoryPointer:
    """An address in memory, and whose it is."""

    ptr: int
    mem: object

    @property
    def device(self) -> CpuDevice:
        return CpuDevice()


def as_cupy(result: Any) -> Any:
    """Return a result of NumPy's as cupy gives it, also in tuples and lists."""
    if type(result) is np.ndarray:
        return result.view(ndarray)
    if isinstance(result, np.generic):
        return np.asarray(result).view(ndarray)
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return type(result)(*map(as_cupy, result))
    return type(result)(map(as_cupy, result)) if type(result) in (tuple, list) else result


class _Giving:
    """A function of NumPy, or a method of one, that gives arrays of cupy."""

    def __init__(self, function: Function) -> None:
        self._function = function
        update_wrapper(self, function, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return as_cupy(self._function(*args, **kwargs))

    def __getattr__(self, name: str) -> Any:
        return giving(getattr(self._function, name))


def giving(found: Any) -> Any:
    """Return what NumPy has by some name, as cupy has it."""
    return _Giving(found) if callable(found) and not isinstance(found, type) else found


def _method(name: str) -> Function:
    original: Function = getattr(np.ndarray, name)

    def call(self: ndarray, *args: Any, **kwargs: Any) -> Any:
        return as_cupy(original(self, *args, **kwargs))

    return update_wrapper(call, original)


# Those that give scalars without asking the array. The others go through `__array_wrap__`.
for _name in ("argmax", "argmin", "dot", "mean", "std", "trace", "var"):
    setattr(ndarray, _name, _method(_name))


# ---------------------------------------------------------------- modules


class CupyFinder(MetaPathFinder, Loader):
    """An import hook that gives `cupy` and `cupyx`."""

    @cached_property
    def _modules(self) -> dict[str, ModuleType]:
        return cupy()

    def find_spec(self, name: str, path: object, target: ModuleType | None = None) -> ModuleSpec | None:
        if name.partition(".")[0] not in ("cupy", "cupyx") or name not in self._modules:
            return None
        return ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing, as the module is created complete."""


class _LikeNumPy(ModuleType):
    """A module of NumPy whose functions give arrays of cupy."""

    def __init__(self, name: str, original: object) -> None:
        super().__init__(name)
        self._original = original

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(self._original, name):
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}' (as CPU it is NumPy's module)")
        return giving(getattr(self._original, name))


def cupy() -> dict[str, ModuleType]:
    """Return the modules to be imported as `cupy` and `cupyx`, by name."""
    top = _LikeNumPy("cupy", np)
    found: dict[str, ModuleType] = {
        "cupy": top,
        "cupy.random": _Random("cupy.random", np.random),
        **{f"cupy.{name}": _LikeNumPy(f"cupy.{name}", import_module(f"numpy.{name}")) for name in _LIKE_NUMPY},
        **{name: ModuleType(name) for name in ("cupy.cuda", *_cuda_modules(), "cupyx", "cupyx.profiler")},
    }
    _set(top, _top(top))
    _set(found["cupy.cuda"], _cuda())
    for name, values in _cuda_modules().items():
        _set(found[name], values)
    scatter = {
        f"scatter_{name}": ufunc.at for name, ufunc in (("add", np.add), ("max", np.maximum), ("min", np.minimum))
    }
    _set(found["cupyx"], {**scatter, "rsqrt": lambda x: as_cupy(1 / np.sqrt(x))})
    _set(found["cupyx.profiler"], {"benchmark": benchmark, "time_range": CpuDevice})
    for name, module in found.items():
        parent, _, own = name.rpartition(".")
        if parent:
            setattr(found[parent], own, module)
    return found


_LIKE_NUMPY = ("fft", "linalg", "testing")


def _set(module: ModuleType, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(module, name, value)


def _top(top: ModuleType) -> dict[str, object]:
    """Return what cupy has and NumPy has not, or has otherwise."""
    pool, pinned = MemoryPool(), MemoryPool()
    return {
        "__version__": VERSION,
        "ndarray": ndarray,
        "asnumpy": _as_numpy,
        "get_array_module": lambda *args: top if any(isinstance(one, ndarray) for one in args) else np,
        "from_dlpack": _from_dlpack,
        "fromDlpack": lambda capsule: _from_dlpack(_Lent(capsule)),
        "fuse": lambda *args, **kwargs: args[0] if args and callable(args[0]) else lambda function: function,
        "get_default_memory_pool": lambda: pool,
        "get_default_pinned_memory_pool": lambda: pinned,
        "is_available": lambda: True,
        **{name: _refused(name) for name in ("ElementwiseKernel", "ReductionKernel", "RawKernel", "RawModule")},
    }


def _as_numpy(a: Any, stream: object = None, order: Any = "C", out: Any = None, *, blocking: bool = True) -> Any:
    if out is None:
        return np.array(a, copy=True, subok=False, order=order)
    out[...] = a
    return out


def _refused(name: str) -> Function:
    def refuse(*args: object, **kwargs: object) -> NoReturn:
        __tracebackhide__ = True
        raise UnsupportedError(f"cupy.{name}: its code is CUDA C++, for which there is no compiler here", "CUDA as CPU")

    return refuse


def _from_dlpack(array: Any, **kwargs: object) -> ndarray:
    """Return memory that is lent as an array; NumPy would not let it be written, as old versions of DLPack do not say
    whether that is allowed."""
    return np.asarray(_Writable(np.from_dlpack(array))).view(ndarray)


class _Writable:
    def __init__(self, array: np.ndarray) -> None:
        self._array = array
        address, _ = array.__array_interface__["data"]
        self.__array_interface__ = {**array.__array_interface__, "data": (address, False)}


@dataclass(frozen=True)
class _Lent:
    """Memory of this machine that is lent in a capsule of DLPack."""

    capsule: object

    def __dlpack__(self, **kwargs: object) -> object:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


# ---------------------------------------------------------------- random numbers

_TYPED = ("randint", "choice", "integers", "permutation")
"""The functions that do not take a type of floats."""


class _Random(_LikeNumPy):
    """NumPy's random numbers, or a generator of them, of any type of floats."""

    def __getattr__(self, name: str) -> Any:
        if name in ("default_rng", "RandomState"):
            make = getattr(np.random, name)
            return lambda *args, **kwargs: _Random(f"cupy.random.{name}", make(*args, **kwargs))
        found = super().__getattr__(name)
        return _of_type(found) if isinstance(found, _Giving) and name not in _TYPED else found


def _of_type(function: Function) -> Function:
    def call(*args: Any, dtype: Any = None, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        return result if dtype is None else as_cupy(np.asarray(result, dtype))

    return call


# ---------------------------------------------------------------- cupy.cuda


class CpuDevice:
    """The only device there is; also a context of any name, which changes nothing."""

    compute_capability = "{}{}".format(*CAPABILITY)
    id = 0

    def __init__(self, *args: object, **kwargs: object) -> None:
        """Accept any number as the name of the device."""

    @property
    def mem_info(self) -> tuple[int, int]:
        return (memory(), memory())

    @property
    def attributes(self) -> dict[str, int]:
        of = DeviceProperties()
        return {
            "ComputeCapabilityMajor": of.major,
            "ComputeCapabilityMinor": of.minor,
            "MaxSharedMemoryPerBlock": of.shared_memory_per_block,
            "MaxThreadsPerBlock": of.max_threads_per_block,
            "MultiProcessorCount": of.multi_processor_count,
            "WarpSize": of.warp_size,
        }

    def synchronize(self) -> None:
        """Do nothing, as nothing is ever pending."""

    def use(self) -> None:
        """Do nothing, as the only device is in use."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CpuDevice)

    def __hash__(self) -> int:
        return self.id

    def __int__(self) -> int:
        return self.id

    def __enter__(self) -> CpuDevice:
        return self

    def __exit__(self, *error: object) -> None:
        """Leave errors to the caller."""


class MemoryPool:
    """A pool that keeps nothing: memory is NumPy's."""

    def __init__(self, allocator: object = None) -> None:
        """Accept the allocator, which is not asked."""

    def malloc(self, size: int) -> MemoryPointer:
        block = np.empty(size, np.uint8)
        return MemoryPointer(block.ctypes.data, block)

    def free_all_blocks(self, stream: object = None) -> None:
        """Do nothing, as there are no free blocks."""

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        """Do nothing, as the pool keeps nothing."""

    used_bytes = free_bytes = total_bytes = n_free_blocks = get_limit = lambda self: 0


class CUDARuntimeError(RuntimeError):
    """An error of CUDA's runtime; nothing here raises one."""


def _cuda() -> dict[str, object]:
    return {
        "Device": CpuDevice,
        "Stream": Stream,
        "ExternalStream": Stream,
        "Event": Event,
        "MemoryPool": MemoryPool,
        "PinnedMemoryPool": MemoryPool,
        "MemoryPointer": MemoryPointer,
        "get_current_stream": lambda *args: Stream.null,
        "get_elapsed_time": lambda begin, end: begin.elapsed_time(end),
        "is_available": lambda: True,
        "alloc_pinned_memory": lambda size: np.empty(size, np.uint8),
        **dict.fromkeys(("set_allocator", "set_pinned_memory_allocator"), lambda *args: None),
    }


def _cuda_modules() -> dict[str, dict[str, object]]:
    nothing, version = (lambda *args: None), 1000 * DRIVER[0] + 10 * DRIVER[1]
    return {
        "cupy.cuda.runtime": {
            "CUDARuntimeError": CUDARuntimeError,
            "getDeviceCount": lambda: 1,
            "getDevice": lambda: 0,
            "getDeviceProperties": lambda device: _properties(),
            "memGetInfo": lambda: (memory(), memory()),
            **dict.fromkeys(("runtimeGetVersion", "driverGetVersion"), lambda: version),
            **dict.fromkeys(("setDevice", "deviceSynchronize", "streamSynchronize"), nothing),
            **dict.fromkeys(("profilerStart", "profilerStop"), nothing),
        },
        "cupy.cuda.nvtx": dict.fromkeys(("RangePush", "RangePop", "Mark"), nothing),
        "cupy.cuda.stream": {"Stream": Stream, "get_current_stream": lambda *args: Stream.null},
        "cupy.cuda.memory": {"OutOfMemoryError": MemoryError, "MemoryPool": MemoryPool, "MemoryPointer": MemoryPointer},
    }


def _properties() -> dict[str, object]:
    of = DeviceProperties()
    return {
        "name": NAME.encode(),
        "major": of.major,
        "minor": of.minor,
        "totalGlobalMem": of.total_memory,
        "multiProcessorCount": of.multi_processor_count,
        "maxThreadsPerBlock": of.max_threads_per_block,
        "sharedMemPerBlock": of.shared_memory_per_block,
        "warpSize": of.warp_size,
        "clockRate": of.clock_rate,
        "l2CacheSize": of.L2_cache_size,
    }


# ---------------------------------------------------------------- cupyx.profiler


@dataclass(frozen=True)
class CallTimes:
    """Seconds of each run, as `cupyx.profiler.benchmark` gives them; the device is the CPU."""

    name: str
    cpu_times: np.ndarray

    @property
    def gpu_times(self) -> np.ndarray:
        return self.cpu_times[np.newaxis]

    def __str__(self) -> str:
        mean, least, most = (
            1e6 * found for found in (self.cpu_times.mean(), self.cpu_times.min(), self.cpu_times.max())
        )
        return f"{self.name:<20}: CPU: {mean:.3f} us (min: {least:.3f} / max: {most:.3f} us)"


def benchmark(
    func: Function,
    args: Sequence[Any] = (),
    kwargs: dict[str, Any] | None = None,
    n_repeat: int = 10000,
    *,
    name: str | None = None,
    n_warmup: int = 10,
    max_duration: float = float("inf"),
    devices: object = None,
) -> CallTimes:
    """Time calls, at most `n_repeat` of them and about `max_duration` seconds."""
    named = kwargs or {}
    seconds: list[float] = []
    for _ in range(n_warmup):
        func(*args, **named)
    while len(seconds) < n_repeat and sum(seconds) < max_duration:
        begin = time.perf_counter()
        func(*args, **named)
        seconds.append(time.perf_counter() - begin)
    return CallTimes(str(name or getattr(func, "__name__", "function")), np.array(seconds))
