"""Hints for types that do not fit, where there is an obvious mend."""

from __future__ import annotations

from tileir.ir.core import Op
from tileir.ir.traits import Relation, TerminatedBy
from tileir.ir.types import INTS, PointerType, TensorViewType, TileType, Type
from tileir.ops.constraints import BASE_FLOATS

_FOR_INTEGERS = {
    "absf": "absi",
    "addf": "addi",
    "cmpf": "cmpi",
    "divf": "divi",
    "maxf": "maxi",
    "minf": "mini",
    "mmaf": "mmai",
    "mulf": "muli",
    "negf": "negi",
    "remf": "remi",
    "subf": "subi",
}
_FOR_FLOATS = {integer: floating for floating, integer in _FOR_INTEGERS.items()}
_OF_TILE_VIEWS = ("load_view_tko", "store_view_tko", "get_index_space_shape")


def twin_hint(op: Op, type: Type) -> str | None:
    """Names the operation that does the same for elements of `type`, or makes what `op` takes of it, where there is
    one."""
    if isinstance(type, TensorViewType) and op.spec.name in _OF_TILE_VIEWS:
        return "'make_partition_view' cuts it into tiles"
    element = type.element if isinstance(type, TileType) else None
    if isinstance(element, PointerType):
        return _pointer_hint(op)
    if element in INTS and op.spec.name in _FOR_INTEGERS:
        return f"'{_FOR_INTEGERS[op.spec.name]}' takes integers"
    if element in BASE_FLOATS and op.spec.name in _FOR_FLOATS:
        return f"'{_FOR_FLOATS[op.spec.name]}' takes floats"
    return None


def _pointer_hint(op: Op) -> str | None:
    if op.spec.name in ("addi", "subi"):
        return "'offset' moves pointers"
    if op.spec.name == "bitcast":
        return "'int_to_ptr', 'ptr_to_int' and 'ptr_to_ptr' convert pointers"
    return None


def ending_hint(op: Op, parent: Op) -> str | None:
    """Names what ends a block of `parent`, for an operation that ends those of others."""
    trait = parent.spec.trait(TerminatedBy)
    if trait is None or not op.spec.terminator:
        return None
    names = " or ".join(f"'{name}'" for name in (trait.terminator, *trait.also))
    return f"a block of '{parent.spec.name}' ends with {names}"


def relation_hint(relation: Relation, type: Type, other: Type) -> str | None:
    """Names what brings two tiles to the same rank or shape, if one of them only lacks dimensions or repetition."""
    if not isinstance(type, TileType) or not isinstance(other, TileType):
        return None
    if relation is Relation.RANK:
        return "'reshape' adds or drops dimensions of extent 1"
    is_scalar = bool(type.shape) != bool(other.shape)
    if is_scalar and (relation is Relation.SHAPE or (relation is Relation.TYPE and type.element is other.element)):
        return "'reshape' and 'broadcast' make a tile of a scalar"
    return None
