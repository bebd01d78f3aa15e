"""NumPy dtypes of the element types.

Kept apart from `ir.types` so that importing tileir does not import NumPy.

Values are held as follows: i1 as ``bool``; i4 as ``int8`` holding -8..7; other integers as signed NumPy
integers; tf32 as ``float32`` whose low 13 bits are zero; fnv8E5M3FNU (no NumPy dtype exists) as its ``uint8``
bit pattern; pointers as ``uint64`` byte addresses; everything else as the NumPy or ml_dtypes type of that name.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tileir.ir import types as t

DTYPES: dict[t.ElementType, np.dtype] = {
    t.I1: np.dtype(np.bool_),
    t.I4: np.dtype(np.int8),
    t.I8: np.dtype(np.int8),
    t.I16: np.dtype(np.int16),
    t.I32: np.dtype(np.int32),
    t.I64: np.dtype(np.int64),
    t.F16: np.dtype(np.float16),
    t.BF16: np.dtype(ml_dtypes.bfloat16),
    t.F32: np.dtype(np.float32),
    t.TF32: np.dtype(np.float32),
    t.F64: np.dtype(np.float64),
    t.F8E4M3FN: np.dtype(ml_dtypes.float8_e4m3fn),
    t.F8E5M2: np.dtype(ml_dtypes.float8_e5m2),
    t.F8E8M0FNU: np.dtype(ml_dtypes.float8_e8m0fnu),
    t.F4E2M1FN: np.dtype(ml_dtypes.float4_e2m1fn),
    t.FNV8E5M3FNU: np.dtype(np.uint8),
}

POINTER_DTYPE = np.dtype(np.uint64)


def dtype_of(element: t.ElementType | t.PointerType) -> np.dtype:
    """Return the dtype that holds one element of this type in a tile value."""
    return POINTER_DTYPE if isinstance(element, t.PointerType) else DTYPES[element]


def bits_dtype(element: t.ElementType) -> np.dtype:
    """Return the unsigned dtype of the same size as `dtype_of(element)`: how its bit pattern is looked at."""
    return np.dtype(f"u{DTYPES[element].itemsize}")
