"""The types of Tile IR and the rules a type must keep to exist (specification, chapter 4).

Knows: element types and their bit layouts, composite types, interning, type invariants.
Does not know: how a type is written (`text`), stored in NumPy (`ir.storage`) or encoded (`bytecode`).

Every type is interned: two structurally equal types are the same object, so compare with ``is``.
A constructor that would break an invariant raises `InvalidType` with a stable code.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeVar
from weakref import WeakValueDictionary

MAX_TILE_ELEMENTS = 1 << 24
MAX_I32 = (1 << 31) - 1

Dim = int | None
"""One extent or stride of a tensor view; ``None`` stands for a dynamic ``?``."""


class InvalidType(Exception):
    """A type that would break one of its invariants; `code` is the diagnostic code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class PaddingValue(enum.IntEnum):
    """What an out-of-bounds element of a view load reads as; the value is the bytecode number."""

    ZERO = 0
    NEG_ZERO = 1
    NAN = 2
    POS_INF = 3
    NEG_INF = 4

    @property
    def text(self) -> str:
        return self.name.lower()


class PointerAttr(enum.IntEnum):
    """The attribute of a pointer or tensor view (13.4: none, 13.5: unicast, multicast)."""

    NONE = 0
    UNICAST = 1
    MULTICAST = 2

    @property
    def text(self) -> str:
        return self.name.lower()


class Type:
    """Base of all types. Interned by subclass and parameters: equality is identity."""

    __slots__ = ("__weakref__",)

    def __repr__(self) -> str:
        from tileir.ir.spelling import type_text

        return type_text(self)


@dataclass(frozen=True)
class FloatFormat:
    """Bit layout of a float: sign, exponent and fraction widths, bias, special values.

    ``fraction`` excludes the hidden bit. ``has_inf``: the all-ones exponent with zero fraction is an
    infinity; ``has_nan``: the format has a NaN. ``max_finite`` is the largest finite magnitude.
    """

    signed: bool
    exponent: int
    fraction: int
    bias: int
    has_inf: bool
    has_nan: bool
    max_finite: float

    @property
    def precision(self) -> int:
        """Significand width including the hidden bit."""
        return self.fraction + 1


