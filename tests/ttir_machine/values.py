"""Values of the TTIR machine: lanes of numbers, some of which may be poison.

Integers are held unsigned (`i1` as bool), pointers as `uint64` addresses, floats as NumPy or ml_dtypes floats. Poison
is what MLIR, LLVM and PTX leave undefined: a lane may be poison as long as a select drops it before it has an effect.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from tileir.gpu.ttir.ir.code import ConstantBits, TtirType

Array = np.ndarray

_DTYPES = {
    "i1": np.dtype(np.bool_),
    "i8": np.dtype(np.uint8),
    "i16": np.dtype(np.uint16),
    "i32": np.dtype(np.uint32),
    "i64": np.dtype(np.uint64),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
}
_OBJECT = np.dtype(object)
GARBAGE = 0xA5
"""The byte that poison lanes of memory operations are filled with."""


class MachineFault(Exception):
    """The program did something that has no meaning, or that would be an error on the device."""


@dataclass(frozen=True)
class Lanes:
    """Elements, and where they are poison (None: nowhere); both of the same shape."""

    data: Array
    poison: Array | None = None

    def tainted(self, *sources: Lanes) -> Lanes:
        """Poison also where a source is."""
        masks = [source.poison for source in (self, *sources) if source.poison is not None]
        if not masks:
            return self
        poison = np.zeros(self.data.shape, np.bool_)
        for mask in masks:
            poison = poison | mask
        return Lanes(self.data, poison if poison.any() else None)

    def moved(self, move: Callable[[Array], Array]) -> Lanes:
        """Rearranged by a function that only moves lanes."""
        return Lanes(move(self.data), None if self.poison is None else move(self.poison))

    def required(self, what: str) -> Array:
        """Return the elements, none of which may be poison."""
        if self.poison is not None and self.poison.any():
            place = np.argwhere(self.poison)[0].tolist()
            raise MachineFault(f"{what} depends on a poison value (lane {place})")
        return self.data


def dtype_of(element: str) -> np.dtype:
    """The dtype of an element; descriptors are objects."""
    if element.startswith("!tt.tensordesc"):
        return _OBJECT
    return np.dtype(np.uint64) if element.startswith("!tt.ptr") else _DTYPES[element]


def signed(x: Array) -> Array:
    """The signed reading of integers."""
    if x.dtype == np.bool_:
        return -x.astype(np.int8)
    return x.view(f"i{x.dtype.itemsize}")


def unsigned(x: Array) -> Array:
    """The unsigned reading of integers."""
    return x.astype(np.uint8) if x.dtype == np.bool_ else x


def width(x: Array) -> int:
    """The bits of an integer lane."""
    return 1 if x.dtype == np.bool_ else 8 * x.dtype.itemsize


def as_integer(x: Array, element: str) -> Array:
    """Integers modulo 2^width as `element` is held."""
    if element == "i1":
        return (x & x.dtype.type(1)).astype(np.bool_)
    return x.astype(dtype_of(element))


def bits_of(x: Array) -> Array:
    """The bit patterns of lanes."""
    return x.astype(np.uint8) if x.dtype == np.bool_ else x.view(f"u{x.dtype.itemsize}")


def from_bits(bits: Array, element: str) -> Array:
    """Lanes of `element` with these patterns, which have its size."""
    return as_integer(bits, "i1") if element == "i1" else bits.view(dtype_of(element))


def constant(number: ConstantBits) -> Array:
    """The lanes of an ``arith.constant``."""
    size = max(1, number.type.bits // 8)
    one = from_bits(np.array(number.bits, f"u{size}"), number.type.element)
    return np.broadcast_to(one, number.type.shape).copy()


def argument(value: int | np.generic, type: TtirType) -> Lanes:
    """A scalar argument of a function: a number, or an address."""
    dtype = dtype_of(type.element)
    if isinstance(value, np.generic):
        bits = np.frombuffer(value.tobytes(), f"u{value.dtype.itemsize}")[0]
        return Lanes(from_bits(np.asarray(bits), type.element))
    return Lanes(np.asarray(value & ((1 << type.bits) - 1)).astype(dtype))


def undefined(type: TtirType) -> Lanes:
    """Poison in every lane."""
    garbage = np.full((*type.shape, max(1, type.bits // 8)), GARBAGE, np.uint8)
    raw = garbage.view(f"u{garbage.shape[-1]}").reshape(type.shape)
    return Lanes(from_bits(raw, type.element), np.ones(type.shape, np.bool_))
