"""DLPack: memory shared between array libraries, read without any of them.

It reads the capsule of ``__dlpack__``, old and versioned, and its data types (dlpack.h, version 1.1).

NumPy's own reader knows neither bfloat16 nor the 8-bit floats.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import ml_dtypes
import numpy as np

READ_ONLY = 1
CPU_DEVICES = (1, 3, 11, 13)
"""Plain memory, memory pinned for CUDA or ROCm, CUDA managed memory."""
CUDA, ROCM = 2, 10
DEFAULT_STREAMS = {CUDA: 1, ROCM: 0}
"""The default stream of a kind of GPU, by DLPack's number: an array is ready for what is launched there."""
DEVICES = {CUDA: "cuda", 4: "opencl", 7: "vulkan", 8: "metal", ROCM: "rocm", 14: "oneapi", 15: "webgpu"}

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


@dataclass(frozen=True)
class DLPackArray:
    """An array as a capsule describes it; `capsule` keeps the memory alive. Strides count bytes."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    itemsize: int
    dtype: np.dtype | None
    dtype_name: str
    writable: bool
    device: str
    capsule: object


def dlpack_array(value: Any, devices: Sequence[str]) -> DLPackArray:
    """Return the memory of an object with ``__dlpack__``. That of a device not among `devices` is only named, not asked
    for.

    Memory of a GPU is asked for as of the default stream: it may be used there, and on streams that wait for that one.
    """
    kind, number = (int(part) for part in value.__dlpack_device__())
    name = "cpu" if kind in CPU_DEVICES else DEVICES.get(kind, f"dlpack device {kind}")
    device = name if name == "cpu" else f"{name}:{number}"
    if name not in devices:
        return DLPackArray(0, (), (), 1, None, "unknown", True, device, None)
    capsule = _capsule(value, {"stream": DEFAULT_STREAMS[kind]} if kind in DEFAULT_STREAMS else {})
    if _is_named(capsule, b"dltensor_versioned"):
        versioned = _Versioned.from_address(_pointer(capsule, b"dltensor_versioned"))
        return _read(versioned.tensor, not versioned.flags & READ_ONLY, device, capsule)
    return _read(_Tensor.from_address(_pointer(capsule, b"dltensor")), True, device, capsule)


def _capsule(value: Any, options: dict[str, int]) -> object:
    """Return the capsule; a producer without versions takes no ``max_version``."""
    try:
        return value.__dlpack__(max_version=(1, 1), **options)
    except TypeError:
        return value.__dlpack__(**options)


_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_is_named = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))


def _read(tensor: _Tensor, writable: bool, device: str, capsule: object) -> DLPackArray:
    shape = tuple(tensor.shape[dim] for dim in range(tensor.ndim))
    code, bits, lanes = tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes
    itemsize = max(1, bits * lanes // 8)
    dtype = DTYPES.get((code, bits)) if lanes == 1 else None
    steps = [tensor.strides[dim] for dim in range(tensor.ndim)] if tensor.strides else None
    if steps is None:
        steps = [prod(shape[dim + 1 :]) for dim in range(tensor.ndim)]
    return DLPackArray(
        address=tensor.data + tensor.byte_offset if tensor.data else 0,
        shape=shape,
        strides=tuple(step * itemsize for step in steps),
        itemsize=itemsize,
        dtype=dtype,
        dtype_name=str(dtype) if dtype is not None else f"dlpack type {code} of {bits} bits",
        writable=writable,
        device=device,
        capsule=capsule,
    )
