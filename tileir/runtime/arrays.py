"""Arrays in memory, whichever library made them.

NumPy arrays, torch tensors, the array interfaces, DLPack and the buffer protocol are read without a copy; torch is not
imported unless the program has imported it.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from importlib import import_module
from math import prod
from types import ModuleType
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from tileir.host.allocation import Runs, runs_of

CPU, GPU, ROCM = "cpu", "cuda", "rocm"
"""The devices whose memory a kernel can use: that of this process, of NVIDIA's GPUs, of AMD's."""
HIGHEST = 1 << 63
"""No address from here on is memory of a process: it is the system's."""


class Array(NamedTuple):
    """An array in place. Strides count bytes and may be negative.

    ``dtype`` is None for an element type that NumPy and ml_dtypes lack; `name` is then what the owner calls it.
    ``device`` is ``cpu`` for memory that this process can read, ``cuda:0`` and so on for that of a GPU of NVIDIA
    (``cuda`` if its owner does not tell which), ``rocm:0`` and so on for one of AMD, otherwise the owner's name of it.
    """

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    itemsize: int
    dtype: np.dtype | None
    name: str | None
    writable: bool
    device: str
    contiguous: bool
    owner: object

    @property
    def bounds(self) -> tuple[int, int, int, int]:
        """The address, the end of what may be read, the end of what may be written, the end of all of it.

        Of one with gaps no range may be used: the second and the third are the address too.
        """
        begin = self.address
        if self.contiguous:
            end = begin + prod(self.shape) * self.itemsize
        else:
            runs = self.runs
            end = begin + runs[-1].end
            if not runs[0].dense:
                return begin, begin, begin, end
        return begin, end, end if self.writable else begin, end

    @property
    def steps(self) -> tuple[int, ...]:
        """The strides in elements."""
        return tuple(stride // self.itemsize for stride in self.strides)

    @property
    def runs(self) -> Sequence[Runs]:
        """The bytes of its elements, from the address on; strides are not negative."""
        return _runs(tuple(self.shape), tuple(self.strides), self.itemsize)

    @property
    def runs_backwards(self) -> bool:
        """True if a stride is negative."""
        return not self.contiguous and min(self.strides, default=0) < 0

    @property
    def is_impossible(self) -> bool:
        """True if no memory of a process has these extents and this address, whatever its owner says."""
        if min(self.shape, default=0) < 0:
            return True
        reach = sum((extent - 1) * abs(stride) for extent, stride in zip(self.shape, self.strides))
        return 0 not in self.shape and self.address + reach >= HIGHEST

    @property
    def is_gone(self) -> bool:
        """True if there are elements but no memory behind them."""
        return not self.address and 0 not in self.shape

    @property
    def dtype_name(self) -> str:
        """The element type as its owner calls it."""
        return self.name or str(self.dtype)


@lru_cache(1024)
def _runs(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> Sequence[Runs]:
    return runs_of(shape, strides, itemsize)[1].nested()


def described(value: object, devices: Sequence[str] = (CPU,)) -> Array | None:
    """Return the array behind `value`; None if it is none that can be used in place, or has a mask beside its elements.

    An array that has to be asked where its memory is, is asked only if that is on one of `devices`.
    """
    if isinstance(value, np.ndarray):
        return None if isinstance(value, np.ma.MaskedArray) else from_numpy(value)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, getattr(torch, "Tensor", ())):
        return _from_torch(value, torch)
    if isinstance(value, np.generic | str | bytes):
        return None
    if isinstance(getattr(value, "__array_interface__", None), dict):
        return from_numpy(np.asarray(value), value)
    if isinstance(value, Array):
        return value
    interface = getattr(value, "__cuda_array_interface__", None)
    if isinstance(interface, dict) and "V" not in interface["typestr"]:
        return _from_cuda(value, interface)
    if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
        return dlpack_array(value, devices)
    return _from_buffer(value)


def plain_types() -> tuple[object, object, object]:
    """Return the types of plain arrays and tensors, and the layout that tensors must have (None before torch)."""
    torch: Any = sys.modules.get("torch")
    return np.ndarray, getattr(torch, "Tensor", None), getattr(torch, "strided", None)


def plain_memory(value: Any) -> tuple[int, int] | None:
    """Begin and end of an array that any kernel may use: contiguous, writable, not empty, in this process's memory.

    None for others, and for all that is neither a NumPy array nor a tensor of torch. Finds in few steps what nearly all
    launches need.
    """
    if type(value) is np.ndarray:
        try:
            begin = ctypes.addressof(ctypes.c_char.from_buffer(value))  # type: ignore[arg-type]
        except (TypeError, ValueError, BufferError):
            return None
        return begin, begin + value.nbytes
    torch: Any = sys.modules.get("torch")
    if torch is None or type(value) is not getattr(torch, "Tensor", None):
        return None
    usual = value.is_cpu and value.layout is torch.strided and value.is_contiguous()
    if not usual or value.requires_grad or value.is_neg() or value.is_nested or not value.nbytes:
        return None
    try:
        begin = address_of_tensor(value)
    except RuntimeError:  # it has no storage
        return None
    return (begin, begin + value.nbytes) if begin else None


def from_numpy(array: np.ndarray, owner: object = None) -> Array:
    """Return a NumPy array; `owner` is what the caller gave, if not the array itself.

    One of a subclass, which may say anything of itself, is taken as the plain array that it is.
    """
    kept, is_cut = array if owner is None else (array, owner), isinstance(array, np.memmap) and _is_cut(array)
    array = np.asarray(array)
    contiguous, writable = array.flags.c_contiguous, array.flags.writeable
    address = 0 if is_cut else _address(array, contiguous and writable)
    return Array(
        address, array.shape, array.strides, array.itemsize, array.dtype, None, writable, CPU, contiguous, kept
    )


def _address(array: np.ndarray, lends: bool) -> int:
    """Address of the elements. Memory that the array lends is found several times faster than the array tells it."""
    if lends and array.size:
        try:
            return ctypes.addressof(ctypes.c_char.from_buffer(array))  # type: ignore[arg-type]
        except (TypeError, ValueError, BufferError):  # an element type that buffers lack
            pass
    address: int = array.__array_interface__["data"][0]
    return address


def _mapping(array: np.ndarray) -> mmap.mmap | None:
    """Return the file in memory that an array lies in."""
    memory: object = array
    while isinstance(memory, np.ndarray):
        memory = memory.base
    return memory if isinstance(memory, mmap.mmap) else None


def _is_cut(array: np.memmap) -> bool:
    """Return whether the file is shorter than its mapping: the memory behind its end is gone."""
    memory = _mapping(array)
    if memory is None:
        return False
    return memory.size() < array.offset // mmap.ALLOCATIONGRANULARITY * mmap.ALLOCATIONGRANULARITY + len(memory)


@contextmanager
def file_kept(array: np.memmap) -> Iterator[None]:
    """Raise ValueError if the file is cut meanwhile.

    Where the extension `host/_mappings.c` is built, what is read behind its end is 0 until then; elsewhere that ends
    the process.
    """
    memory, guards = _mapping(array), _guards()
    entry = -1
    if memory is not None and guards is not None:
        entry = guards.guard(np.frombuffer(memory, np.uint8).__array_interface__["data"][0], len(memory))

    def is_lost() -> bool:
        return (guards is not None and guards.unguard(entry)) or _is_cut(array)

    text = f"the file '{array.filename}' was cut while a kernel used it"
    try:
        yield
    except BaseException as error:
        if is_lost() and isinstance(error, Exception):
            raise ValueError(text) from error
        raise
    if is_lost():
        raise ValueError(text)


@cache
def _guards() -> ModuleType | None:
    try:
        return import_module("tileir.host._mappings")
    except ImportError:
        return None


_SHARED_NAMES = (
    "bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64",
    "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu",
)  # fmt: skip
"""Element types that torch and NumPy, with ml_dtypes, call the same."""
TORCH_DTYPES = {f"torch.{name}": np.dtype(name) for name in _SHARED_NAMES} | {
    "torch.float4_e2m1fn_x2": np.dtype(np.uint8)
}
"""``float4_e2m1fn_x2`` packs two elements into a byte, which is how a kernel sees them."""


_SELDOM = 1 << 40
"""Few systems have memory below this address; where there is none, that of an element is its offset."""


def address_of_tensor(tensor: Any) -> int:
    """Address of the first element of a torch tensor; 0 if its storage was freed."""
    address: int = tensor.data_ptr()
    return 0 if address < _SELDOM and not tensor.untyped_storage().data_ptr() else address


def _from_torch(tensor: Any, torch: Any) -> Array | None:
    """Return a torch tensor; one that is no plain strided memory (sparse, nested, lazily negated, a wrapper of others)
    is none that can be used."""
    if tensor.layout is not torch.strided or tensor.is_neg() or tensor.is_conj():
        return None
    dtype, name, itemsize = _torch_dtype(tensor.dtype)
    device = _torch_device(tensor.device)
    try:
        strides, contiguous = tuple([step * itemsize for step in tensor.stride()]), tensor.is_contiguous()
        address = address_of_tensor(tensor) if device != "meta" else 0
    except RuntimeError:  # it lacks strides or a storage
        return None
    return Array(address, tensor.shape, strides, itemsize, dtype, name, True, device, contiguous, tensor)


@cache
def _torch_dtype(dtype: Any) -> tuple[np.dtype | None, str, int]:
    """Return the same element type in NumPy, torch's name of it, and its size."""
    name = str(dtype)
    return TORCH_DTYPES.get(name), name, dtype.itemsize


@cache
def _torch_device(device: Any) -> str:
    """Return a device by torch's name of it, ``cpu`` or ``cuda:0``; torch for ROCm calls those of AMD so too."""
    name = str(device)
    return name.replace(GPU, ROCM, 1) if is_for_rocm(sys.modules["torch"]) else name


def is_for_rocm(library: Any) -> bool:
    """Return whether torch or CuPy, which use CUDA's names for all GPUs, are built for AMD's."""
    if getattr(getattr(library, "version", None), "hip", None) is not None:
        return True
    runtime = getattr(getattr(library, "cuda", None), "runtime", None)
    return bool(getattr(runtime, "is_hip", False))


_IMMUTABLE = ("jax", "jaxlib")
"""Libraries whose arrays never change, though what they lend does not say so."""


def _from_cuda(value: Any, interface: dict[str, Any]) -> Array:
    """Return an array in the memory of a GPU, by CUDA's array interface."""
    dtype, shape = _dtype_named(interface["typestr"]), tuple(interface["shape"])
    address, readonly = interface["data"]
    usual = contiguous_strides(shape, dtype.itemsize)
    strides = tuple(interface.get("strides") or usual)
    number = getattr(getattr(value, "device", None), "id", None)
    library = type(value).__module__.partition(".")[0]  # CuPy's and hip-python's arrays may be on AMD's GPUs
    kind = ROCM if library == "hip" or (library == "cupy" and is_for_rocm(sys.modules.get(library))) else GPU
    device = kind if number is None else f"{kind}:{number}"
    return Array(address, shape, strides, dtype.itemsize, dtype, None, not readonly, device, strides == usual, value)


_dtype_named = cache(np.dtype)


def _from_buffer(value: object) -> Array | None:
    """Return an object that lends its memory: `array.array`, `bytearray`, `memoryview`, ctypes arrays."""
    try:
        view = memoryview(value)  # type: ignore[arg-type]
        array = np.asarray(view)
    except (TypeError, ValueError, NotImplementedError):
        return None
    return from_numpy(array, value)


def contiguous_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Return the strides in bytes of a row-major array."""
    return tuple(itemsize * prod(shape[dim + 1 :]) for dim in range(len(shape)))


# ---------------------------------------------------------------- DLPack


READ_ONLY = 1
CPU_DEVICES = (1, 3, 11, 13)
"""Plain memory, memory pinned for CUDA or ROCm, CUDA managed memory."""
DL_CUDA, DL_ROCM = 2, 10
DEFAULT_STREAMS = {DL_CUDA: 1, DL_ROCM: 0}
"""The default stream of a kind of GPU, by DLPack's number: an array is ready for what is launched there."""
DEVICES = {DL_CUDA: "cuda", 4: "opencl", 7: "vulkan", 8: "metal", DL_ROCM: "rocm", 14: "oneapi", 15: "webgpu"}

DTYPES: dict[tuple[int, int], np.dtype] = {
    **{(0, bits): np.dtype(f"i{bits // 8}") for bits in (8, 16, 32, 64)},
    **{(1, bits): np.dtype(f"u{bits // 8}") for bits in (8, 16, 32, 64)},
    **{(2, bits): np.dtype(f"f{bits // 8}") for bits in (16, 32, 64)},
    (4, 16): np.dtype(ml_dtypes.bfloat16),
    (6, 8): np.dtype(np.bool_),
    (10, 8): np.dtype(ml_dtypes.float8_e4m3fn),
    (12, 8): np.dtype(ml_dtypes.float8_e5m2),
    (14, 8): np.dtype(ml_dtypes.float8_e8m0fnu),
}
"""Dtypes by type code and width in bits."""


class _Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class _DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


def dlpack_array(value: Any, devices: Sequence[str]) -> Array:
    """Return the memory of an object with ``__dlpack__``. That of a device not among `devices` is only named, not asked
    for.

    Memory of a GPU is asked for as of the default stream: it may be used there, and on streams that wait for that one.
    """
    kind, number = (int(part) for part in value.__dlpack_device__())
    name = "cpu" if kind in CPU_DEVICES else DEVICES.get(kind, f"dlpack device {kind}")
    device = name if name == "cpu" else f"{name}:{number}"
    if name not in devices:
        return Array(0, (), (), 1, None, "unknown", True, device, True, (None, value))
    options = {"stream": DEFAULT_STREAMS[kind]} if kind in DEFAULT_STREAMS else {}
    try:
        capsule = value.__dlpack__(max_version=(1, 1), **options)
    except TypeError:  # a producer without versions
        capsule = value.__dlpack__(**options)
    if _is_named(capsule, b"dltensor_versioned"):
        versioned = _Versioned.from_address(_pointer(capsule, b"dltensor_versioned"))
        tensor, writable = versioned.tensor, not versioned.flags & READ_ONLY
    else:
        tensor, writable = _Tensor.from_address(_pointer(capsule, b"dltensor")), True
    immutable = type(value).__module__.partition(".")[0] in _IMMUTABLE
    return _read(tensor, writable and not immutable, device, (capsule, value))


_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_is_named = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))


def _read(tensor: _Tensor, writable: bool, device: str, owner: object) -> Array:
    shape = tuple(tensor.shape[dim] for dim in range(tensor.ndim))
    code, bits, lanes = tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes
    itemsize = max(1, bits * lanes // 8)
    dtype = DTYPES.get((code, bits)) if lanes == 1 else None
    name = None if dtype is not None else f"dlpack type {code} of {bits} bits"
    address = tensor.data + tensor.byte_offset if tensor.data else 0
    strides = usual = contiguous_strides(shape, itemsize)
    if tensor.strides:
        strides = tuple(tensor.strides[dim] * itemsize for dim in range(tensor.ndim))
    return Array(address, shape, strides, itemsize, dtype, name, writable, device, strides == usual, owner)
