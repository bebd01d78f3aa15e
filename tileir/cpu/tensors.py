"""Tensor views and tile views while a kernel is lowered, and the index operands of view operations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from llvmlite import ir

from tileir.cpu.elements import I64
from tileir.cpu.tiles import scalar, wide
from tileir.ir import types as t
from tileir.ir.core import Value

if TYPE_CHECKING:
    from tileir.cpu.lowering import Lowering


@dataclass(eq=False)
class TensorView:
    """A tensor in memory: its address, extents and strides (i64, elements), one per dimension."""

    base: ir.Value
    extents: list[ir.Value]
    strides: list[ir.Value]


@dataclass(eq=False)
class TileView:
    tensor: TensorView
    type: t.TileViewType


def unsigned(lowering: Lowering, value: Value) -> ir.Value:
    """A scalar integer read as unsigned, as an i64."""
    number = wide(lowering.builder, scalar(lowering.emit, lowering.tile(value)))
    return number if number.type == I64 else lowering.builder.zext(number, I64)


def tensor_view(lowering: Lowering, value: Value) -> TensorView:
    found = lowering.values[value]
    assert isinstance(found, TensorView)
    return found


def tile_view(lowering: Lowering, value: Value) -> TileView:
    found = lowering.values[value]
    assert isinstance(found, TileView)
    return found


def tensor_dims(type: t.TileViewType) -> tuple[int, ...]:
    """The tensor dimension of each tile dimension."""
    if isinstance(type, t.PartitionViewType | t.StridedViewType):
        return type.dim_map
    return tuple(range(type.rank))


def tile_steps(type: t.TileViewType) -> tuple[int, ...]:
    """Elements from one tile to the next along each tile dimension."""
    if isinstance(type, t.StridedViewType):
        return type.traversal_strides
    return type.tile_shape if isinstance(type, t.PartitionViewType) else (1,) * type.rank
