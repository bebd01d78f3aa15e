"""Attributes: compile-time data on operations (spec: attributes#top).

An operation stores what it declares as plain Python values: an enum member, ``int``, ``bool``, ``str``, a `Type`,
a tuple of ints or bools, or one of the classes below. The classes are frozen and compare by value.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tileir.ir.types import ElementType, TileType, Type

if TYPE_CHECKING:
    from typing_extensions import Self


class TextEnum(enum.IntEnum):
    """An enumeration of the dialect: the value is the bytecode number, `text` the keyword."""

    @property
    def text(self) -> str:
        return self.name.lower()

    @property
    def since(self) -> str:
        """The first version that knows this case."""
        return "13.1"

    @classmethod
    def keywords(cls) -> dict[str, Self]:
        """Return the cases by keyword."""
        return {case.text: case for case in cls}


class Signedness(TextEnum):
    UNSIGNED = 0
    SIGNED = 1


class Overflow(TextEnum):
    NONE = 0
    NO_SIGNED_WRAP = 1
    NO_UNSIGNED_WRAP = 2
    NO_WRAP = 3


class Rounding(TextEnum):
    NEAREST_EVEN = 0
    ZERO = 1
    NEGATIVE_INF = 2
    POSITIVE_INF = 3
    APPROX = 4
    FULL = 5
    NEAREST_INT_TO_ZERO = 6
    NEAREST_AWAY = 7

    @property
    def since(self) -> str:
        return "13.4" if self is Rounding.NEAREST_AWAY else "13.1"


class Ordering(TextEnum):
    """Comparison ordering: what a comparison with a NaN gives (unordered: true, ordered: false)."""

    UNORDERED = 0
    ORDERED = 1


class Predicate(TextEnum):
    EQUAL = 0
    NOT_EQUAL = 1
    LESS_THAN = 2
    LESS_THAN_OR_EQUAL = 3
    GREATER_THAN = 4
    GREATER_THAN_OR_EQUAL = 5

    @property
    def is_order(self) -> bool:
        """True if one side is less than the other, or not more."""
        return self not in (Predicate.EQUAL, Predicate.NOT_EQUAL)

    @property
    def is_strict(self) -> bool:
        """True for an order that is false for equal numbers."""
        return self in (Predicate.LESS_THAN, Predicate.GREATER_THAN)

    @property
    def is_greater(self) -> bool:
        """True for an order whose left side is the greater one."""
        return self in (Predicate.GREATER_THAN, Predicate.GREATER_THAN_OR_EQUAL)

    @property
    def mirrored(self) -> Predicate:
        """The predicate that says the same of the operands in the other order."""
        return _MIRRORED.get(self, self)

    @property
    def negated(self) -> Predicate:
        """The predicate that holds where this one does not."""
        return _NEGATED[self]


def _both_ways(*pairs: tuple[Predicate, Predicate]) -> dict[Predicate, Predicate]:
    return dict(pairs) | {second: first for first, second in pairs}


_MIRRORED = _both_ways(
    (Predicate.LESS_THAN, Predicate.GREATER_THAN),
    (Predicate.LESS_THAN_OR_EQUAL, Predicate.GREATER_THAN_OR_EQUAL),
)
_NEGATED = _both_ways(
    (Predicate.EQUAL, Predicate.NOT_EQUAL),
    (Predicate.LESS_THAN, Predicate.GREATER_THAN_OR_EQUAL),
    (Predicate.GREATER_THAN, Predicate.LESS_THAN_OR_EQUAL),
)


class AtomicMode(TextEnum):
    AND = 0
    OR = 1
    XOR = 2
    ADD = 3
    ADDF = 4
    MAX = 5
    MIN = 6
    UMAX = 7
    UMIN = 8
    XCHG = 9


class MemoryOrdering(TextEnum):
    WEAK = 0
    RELAXED = 1
    ACQUIRE = 2
    RELEASE = 3
    ACQ_REL = 4


class MemoryScope(TextEnum):
    TL_BLK = 0
    DEVICE = 1
    SYS = 2


class Visibility(TextEnum):
    PUBLIC = 0
    PRIVATE = 1


class MultimemReduction(TextEnum):
    """Reduction of the multimem operations (13.5)."""

    ADD = 0
    MIN = 1
    MAX = 2
    AND = 3
    OR = 4
    XOR = 5
    UMIN = 6
    UMAX = 7

    def atomic_mode(self, is_float: bool) -> AtomicMode:
        """Return the mode of the atomic operation that combines two elements in the same way."""
        return AtomicMode.ADDF if is_float and self is MultimemReduction.ADD else AtomicMode[self.name]


class Attribute:
    """Base of the attributes that are not plain Python values."""

    __slots__ = ()


@dataclass(frozen=True)
class IntegerAttr(Attribute):
    """An integer of a given type: `value` is its signed reading; i1 holds 0 or 1."""

    value: int
    type: ElementType


@dataclass(frozen=True)
class FloatAttr(Attribute):
    """A float held as the bit pattern `bits` of `type` (tf32: 19 bits), so that every NaN survives."""

    bits: int
    type: ElementType


@dataclass(frozen=True)
class BoolAttr(Attribute):
    value: bool


@dataclass(frozen=True)
class StringAttr(Attribute):
    """Bytes that are not UTF-8 are held as surrogate escapes."""

    value: str


@dataclass(frozen=True)
class TypeAttr(Attribute):
    value: Type


@dataclass(frozen=True)
class UnitAttr(Attribute):
    pass


@dataclass(frozen=True)
class SymbolRef(Attribute):
    path: tuple[str, ...]


@dataclass(frozen=True)
class ArrayAttr(Attribute):
    items: tuple[Attribute, ...]

    def __iter__(self) -> Iterator[Attribute]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


def is_constant(value: object) -> bool:
    """Return whether linked code can take `value`: a 64-bit integer, a string, a type or an array of them."""
    if isinstance(value, ArrayAttr):
        return all(map(is_constant, value))
    return isinstance(value, StringAttr | TypeAttr) or (isinstance(value, IntegerAttr) and value.type.name == "i64")


@dataclass(frozen=True)
class DenseArray(Attribute):
    """``array<i32: 1, 2>``: numbers of one builtin type."""

    element: ElementType
    values: tuple[int | bool | float, ...]


@dataclass(frozen=True)
class DictAttr(Attribute):
    """A dictionary, kept sorted by key."""

    entries: tuple[tuple[str, Attribute], ...] = ()

    @staticmethod
    def of(entries: dict[str, Attribute]) -> DictAttr:
        return DictAttr(tuple(sorted(entries.items(), key=lambda entry: entry[0].encode("utf-8", "surrogateescape"))))

    def get(self, key: str) -> Attribute | None:
        return next((value for name, value in self.entries if name == key), None)

    def __bool__(self) -> bool:
        return bool(self.entries)


@dataclass(frozen=True)
class EnumAttr(Attribute):
    """An enumeration case where a free attribute is expected (``#cuda_tile.rounding<zero>``)."""

    case: TextEnum


@dataclass(frozen=True)
class OpaqueAttr(Attribute):
    """An attribute of the dialect that only its text form matters for (``#cuda_tile<padding_value zero>``)."""

    mnemonic: str
    keyword: str


@dataclass(frozen=True)
class OptimizationHints(Attribute):
    """Architecture name -> dictionary of hints (spec: hints#text)."""

    targets: DictAttr

    def __bool__(self) -> bool:
        return bool(self.targets)


@dataclass(frozen=True)
class DenseElements(Attribute):
    """The elements of a constant tile.

    `data` holds either one element (a splat) or all of them in row-major order, little-endian, each in the bytes of
    `ir.storage.dtype_of(type.element)`: i1 one byte 0/1, i4 and f4E2M1FN one byte with the pattern in the low nibble,
    tf32 four bytes laid out as f32, the others their natural size. Equal contents are always held as a splat.
    """

    type: TileType
    data: bytes = field(repr=False)

    @staticmethod
    def of(type: TileType, data: bytes) -> DenseElements:
        """Build from a splat or full payload, turning an all-equal payload into a splat."""
        size = type.number.byte_size
        if len(data) > size and data == data[:size] * (len(data) // size):
            data = data[:size]
        return DenseElements(type, data)

    @property
    def element(self) -> ElementType:
        """The element type, which is never a pointer."""
        return self.type.number

    @property
    def is_splat(self) -> bool:
        return len(self.data) == self.element.byte_size

    @property
    def is_zero(self) -> bool:
        """True if all elements are 0; for floats, +0."""
        return not any(self.data)


@dataclass(frozen=True)
class DivBy(Attribute):
    """Every element (or each `every`-th along dimension `along`) is a multiple of `divisor`.

    spec: attributes#assume-predicates
    """

    divisor: int
    every: int | None = None
    along: int | None = None
    mnemonic = "div_by"


@dataclass(frozen=True)
class SameElements(Attribute):
    """Blocks of `values` elements along each dimension are equal (spec: attributes#assume-predicates)."""

    values: tuple[int, ...]
    mnemonic = "same_elements"


@dataclass(frozen=True)
class Bounded(Attribute):
    """Every element, read as signed, lies in [lower, upper]; None is no bound (spec: attributes#assume-predicates)."""

    lower: int | None
    upper: int | None
    mnemonic = "bounded"


AssumePredicate = DivBy | SameElements | Bounded
