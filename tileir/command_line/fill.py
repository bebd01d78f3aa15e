"""Arrays and numbers for the arguments of ``tileir run``, and what is told of the results.

Floats are made as f64 and rounded to nearest, so that a fill means the same for every type; the same seed gives the
same arrays. f4E2M1FN lies in memory two to a byte: its arrays are bytes, half as many along the last dimension.
"""

from __future__ import annotations

import math
import os
import stat
import tokenize
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from tileir.ir import types as t
from tileir.ir.attributes import Rounding
from tileir.ir.storage import dtype_of
from tileir.ir.usage import UsageError
from tileir.numerics import bits as nibbles
from tileir.numerics.conversion import float_to_float
from tileir.numerics.formats import widened
from tileir.runtime.arguments import lowest_and_mask

Array = np.ndarray
ALIGNMENT = 256
"""Bytes: arrays begin at a multiple, as GPUs allocate memory; programs may assume it of their pointers."""
_NPY, _ZIP = b"\x93NUMPY", b"PK"
"""The first bytes of one array in a file, and of an archive of several."""
_UNREADABLE = (
    OSError, ValueError, EOFError, MemoryError, OverflowError, TypeError, SyntaxError, RecursionError,
    tokenize.TokenError, zipfile.BadZipFile,
)  # fmt: skip
"""The exceptions of NumPy for files that are damaged or lie."""


@dataclass(frozen=True)
class Fill:
    """The contents of an array: `how` is a word of `argument_words.GRAMMAR` or ``value``; `numbers` what they need."""

    how: str
    numbers: tuple[int | float, ...] = ()


@dataclass(frozen=True)
class ArrayWord:
    element: t.ElementType
    shape: tuple[int, ...]
    fill: Fill


@dataclass(frozen=True)
class FileWord:
    path: str


@dataclass(frozen=True)
class ScalarWord:
    """A number; `element` is None where the parameter gives its type."""

    element: t.ElementType | None
    value: int | float


Word = ArrayWord | FileWord | ScalarWord


Random = Callable[[], np.random.Generator]


def seeded(seed: int) -> Random:
    """Return a function that creates one generator lazily and returns it on every call."""
    return cache(lambda: np.random.default_rng(abs(seed)))


def array(word: ArrayWord, random: Random) -> Array:
    """Return a new array as the word describes it."""
    if word.element is t.I4:
        raise UsageError("i4 cannot be addressed in memory; use i8")
    try:
        values = _values(word, random)
        return aligned(values if word.element.is_int else _as_floats(values, word.element))
    except (MemoryError, ValueError, OverflowError):
        shape = ",".join(map(str, word.shape))
        raise UsageError(f"not enough memory for an array of {word.element.name}[{shape}]") from None


def aligned(values: Array) -> Array:
    """Return the array, or a copy if its address is no multiple of `ALIGNMENT`."""
    if values.ctypes.data % ALIGNMENT == 0:
        return values
    room = np.empty(values.nbytes + ALIGNMENT, np.uint8)
    begin = -room.ctypes.data % ALIGNMENT
    found = room[begin : begin + values.nbytes].view(values.dtype).reshape(values.shape)
    found[...] = values
    return found


def numbers(values: Array, element: t.ElementType) -> Array:
    """Return the elements of an array in memory as NumPy can show them: integers as they are, floats as f64."""
    if element.is_int:
        return values
    if element is t.F4E2M1FN:
        values = nibbles.unpacked(values).view(dtype_of(element))
    if element is not t.FNV8E5M3FNU and values.dtype != dtype_of(element):
        values = values.view(dtype_of(element))
    return widened(values, element)


def shown(values: Array, element: t.ElementType) -> str:
    """Return the elements as text, in no more digits than the type has."""
    found = numbers(values, element)
    return str(found if element in (t.F64, *t.INTS) else found.astype(np.float32))


def shape(values: Array, element: t.ElementType) -> tuple[int, ...]:
    """Return the extents in elements."""
    return (*values.shape[:-1], values.shape[-1] * 2) if element is t.F4E2M1FN else values.shape


def _values(word: ArrayWord, random: Random) -> Array:
    """Return the elements: already of their type if it is an integer type, else f64."""
    dtype = dtype_of(word.element) if word.element.is_int else np.dtype(np.float64)
    how, numbers, shape = word.fill.how, word.fill.numbers, word.shape
    if how == "arange":
        count = math.prod(shape)
        return (np.arange(count) & 1 if word.element is t.I1 else np.arange(count)).astype(dtype).reshape(shape)
    if how == "rand":
        return _uniform(word.element, dtype, shape, numbers, random())
    if how == "randn":
        return random().standard_normal(shape)
    value = {"zeros": 0, "ones": 1}.get(how) if not numbers else numbers[0]
    return np.full(shape, _as_stored(value or 0, word.element), dtype)


