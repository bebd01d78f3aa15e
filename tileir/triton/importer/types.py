"""Types of TTIR as types of Tile IR."""

from __future__ import annotations

from tileir.ir import types as t
from tileir.triton.importer.faults import mismatch, refused
from tileir.triton.importer.syntax import MlirDescriptor, MlirPointer, MlirScalar, MlirTensor, MlirType

_SPELLINGS = {"index": "i64", "si8": "i8", "ui8": "i8", "si16": "i16", "ui16": "i16", "si32": "i32", "ui32": "i32"}
_SPELLINGS |= {"si64": "i64", "ui64": "i64"}
ADDRESS = t.I64
"""The type that a pointer has in memory."""


def element_type(type: MlirType) -> t.ElementType | t.PointerType:
    """Return the type of an element, or of what a scalar tile holds."""
    if isinstance(type, MlirPointer):
        return t.PointerType(memory_element(type.pointee))
    if not isinstance(type, MlirScalar):
        raise mismatch(f"expected a number or a pointer, got {type}")
    found = t.ELEMENTS.get(_SPELLINGS.get(type.name, type.name))
    if found is None or found is t.I4:
        raise refused(f"Tile IR has no numbers of type {type}", "convert to f8E4M3FN, f8E5M2 or f16 before")
    return found


def memory_element(type: MlirType) -> t.ElementType:
    """Return the type of an element in memory, where pointers are addresses."""
    element = element_type(type)
    return element if isinstance(element, t.ElementType) else ADDRESS


def tile_type(type: MlirType, lifted: tuple[int, ...] = ()) -> t.TileType:
    """Return a scalar as a tile of the shape `lifted`, a tensor as a tile of its own."""
    try:
        if isinstance(type, MlirTensor):
            return t.TileType(type.shape, element_type(type.element))
        return t.TileType(lifted, element_type(type))
    except t.InvalidType as error:
        raise mismatch(error.message) from None


def flat_types(type: MlirType) -> list[t.TileType]:
    """Return the types of the tiles that carry a value: one, or those of a descriptor's base, extents, strides and, for
    a block pointer, offsets."""
    if not isinstance(type, MlirDescriptor):
        return [tile_type(type)]
    base, rank = t.tile(t.PointerType(memory_element(type.element))), len(type.shape)
    extents, strides = [t.tile(t.I64 if type.is_pointer else t.I32)] * rank, [t.tile(t.I64)] * rank
    return [base, *extents, *strides, *([t.tile(t.I32)] * rank if type.is_pointer else [])]
