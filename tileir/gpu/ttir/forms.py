"""How the values of Tile IR are held in TTIR.

Knows: the TTIR type of a tile, what a view consists of, and how any value becomes a list of TTIR values, as which it is
carried through control flow. Does not know: what is done with them.

A tile of rank 0 is a scalar, any other a tensor. Elements are held thus: i4 as i8 from -8 to 7; tf32 as f32 whose low
13 bits are zero; f8E8M0FNU, fnv8E5M3FNU and f4E2M1FN as their bits in an i8, the unused ones zero; all others as
themselves. In memory an i1 is a byte, which is what pointers to it point to.
"""

from __future__ import annotations

from dataclasses import dataclass

from tileir.gpu.ttir.code import I64, Type, Value
from tileir.ir import types as t

_HELD = {t.I4: "i8", t.TF32: "f32", t.F8E8M0FNU: "i8", t.FNV8E5M3FNU: "i8", t.F4E2M1FN: "i8"}


def held(element: t.ElementType | t.PointerType) -> str:
    """The element type that holds an element of a tile."""
    if isinstance(element, t.PointerType):
        return pointer_to(element.pointee)
    return _HELD.get(element, element.name)


def stored(element: t.ElementType) -> str:
    """The element type that holds an element in memory."""
    return "i8" if element is t.I1 else held(element)


def pointer_to(element: t.ElementType) -> str:
    """The type of an address of an element."""
    return f"!tt.ptr<{stored(element)}>"


def tile_type(type: t.Type) -> Type:
    """The TTIR type of a tile."""
    assert isinstance(type, t.TileType), type
    return Type(held(type.element), type.shape)


@dataclass(frozen=True)
class TensorView:
    """A tensor view: the address of its first element, and the extents and the strides in elements, as i64."""

    type: t.TensorViewType
    base: Value
    shape: tuple[Value, ...]
    strides: tuple[Value, ...]


@dataclass(frozen=True)
class TileView:
    """A partition, strided or gather/scatter view. `descriptor` is there if the copy engine can serve it."""

    type: t.TileViewType
    tensor: TensorView
    descriptor: Value | None = None


@dataclass(frozen=True)
class Token:
    """A token: order is a matter of the program, nothing is left of it at run time."""


TOKEN = Token()
Lowered = Value | TensorView | TileView | Token


def flat_types(type: t.Type) -> list[Type]:
    """The types of the TTIR values that a value of `type` is carried as."""
    if isinstance(type, t.TokenType):
        return []
    if isinstance(type, t.TileViewType):
        return flat_types(type.tensor_view)
    if isinstance(type, t.TensorViewType):
        return [Type(pointer_to(type.element)), *(I64 for entry in (*type.shape, *type.strides) if entry is None)]
    return [tile_type(type)]


def flattened(lowered: Lowered) -> list[Value]:
    """The TTIR values that carry a value; a descriptor is left behind."""
    if isinstance(lowered, Token):
        return []
    if isinstance(lowered, TileView):
        return flattened(lowered.tensor)
    if isinstance(lowered, TensorView):
        entries = zip((*lowered.type.shape, *lowered.type.strides), (*lowered.shape, *lowered.strides))
        return [lowered.base, *(value for entry, value in entries if entry is None)]
    return [lowered]