class ElementType(Type):
    """A number type that a tile can hold (specification 4.1).

    ``bits`` is the width used by verification (i1: 1, tf32: 19); ``memory_bits`` is what one element
    takes in memory (i1: 8, tf32: 32, f4E2M1FN: 4, i4: 4 although it cannot be addressed).
    """

    __slots__ = ("bits", "format", "memory_bits", "name", "since", "tag")

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
    def is_float(self) -> bool:
        return self.format is not None

    @property
    def is_int(self) -> bool:
        return self.format is None

    @property
    def alignment(self) -> int:
        """Natural alignment in bytes."""
        return max(1, self.memory_bits // 8)


def _ieee(exponent: int, fraction: int) -> FloatFormat:
    bias = (1 << (exponent - 1)) - 1
    largest = (2.0 - 2.0**-fraction) * 2.0**bias
    return FloatFormat(True, exponent, fraction, bias, True, True, largest)


I1 = ElementType("i1", 1, 8, "13.1", 0)
I4 = ElementType("i4", 4, 4, "13.3", 22)
I8 = ElementType("i8", 8, 8, "13.1", 1)
I16 = ElementType("i16", 16, 16, "13.1", 2)
I32 = ElementType("i32", 32, 32, "13.1", 3)
I64 = ElementType("i64", 64, 64, "13.1", 4)
F16 = ElementType("f16", 16, 16, "13.1", 5, _ieee(5, 10))
BF16 = ElementType("bf16", 16, 16, "13.1", 6, _ieee(8, 7))
F32 = ElementType("f32", 32, 32, "13.1", 7, _ieee(8, 23))
TF32 = ElementType("tf32", 19, 32, "13.1", 8, _ieee(8, 10))
F64 = ElementType("f64", 64, 64, "13.1", 9, _ieee(11, 52))
F8E4M3FN = ElementType("f8E4M3FN", 8, 8, "13.1", 10, FloatFormat(True, 4, 3, 7, False, True, 448.0))
F8E5M2 = ElementType("f8E5M2", 8, 8, "13.1", 11, _ieee(5, 2))
F8E8M0FNU = ElementType("f8E8M0FNU", 8, 8, "13.2", 18, FloatFormat(False, 8, 0, 127, False, True, 2.0**127))
F4E2M1FN = ElementType("f4E2M1FN", 4, 4, "13.3", 19, FloatFormat(True, 2, 1, 1, False, False, 6.0))
FNV8E5M3FNU = ElementType("fnv8E5M3FNU", 8, 8, "13.4", 130, FloatFormat(False, 5, 3, 15, False, True, 114688.0))

INTS = (I1, I8, I16, I32, I64)
FLOATS = (F16, BF16, F32, TF32, F64, F8E4M3FN, F8E5M2, F8E8M0FNU, F4E2M1FN, FNV8E5M3FNU)
NUMBERS = FLOATS + INTS
ELEMENTS = {element.name: element for element in (*NUMBERS, I4)}

T = TypeVar("T", bound=Type)


def _intern(cls: type[T], table: WeakValueDictionary[object, T], key: object, fields: dict[str, object]) -> T:
    self = table.get(key)
    if self is None:
        self = object.__new__(cls)
        for name, value in fields.items():
            setattr(self, name, value)
        table[key] = self
    return self


class PointerType(Type):
    """``ptr<E>``: a 64-bit address of an element in global memory (specification 4.2)."""

    __slots__ = ("attr", "pointee")
    pointee: ElementType
    attr: PointerAttr | None
    _table: WeakValueDictionary[object, PointerType] = WeakValueDictionary()

    bits = 64
    memory_bits = 64

    def __new__(cls, pointee: Type, attr: PointerAttr | None = None) -> PointerType:
        if not isinstance(pointee, ElementType) or pointee is I4:
            raise InvalidType("E0301", f"a pointer can point to a number type other than i4, got {pointee!r}")
        return _intern(cls, cls._table, (pointee, attr), {"pointee": pointee, "attr": attr})


class TileType(Type):
    """``tile<4x8xf32>``: an n-d array of static power-of-two shape (specification 4.3)."""

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
        return _intern(cls, cls._table, key, {"shape": shape, "element": element})

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def count(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    def with_element(self, element: Type) -> TileType:
        return TileType(self.shape, element)


def _check_tile(shape: tuple[int, ...], element: ElementType | PointerType) -> None:
    if element is F4E2M1FN and all(extent % 2 for extent in shape):
        raise InvalidType("E0303", "a tile of f4E2M1FN needs an even number of elements")
    count = 1
    for extent in shape:
        if extent <= 0:
            raise InvalidType("E0304", f"tile dimensions must be positive, got {dims_text(shape)}")
        if extent & (extent - 1):
            raise InvalidType("E0305", f"tile dimensions must be powers of two, got {dims_text(shape)}")
        count *= extent
        if count > MAX_TILE_ELEMENTS:
            raise InvalidType("E0306", f"a tile has at most {MAX_TILE_ELEMENTS} elements, got {dims_text(shape)}")


class TensorViewType(Type):
    """``tensor_view<?x16xf32, strides=[?,1]>``: a strided tensor in memory (specification 4.4).

    Extents and strides count elements; ``None`` is a dynamic entry.
    """

    __slots__ = ("attr", "element", "shape", "strides")
    element: ElementType
    shape: tuple[Dim, ...]
    strides: tuple[Dim, ...]
    attr: PointerAttr | None
    _table: WeakValueDictionary[object, TensorViewType] = WeakValueDictionary()

    def __new__(
        cls, element: Type, shape: Iterable[Dim], strides: Iterable[Dim], attr: PointerAttr | None = None
    ) -> TensorViewType:
        shape, strides = tuple(shape), tuple(strides)
        if not isinstance(element, ElementType) or element is I4:
            raise InvalidType("E0307", f"a tensor view holds numbers other than i4, got {element!r}")
        if len(shape) != len(strides):
            counts = f"{len(shape)} dimensions and {len(strides)} strides"
            raise InvalidType("E0308", f"expected as many strides as dimensions, got {counts}")
        for what, entries in (("dimensions", shape), ("strides", strides)):
            if any(entry is not None and not 0 < entry < 1 << 63 for entry in entries):
                listed = dims_text(entries)
                raise InvalidType("E0309", f"tensor view {what} must be positive 64-bit integers, got [{listed}]")
        fields = {"element": element, "shape": shape, "strides": strides, "attr": attr}
        return _intern(cls, cls._table, (element, shape, strides, attr), fields)

    @property
    def rank(self) -> int:
        return len(self.shape)


class TileViewType(Type):
    """Base of the views that load and store tiles: partition, strided, gather/scatter (specification 4.5)."""

    __slots__ = ("padding", "tensor_view", "tile", "tile_shape")
    mnemonic: str
    since: str
    tile_shape: tuple[int, ...]
    tensor_view: TensorViewType
    padding: PaddingValue | None
    tile: TileType
    """The type of the tile that a load gives and a store takes."""

    @property
    def rank(self) -> int:
        return len(self.tile_shape)

    @property
    def element(self) -> ElementType:
        return self.tensor_view.element


class PartitionViewType(TileViewType):
    """``partition_view``: the tensor cut into a grid of equal tiles.

    ``dim_map[i]`` is the tensor dimension that tile dimension i runs along.
    """

    __slots__ = ("dim_map",)
    mnemonic = "partition_view"
    since = "13.1"
    dim_map: tuple[int, ...]
    _table: WeakValueDictionary[object, PartitionViewType] = WeakValueDictionary()

    def __new__(
        cls,
        tile_shape: Iterable[int],
        tensor_view: Type,
        padding: PaddingValue | None = None,
        dim_map: Iterable[int] | None = None,
    ) -> PartitionViewType:
        shape = tuple(tile_shape)
        mapping = tuple(range(len(shape)) if dim_map is None else dim_map)
        fields = _view_fields(shape, tensor_view, padding, lambda view: _check_dim_map(mapping, len(shape)))
        return _intern(cls, cls._table, (shape, tensor_view, padding, mapping), fields | {"dim_map": mapping})


class StridedViewType(TileViewType):
    """``strided_view`` (13.3): tiles that start every ``traversal_strides[i]`` elements.

    They may overlap or leave gaps.
    """

    __slots__ = ("dim_map", "traversal_strides")
    mnemonic = "strided_view"
    since = "13.3"
    traversal_strides: tuple[int, ...]
    dim_map: tuple[int, ...]
    _table: WeakValueDictionary[object, StridedViewType] = WeakValueDictionary()

    def __new__(
        cls,
        tile_shape: Iterable[int],
        traversal_strides: Iterable[int],
        tensor_view: Type,
        padding: PaddingValue | None = None,
        dim_map: Iterable[int] | None = None,
    ) -> StridedViewType:
        shape, traversal = tuple(tile_shape), tuple(traversal_strides)
        mapping = tuple(range(len(shape)) if dim_map is None else dim_map)
        fields = _view_fields(shape, tensor_view, padding, lambda view: _check_dim_map(mapping, len(shape)))
        if len(traversal) != len(shape):
            raise InvalidType("E0318", f"expected {len(shape)} traversal strides, got {len(traversal)}")
        if any(not 0 < step <= MAX_I32 for step in traversal):
            listed = dims_text(traversal)
            raise InvalidType("E0319", f"traversal strides must be positive 32-bit integers, got [{listed}]")
        fields |= {"traversal_strides": traversal, "dim_map": mapping}
        return _intern(cls, cls._table, (shape, traversal, tensor_view, padding, mapping), fields)


class GatherScatterViewType(TileViewType):
    """``gather_scatter_view`` (13.3): tile rows at arbitrary positions along ``sparse_dim``."""

    __slots__ = ("sparse_dim",)
    mnemonic = "gather_scatter_view"
    since = "13.3"
    sparse_dim: int
    _table: WeakValueDictionary[object, GatherScatterViewType] = WeakValueDictionary()

    def __new__(
        cls, tile_shape: Iterable[int], tensor_view: Type, sparse_dim: int, padding: PaddingValue | None = None
    ) -> GatherScatterViewType:
        shape = tuple(tile_shape)

        def check(view: TensorViewType) -> None:
            if not 0 <= sparse_dim < view.rank:
                raise InvalidType("E0317", f"sparse_dim must be in [0, {view.rank}), got {sparse_dim}")

        fields = _view_fields(shape, tensor_view, padding, check)
        return _intern(cls, cls._table, (shape, tensor_view, sparse_dim, padding), fields | {"sparse_dim": sparse_dim})


def _view_fields(shape, tensor_view, padding, check_dims) -> dict[str, object]:  # type: ignore[no-untyped-def]
    """Check the invariants common to tile views, in the specification's order, and return their fields."""
    if not shape:
        raise InvalidType("E0310", "a tile view needs a tile shape of at least one dimension")
    if not isinstance(tensor_view, TensorViewType):
        raise InvalidType("E0311", f"expected a tensor_view inside the view type, got {tensor_view!r}")
    if tensor_view.rank != len(shape):
        raise InvalidType(
            "E0312", f"expected tiles of the tensor view's rank {tensor_view.rank}, got tiles of rank {len(shape)}"
        )
    if any(not 0 < extent <= MAX_I32 for extent in shape):
        listed = dims_text(shape)
        raise InvalidType("E0313", f"tile dimensions of a view must be positive 32-bit integers, got [{listed}]")
    if any(extent & (extent - 1) for extent in shape):
        raise InvalidType("E0314", f"tile dimensions of a view must be powers of two, got [{dims_text(shape)}]")
    check_dims(tensor_view)
    tile = TileType(shape, tensor_view.element)
    if padding not in (None, PaddingValue.ZERO) and not tensor_view.element.is_float:
        raise InvalidType(
            "E0316", f"padding_value {padding.text} needs floating-point elements, got {tensor_view.element.name}"
        )
    return {"tile_shape": shape, "tensor_view": tensor_view, "padding": padding, "tile": tile}


def _check_dim_map(dim_map: Sequence[int], rank: int) -> None:
    if len(dim_map) != rank:
        raise InvalidType("E0315", f"expected dim_map to map all {rank} tile dimensions, got {len(dim_map)} entries")
    for position, target in enumerate(dim_map):
        if not 0 <= target < rank:
            raise InvalidType("E0315", f"dim_map entries must be in [0, {rank}), got {target}")
        first = dim_map.index(target)
        if first != position:
            raise InvalidType(
                "E0315", f"dim_map maps dimension {target} twice, for tile dimensions {first} and {position}"
            )


class TokenType(Type):
    """``token``: an ordering edge between memory operations; carries no data. Use `TOKEN`."""

    __slots__ = ()


TOKEN = TokenType()


class FunctionType(Type):
    """``(T, ...) -> (T, ...)``: the signature of an entry or function."""

    __slots__ = ("inputs", "results")
    inputs: tuple[Type, ...]
    results: tuple[Type, ...]
    _table: WeakValueDictionary[object, FunctionType] = WeakValueDictionary()

    def __new__(cls, inputs: Iterable[Type], results: Iterable[Type] = ()) -> FunctionType:
        inputs, results = tuple(inputs), tuple(results)
        return _intern(cls, cls._table, (inputs, results), {"inputs": inputs, "results": results})


def dims_text(entries: Iterable[Dim]) -> str:
    """Extents as written in messages: ``4, ?, 8``."""
    return ", ".join("?" if entry is None else str(entry) for entry in entries)


def tile(element: Type, *shape: int) -> TileType:
    """Shorthand: ``tile(F32, 4, 8)`` is ``tile<4x8xf32>``."""
    return TileType(shape, element)