def _uniform(
    element: t.ElementType,
    dtype: np.dtype,
    shape: tuple[int, ...],
    bounds: tuple[int | float, ...],
    random: np.random.Generator,
) -> Array:
    if element.is_float:
        low, high = bounds or (0.0, 1.0)
        return random.uniform(low, high, shape)
    if bounds:
        return random.integers(int(bounds[0]), int(bounds[1]), shape, dtype=np.int64).astype(dtype)
    if element is t.I1:
        return random.integers(0, 2, shape, dtype=np.int8).astype(np.bool_)
    info = np.iinfo(dtype)
    return random.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)


def _as_floats(values: Array, element: t.ElementType) -> Array:
    """Return floats of a type as they lie in memory."""
    if element is t.F64:
        return values
    mode = Rounding.ZERO if element is t.F8E8M0FNU else Rounding.NEAREST_EVEN
    rounded = np.asarray(float_to_float(t.F64, element, mode)(values))
    if element is not t.F4E2M1FN:
        return rounded
    if not values.shape or values.shape[-1] % 2:
        raise UsageError(f"f4E2M1FN lies two to a byte: expected an even last extent, got {list(values.shape)}")
    return nibbles.packed(rounded)


def _as_stored(value: int | float, element: t.ElementType) -> int | float | bool:
    """Return an integer as the signed number that NumPy holds for the same bits."""
    if element.is_float:
        return value
    if element is t.I1:
        return value != 0
    bits = int(value) & ((1 << element.bits) - 1)
    return bits - (bits >> (element.bits - 1) << element.bits)


def scalar(word: ScalarWord, element: t.ElementType) -> int | float | bool:
    """Return the number for a parameter of `element`."""
    if word.element is not None and word.element is not element:
        raise UsageError(f"expected {element.name}, got {word.element.name}")
    if element.is_float:
        return float(word.value)
    if not isinstance(word.value, int):
        raise UsageError(f"expected {element.name}, got {word.value}")
    low, mask = lowest_and_mask(element)
    if not low <= word.value < (element is t.I1) - low:
        bits = f" ({word.value - mask - 1} has its bits)" if -low <= word.value <= mask else ""
        raise UsageError(f"expected an integer that fits {element.name}, got {word.value}{bits}")
    return bool(word.value) if element is t.I1 else word.value


def loaded(word: FileWord, element: t.ElementType | None) -> Array:
    """Return the array in a ``.npy`` file; raw bytes, as NumPy writes ml_dtypes, are read as the parameter's type."""
    _require_npy(word.path)
    try:
        # Mapped first: what a header says of the size is held to the size of the file before memory is asked for.
        mapped = np.load(word.path, mmap_mode="r", allow_pickle=False)
        values = aligned(np.array(mapped))
    except _UNREADABLE as error:
        raise UsageError(f"cannot read '{word.path}': {_why_unreadable(error)}") from None
    if element is not None and values.dtype.kind == "V" and values.dtype.itemsize == dtype_of(element).itemsize:
        return values.view(dtype_of(element))
    return values


def _require_npy(path: str) -> None:
    """Raise `UsageError` for what is no .npy file, without waiting for or reading what is no file at all."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise UsageError(f"cannot read '{path}': expected a .npy file, got what is no ordinary file")
        with open(path, "rb") as file:
            begin = file.read(len(_NPY))
    except OSError as error:
        raise UsageError(f"cannot read '{path}': {(error.strerror or str(error)).lower()}") from None
    except ValueError as error:  # a name that no file can have
        raise UsageError(f"cannot read '{path}': {error}") from None
    if begin.startswith(_ZIP):
        raise UsageError(f"'{path}': expected one array, got an archive of several")
    if begin != _NPY:
        raise UsageError(f"cannot read '{path}': expected a .npy file, got one that begins otherwise")


def _why_unreadable(error: Exception) -> str:
    if "mmap length" in str(error):
        return "expected as many elements as its header says, got fewer"
    if isinstance(error, OSError | MemoryError) or type(error) is ValueError:
        return (str(error).splitlines() or ["not enough memory"])[0]
    return "expected a .npy file, got one whose header makes no sense"


@dataclass(frozen=True)
class Summary:
    """Summary of an array for a table: smallest, largest and mean element, and a checksum of its bytes."""

    low: float | int
    high: float | int
    mean: float
    checksum: str


def summary(values: Array, element: t.ElementType) -> Summary | None:
    """Return a summary; None for an array without elements."""
    if not values.size:
        return None
    with np.errstate(all="ignore"):
        found = numbers(values, element)
        mean = float(np.mean(found, dtype=np.float64))
    return Summary(found.min().item(), found.max().item(), mean, checksum(values))


def checksum(values: Array) -> str:
    """Return CRC-32 of the array's bytes, in row-major order."""
    contiguous = np.ascontiguousarray(values)
    return f"{zlib.crc32(contiguous.reshape(-1).view(np.uint8).data):08x}"
