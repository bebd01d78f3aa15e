"""Pointers, tiles, tokens and signatures (spec: types#top)."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from math import prod
from weakref import WeakValueDictionary

from tileir.ir.types.elements import F4E2M1FN, I4, ElementType, InvalidType, Type, checked_cast, interned

MAX_TILE_ELEMENTS = 1 << 24

Dim = int | None
"""One extent or stride of a tensor view; ``None`` stands for a dynamic ``?``."""


class PointerAttr(enum.IntEnum):
    """The attribute of a pointer or tensor view (13.4: none, 13.5: unicast, multicast)."""

    NONE = 0
    UNICAST = 1
    MULTICAST = 2

    @property
    def text(self) -> str:
        return self.name.lower()


class PointerType(Type):
    """``ptr<E>``: a 64-bit address of an element in global memory (spec: types#ptr)."""

    __slots__ = ("attr", "pointee")
    pointee: ElementType
    attr: PointerAttr | None
    _table: WeakValueDictionary[object, PointerType] = WeakValueDictionary()

    bits = 64
    memory_bits = 64
    stream_bits = 64
    byte_size = 8

    def __new__(cls, pointee: Type, attr: PointerAttr | None = None) -> PointerType:
        if not isinstance(pointee, ElementType) or pointee is I4:
            raise InvalidType("E0301", f"a pointer can point to a number type other than i4, got {pointee!r}")
        return interned(cls, cls._table, (pointee, attr), {"pointee": pointee, "attr": attr})

    @property
    def text(self) -> str:
        attr = "" if self.attr is None else f", <{self.attr.text}>"
        return f"ptr<{self.pointee.text}{attr}>"


class TileType(Type):
    """``tile<4x8xf32>``: an n-d array of static power-of-two shape (spec: types#tile)."""

    __slots__ = ("element", "shape")
    shape: tuple[int, ...]
    element: ElementType | PointerType
    _table: WeakValueDictionary[object, TileType] = WeakValueDictionary()

    def __new__(cls, shape: Iterable[int], element: Type) -> TileType:
        shape = tuple(shape)
        key = (shape, element)
        found = cls._table.get(key)
        if found is not None:
            return found
        if not isinstance(element, ElementType | PointerType):
            raise InvalidType("E0302", f"a tile holds numbers or pointers, got {element!r}")
        _check_tile(shape, element)
        return interned(cls, cls._table, key, {"shape": shape, "element": element})

    @property
    def text(self) -> str:
        return f"tile<{dims_prefix(self.shape)}{self.element.text}>"

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def count(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def number(self) -> ElementType:
        """The element type of a tile that is known to hold numbers."""
        return checked_cast(self.element, ElementType)

    @property
    def pointer(self) -> PointerType:
        """The element type of a tile that is known to hold pointers."""
        return checked_cast(self.element, PointerType)

    def with_element(self, element: Type) -> TileType:
        return TileType(self.shape, element)


def nearest_powers(extent: int) -> str:
    """Return a hint with the powers of two around a positive number that is none."""
    return f"the nearest to {extent} are {1 << extent.bit_length() - 1} and {1 << extent.bit_length()}"


def _check_tile(shape: tuple[int, ...], element: ElementType | PointerType) -> None:
    if element is F4E2M1FN and all(extent % 2 for extent in shape):
        raise InvalidType("E0303", "a tile of f4E2M1FN needs an even number of elements")
    count = 1
    for extent in shape:
        if extent <= 0:
            raise InvalidType("E0304", f"tile dimensions must be positive, got {dims_text(shape)}")
        if extent & (extent - 1):
            hint = nearest_powers(extent)
            raise InvalidType("E0305", f"tile dimensions must be powers of two, got {dims_text(shape)}", hint)
        count *= extent
        if count > MAX_TILE_ELEMENTS:
            raise InvalidType("E0306", f"a tile has at most {MAX_TILE_ELEMENTS} elements, got {dims_text(shape)}")


class TokenType(Type):
    """``token``: an ordering edge between memory operations; carries no data. Use `TOKEN`."""

    __slots__ = ()

    @property
    def text(self) -> str:
        return "token"


TOKEN = TokenType()


class FunctionType(Type):
    """``(T, ...) -> (T, ...)``: the signature of an entry or function."""

    __slots__ = ("inputs", "results")
    prefix = ""
    inputs: tuple[Type, ...]
    results: tuple[Type, ...]
    _table: WeakValueDictionary[object, FunctionType] = WeakValueDictionary()

    def __new__(cls, inputs: Iterable[Type], results: Iterable[Type] = ()) -> FunctionType:
        inputs, results = tuple(inputs), tuple(results)
        return interned(cls, cls._table, (inputs, results), {"inputs": inputs, "results": results})

    @property
    def text(self) -> str:
        results = ", ".join(type.full_text for type in self.results)
        if len(self.results) != 1 or isinstance(self.results[0], FunctionType):
            results = f"({results})"
        return f"({', '.join(type.full_text for type in self.inputs)}) -> {results}"


def kept_dimensions(old: tuple[int, ...], new: tuple[int, ...]) -> tuple[int | None, ...] | None:
    """Return, for each dimension of a new shape, the old dimension it is, None for a new one of extent 1; None if the
    shapes differ in more than dimensions of extent 1."""
    wide = [dim for dim, extent in enumerate(old) if extent > 1]
    if [old[dim] for dim in wide] != [extent for extent in new if extent > 1]:
        return None
    following = iter(wide)
    return tuple([next(following) if extent > 1 else None for extent in new])


def dims_text(entries: Iterable[Dim]) -> str:
    """Return extents as written in messages: ``4, ?, 8``."""
    return ", ".join(map(dim_text, entries))


def dims_prefix(shape: Iterable[Dim]) -> str:
    """Return extents as written in front of an element type: ``4x?x``."""
    return "".join(f"{dim_text(extent)}x" for extent in shape)


def dim_text(entry: Dim) -> str:
    return "?" if entry is None else str(entry)


def tile(element: Type, *shape: int) -> TileType:
    """Make a tile type: ``tile(F32, 4, 8)`` is ``tile<4x8xf32>``."""
    return TileType(shape, element)
