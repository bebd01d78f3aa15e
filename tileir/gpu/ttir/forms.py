"""Forms of the values of Tile IR in TTIR.

A tile of rank 0 is a scalar, any other a tensor. Elements are held thus: i4 as i8 from -8 to 7; tf32 as f32 whose low
13 bits are zero; f8E8M0FNU, fnv8E5M3FNU and f4E2M1FN as their bits in an i8, the unused ones zero; all others as
themselves. In memory an i1 is a byte, which is what pointers to it point to.
"""

from __future__ import annotations

from dataclasses import dataclass

from tileir.gpu.ttir.ir.code import I64, TtirType, TtirValue
from tileir.ir import types as t
from tileir.ir.attributes import Predicate

_HELD = {t.I4: "i8", t.TF32: "f32", t.F8E8M0FNU: "i8", t.FNV8E5M3FNU: "i8", t.F4E2M1FN: "i8"}

PREDICATES = {
    Predicate.EQUAL: "eq",
    Predicate.NOT_EQUAL: "ne",
    Predicate.LESS_THAN: "lt",
    Predicate.LESS_THAN_OR_EQUAL: "le",
    Predicate.GREATER_THAN: "gt",
    Predicate.GREATER_THAN_OR_EQUAL: "ge",
}
"""The names of comparisons, which a letter in front completes: how integers are read, or what becomes of NaN."""


def held(element: t.ElementType | t.PointerType) -> str:
    """Return the element type that holds an element of a tile."""
    if isinstance(element, t.PointerType):
        return pointer_to(element.pointee)
    return _HELD.get(element, element.name)


def stored(element: t.ElementType) -> str:
    """Return the element type that holds an element in memory."""
    return "i8" if element is t.I1 else held(element)


def pointer_to(element: t.ElementType) -> str:
    """Return the type of an address of an element."""
    return f"!tt.ptr<{stored(element)}>"


def tile_type(type: t.TileType) -> TtirType:
    """Return the TTIR type of a tile."""
    return TtirType(held(type.element), type.shape)


@dataclass(frozen=True)
class LoweredTensorView:
    """A tensor view: the address of its first element, and the extents and the strides in elements, as i64."""

    type: t.TensorViewType
    base: TtirValue
    shape: tuple[TtirValue, ...]
    strides: tuple[TtirValue, ...]


@dataclass(frozen=True)
class LoweredTileView:
    """A partition, strided or gather/scatter view. `descriptor` is there if the copy engine can serve it."""

    type: t.TileViewType
    tensor: LoweredTensorView
    descriptor: TtirValue | None = None


@dataclass(frozen=True)
class Token:
    """A token: order is a matter of the program, nothing is left of it at run time."""


TOKEN = Token()
Lowered = TtirValue | LoweredTensorView | LoweredTileView | Token


def flat_types(type: t.Type) -> list[TtirType]:
    """Return the types of the TTIR values that a value of `type` is carried as."""
    if isinstance(type, t.TokenType):
        return []
    if isinstance(type, t.TileViewType):
        return flat_types(type.tensor_view)
    if isinstance(type, t.TensorViewType):
        return [TtirType(pointer_to(type.element)), *(I64 for entry in (*type.shape, *type.strides) if entry is None)]
    return [tile_type(t.checked_cast(type, t.TileType))]


def flattened(lowered: Lowered) -> list[TtirValue]:
    """Return the TTIR values that carry a value; a descriptor is left behind."""
    if isinstance(lowered, Token):
        return []
    if isinstance(lowered, LoweredTileView):
        return flattened(lowered.tensor)
    if isinstance(lowered, LoweredTensorView):
        entries = zip((*lowered.type.shape, *lowered.type.strides), (*lowered.shape, *lowered.strides))
        return [lowered.base, *(value for entry, value in entries if entry is None)]
    return [lowered]
