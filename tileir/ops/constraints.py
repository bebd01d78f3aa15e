"""The sets of types that operands and results may have (spec: conventions#type-sets)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from tileir.ir import types as t
from tileir.ir.traits import TypeConstraint

T = TypeVar("T", bound=t.Type)

BASE_FLOATS = (t.F16, t.BF16, t.F32, t.F64)
WIDE_INTS = (*t.INTS, t.I4)


def tile_of(elements: Iterable[t.ElementType], rank: int | None = None) -> TypeConstraint[t.TileType]:
    """Return a tile whose element type is one of `elements`, of any shape or of the given rank."""
    members = tuple(elements)
    allowed = frozenset(members)
    what = "a scalar tile" if rank == 0 else "a tile"
    only = t.TileType((), members[0]) if rank == 0 and len(members) == 1 else None

    def accepts(type: t.Type) -> bool:
        return isinstance(type, t.TileType) and type.element in allowed and (rank is None or type.rank == rank)

    return TypeConstraint(f"{what} of {_listed([element.name for element in members])}", accepts, only)


def _pointer_tile(rank: int | None = None) -> TypeConstraint[t.TileType]:
    def accepts(type: t.Type) -> bool:
        if not (isinstance(type, t.TileType) and isinstance(type.element, t.PointerType)):
            return False
        return rank is None or type.rank == rank

    return TypeConstraint("a scalar tile of a pointer" if rank == 0 else "a tile of pointers", accepts)


def _instance(text: str, cls: type[T], only: T | None = None) -> TypeConstraint[T]:
    return TypeConstraint(text, lambda type: isinstance(type, cls), only)


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


ANY = _instance("any type", t.Type)
TILE = _instance("a tile", t.TileType)
INT_TILE = tile_of(t.INTS)
WIDE_INT_TILE = tile_of((t.I1, t.I4, t.I8, t.I16, t.I32, t.I64))
I1_TILE = tile_of((t.I1,))
I8_TILE = tile_of((t.I8,))
I32_TILE = tile_of((t.I32,))
I64_TILE = tile_of((t.I64,))
SMALL_INT_TILE = tile_of((t.I1, t.I8, t.I16, t.I32))
BASE_FLOAT_TILE = tile_of(BASE_FLOATS)
FLOAT_TILE = tile_of(t.FLOATS)
NUMBER_TILE = tile_of(t.NUMBERS)
PACKABLE_TILE = tile_of((*t.NUMBERS, t.I4))
MMA_INPUT_TILE = tile_of((t.F8E4M3FN, t.F8E5M2, t.F16, t.BF16, t.TF32, t.F32, t.F64))
MMA_ACC_TILE = tile_of((t.F16, t.F32, t.F64))
SCALED_INPUT_TILE = tile_of((t.F8E4M3FN, t.F8E5M2, t.F4E2M1FN))
SCALE_TILE = tile_of((t.F8E8M0FNU, t.F8E4M3FN, t.FNV8E5M3FNU))
F32_TILE = tile_of((t.F32,))
POINTER_TILE = _pointer_tile()
SCALAR_POINTER = _pointer_tile(0)
SCALAR_INT = tile_of(t.INTS, 0)
SCALAR_I1 = tile_of((t.I1,), 0)
SCALAR_I32 = tile_of((t.I32,), 0)
TOKEN = _instance("a token", t.TokenType, t.TOKEN)
TENSOR_VIEW = _instance("a tensor_view", t.TensorViewType)
TILE_VIEW = _instance("a partition_view, strided_view or gather_scatter_view", t.TileViewType)
PARTITION_VIEW = _instance("a partition_view", t.PartitionViewType)
STRIDED_VIEW = _instance("a strided_view", t.StridedViewType)
GATHER_SCATTER_VIEW = _instance("a gather_scatter_view", t.GatherScatterViewType)
