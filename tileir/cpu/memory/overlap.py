"""Stores to memory in which elements of one tile may share a place: of those, the last in row-major order stays.

Tiles are written row by row along a dimension of unit stride. That keeps the order where it is the last one. Tile
blocks that run as one need no such care: where elements of one tile share a place, those of its neighbour do, too.

Knows: for which memory another order could be seen. Does not know: how tiles are written (`cpu.memory.boxes`).
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from tileir.cpu.emit.elements import I1, I64
from tileir.cpu.emit.tiles import Window


def apart(builder: ir.IRBuilder, memory: Window) -> ir.Value | None:
    """An i1: whether no two elements share a place, by strides that are nested; None if any row keeps the order."""
    dims = [dim for dim, extent in enumerate(memory.type.shape) if extent > 1]
    unit = next((dim for dim in dims[:-1] if _is_one(memory.strides[dim])), None)
    if unit is None:
        return None
    others = [dim for dim in dims if dim != unit]
    orders = [unit, *others], [unit, *reversed(others)]
    if all(isinstance(stride, ir.Constant) for stride in memory.strides) and any(
        _known(memory, dims) for dims in orders
    ):
        return None
    return builder.or_(*(_nested(builder, memory, dims) for dims in orders))


def _known(memory: Window, dims: Sequence[int]) -> bool:
    """`_nested`, of strides that are numbers."""
    reach = 0
    for dim in dims:
        stride = memory.strides[dim].constant
        if stride <= reach:
            return False
        reach += stride * (memory.type.shape[dim] - 1)
    return True


def _nested(builder: ir.IRBuilder, memory: Window, dims: Sequence[int]) -> ir.Value:
    """Whether each step along a dimension leads past all that lies along those before it."""
    reach, fine = I64(0), I1(1)
    for dim in dims:
        stride = memory.strides[dim]
        fine = builder.and_(fine, builder.icmp_signed(">", stride, reach))
        reach = builder.add(reach, builder.mul(stride, I64(memory.type.shape[dim] - 1)))
    return fine


def _is_one(stride: ir.Value) -> bool:
    return isinstance(stride, ir.Constant) and stride == I64(1)
