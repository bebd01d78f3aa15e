"""Counting the elements of memory that an operation accesses: those that no mask leaves out and that lie in the tensor.

Knows: how they are found, one by one. Does not know: where the sum is kept (`cpu.lowering.counting`).
"""

from __future__ import annotations

from llvmlite import ir

from tileir.analysis.effects import MemoryAccess, checked_access
from tileir.cpu.emit.elements import I64
from tileir.cpu.emit.emitter import Index
from tileir.cpu.emit.tiles import wide
from tileir.cpu.lowering.state import Lowering
from tileir.cpu.memory.gather import Gather, gather, gather_rows
from tileir.ir import types as t
from tileir.ir.core import Op


def count_access(lowering: Lowering, op: Op) -> None:
    """Emit, in front of an operation, what adds the number of its elements to the operation's sum."""
    access, counters = checked_access(op), lowering.counters
    assert counters is not None, "this is code that counts"
    tile = access.value or access.result
    assert tile is not None, "an access moves a tile"
    if isinstance(access.address.type, t.TileType):
        number = _unmasked(lowering, access)
    else:
        number = _inside(lowering, _gathered(lowering, access), tile.tile)
    counters.add(lowering.emit, counters.of_access(op), number)


def _unmasked(lowering: Lowering, access: MemoryAccess) -> ir.Value:
    if access.mask is None:
        return I64(access.address.tile.count)
    emit, builder, cell = lowering.emit, lowering.builder, lowering.emit.stack(I64)
    mask = lowering.tile(access.mask)
    builder.store(I64(0), cell)

    def visit(index: Index) -> None:
        on = builder.zext(wide(builder, mask.at(emit, index)), I64)
        builder.store(builder.add(builder.load(cell, typ=I64), on), cell)

    emit.loop_nest(mask.type.shape, visit)
    return builder.load(cell, typ=I64)


def _gathered(lowering: Lowering, access: MemoryAccess) -> Gather:
    if isinstance(access.address.type, t.TensorViewType):
        assert access.sparse_dim is not None, "only rows are taken from a tensor view itself"
        return gather_rows(lowering, lowering.tensor_view(access.address), access.sparse_dim, access.indices)
    return gather(lowering, lowering.tile_view(access.address), access.indices)


def _inside(lowering: Lowering, where: Gather, type: t.TileType) -> ir.Value:
    emit, builder, cell = lowering.emit, lowering.builder, lowering.emit.stack(I64)
    builder.store(I64(0), cell)

    def visit(index: Index, offset: ir.Value) -> None:
        builder.store(builder.add(builder.load(cell, typ=I64), I64(1)), cell)

    where.each_inside(emit, type.shape, visit)
    return builder.load(cell, typ=I64)
