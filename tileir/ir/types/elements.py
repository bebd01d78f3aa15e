"""Element types (spec: types#element-types): the numbers that a tile can hold."""

from __future__ import annotations

import enum
from typing import TypeVar
from weakref import WeakValueDictionary

from tileir.ir.formats import FloatFormat, ieee


class InvalidType(Exception):
    """A type that would break one of its invariants; `code` is the diagnostic code."""

    def __init__(self, code: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint


class Type:
    """Base of all types. Interned by subclass and parameters: equality is identity.

    ``prefix`` stands in front of a type of the dialect outside custom assembly.
    """

    __slots__ = ("__weakref__",)
    prefix = "!cuda_tile."

    @property
    def text(self) -> str:
        """The canonical spelling."""
        raise NotImplementedError

    @property
    def full_text(self) -> str:
        """The canonical spelling outside custom assembly."""
        return self.prefix + self.text

    def __repr__(self) -> str:
        return self.text


T = TypeVar("T", bound=Type)


def checked_cast(type: Type, cls: type[T]) -> T:
    """Return `type`, which is known to be of class `cls`; raises TypeError if it is not."""
    if not isinstance(type, cls):
        raise TypeError(f"expected a type of class {cls.__name__}, got {type!r}")
    return type


def interned(cls: type[T], table: WeakValueDictionary[object, T], key: object, fields: dict[str, object]) -> T:
    """Return the type in `table` under `key`, made with `fields` if it is new."""
    self = table.get(key)
    if self is None:
        self = object.__new__(cls)
        for name, value in fields.items():
            setattr(self, name, value)
        table[key] = self
    return self


class PaddingValue(enum.IntEnum):
    """The value that an out-of-bounds element of a view load reads as; its number is that of bytecode."""

    ZERO = 0
    NEG_ZERO = 1
    NAN = 2
    POS_INF = 3
    NEG_INF = 4

    @property
    def text(self) -> str:
        return self.name.lower()


class ElementType(Type):
    """A number type that a tile can hold (spec: types#element-types).

    ``bits`` is the width used by verification (i1: 1, tf32: 19); ``memory_bits`` is what one element
    takes in memory (i1: 8, tf32: 32, f4E2M1FN: 4, i4: 4 although it cannot be addressed).
    """

    __slots__ = ("bits", "format", "memory_bits", "name", "since", "tag")
    prefix = ""

    def __init__(
        self, name: str, bits: int, memory_bits: int, since: str, tag: int, format: FloatFormat | None = None
    ) -> None:
        self.name = name
        self.bits = bits
        self.memory_bits = memory_bits
        self.since = since
        self.tag = tag
        self.format = format

    @property
    def text(self) -> str:
        return self.name

    @property
    def is_float(self) -> bool:
        return self.format is not None

    @property
    def is_int(self) -> bool:
        return self.format is None

    @property
    def layout(self) -> FloatFormat:
        """The format of a float type."""
        assert self.format is not None, f"{self.name} is not a float type"
        return self.format

    @property
    def byte_size(self) -> int:
        """Bytes of an element that shares none."""
        return max(1, self.memory_bits // 8)

    @property
    def alignment(self) -> int:
        """Natural alignment in bytes."""
        return self.byte_size

    def memory_size(self, count: int) -> int:
        """Return the size in bytes of that many elements in memory; two 4-bit elements share a byte."""
        return -(-count * self.memory_bits // 8)

    @property
    def stream_bits(self) -> int:
        """Bits that an element takes in the stream of `pack` (spec: packing#pack): those of memory, but one of i1."""
        return self.bits if self is I1 else self.memory_bits

    def padding_bits(self, value: PaddingValue) -> int | None:
        """Return the pattern in memory of a padding value (spec: views#padding); None if the type has no such value."""
        if value is PaddingValue.ZERO:
            return 0
        pattern = None if self.format is None else _special(self.format, value)
        return pattern if pattern is None or self is not TF32 else pattern << TF32_UNUSED_BITS


def _special(format: FloatFormat, value: PaddingValue) -> int | None:
    """Return the pattern of -0, NaN or an infinity."""
    if value is PaddingValue.NEG_ZERO:
        return format.sign_bit if format.signed else None
    if value is PaddingValue.NAN:
        return format.nan
    if format.infinity is None:
        return None
    return format.infinity | (format.sign_bit if value is PaddingValue.NEG_INF else 0)


I1 = ElementType("i1", 1, 8, "13.1", 0)
I4 = ElementType("i4", 4, 4, "13.3", 22)
I8 = ElementType("i8", 8, 8, "13.1", 1)
I16 = ElementType("i16", 16, 16, "13.1", 2)
I32 = ElementType("i32", 32, 32, "13.1", 3)
I64 = ElementType("i64", 64, 64, "13.1", 4)
F16 = ElementType("f16", 16, 16, "13.1", 5, ieee(5, 10))
BF16 = ElementType("bf16", 16, 16, "13.1", 6, ieee(8, 7))
F32 = ElementType("f32", 32, 32, "13.1", 7, ieee(8, 23))
TF32 = ElementType("tf32", 19, 32, "13.1", 8, ieee(8, 10))
F64 = ElementType("f64", 64, 64, "13.1", 9, ieee(11, 52))
F8E4M3FN = ElementType("f8E4M3FN", 8, 8, "13.1", 10, FloatFormat(True, 4, 3, 7, False, True, 448.0))
F8E5M2 = ElementType("f8E5M2", 8, 8, "13.1", 11, ieee(5, 2))
F8E8M0FNU = ElementType("f8E8M0FNU", 8, 8, "13.2", 18, FloatFormat(False, 8, 0, 127, False, True, 2.0**127))
F4E2M1FN = ElementType("f4E2M1FN", 4, 4, "13.3", 19, FloatFormat(True, 2, 1, 1, False, False, 6.0))
FNV8E5M3FNU = ElementType("fnv8E5M3FNU", 8, 8, "13.4", 130, FloatFormat(False, 5, 3, 15, False, True, 114688.0))

TF32_UNUSED_BITS = TF32.memory_bits - TF32.bits
"""Low bits of the word of a tf32 that do not count."""
TF32_MASK = (1 << TF32.memory_bits) - (1 << TF32_UNUSED_BITS)
"""The bits of that word that do."""

INTS = (I1, I8, I16, I32, I64)
FLOATS = (F16, BF16, F32, TF32, F64, F8E4M3FN, F8E5M2, F8E8M0FNU, F4E2M1FN, FNV8E5M3FNU)
NUMBERS = FLOATS + INTS
ELEMENTS = {element.name: element for element in (*NUMBERS, I4)}
