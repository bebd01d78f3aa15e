"""The edges of tensors: where a tile leaves its tensor, and what a program must not do there.

Knows: how much of a tile lies in its tensor, and what strict mode reports of that (spec: undefined#catalogue).
Does not know: memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llvmlite import ir

from tileir.analysis.effects import checked_access
from tileir.cpu.emit.elements import I1, I64
from tileir.cpu.emit.tiles import NativeTileView, Tile, wide
from tileir.cpu.lowering.state import Lowering
from tileir.cpu.memory.boxes import box
from tileir.host import undefined
from tileir.ir import types as t
from tileir.ir.core import Op, Value


@dataclass(frozen=True)
class Covered:
    """How many positions of each dimension of a tile lie in the tensor; `whole` is an i1: all of them."""

    counts: list[ir.Value]
    whole: ir.Value


def look_at_edges(lowering: Lowering, op: Op) -> Covered:
    """Trap where an access through a view leaves its tensor as it must not; gives what lies inside."""
    access = checked_access(op)
    emit, builder, view = lowering.emit, lowering.builder, lowering.tile_view(access.address)
    sparse = isinstance(view.type, t.GatherScatterViewType)
    counts = (_gathered if sparse else _boxed)(lowering, view, access.indices)
    if not sparse:
        for dim, count in enumerate(counts):
            emit.trap_if(builder.icmp_unsigned("==", count, I64(0)), op, undefined.outside_index_space(dim))
    whole: ir.Value = I1(1)
    inside = [builder.icmp_unsigned("==", count, I64(n)) for count, n in zip(counts, view.type.tile_shape)]
    for flag in inside:
        whole = builder.and_(whole, flag)
    for dim, promise in enumerate(op.attributes.get("inbounds") or ()):
        if promise:
            emit.trap_if(builder.not_(inside[dim]), op, undefined.not_inbounds(dim))
    return Covered(counts, whole)


def _boxed(lowering: Lowering, view: NativeTileView, index: Sequence[Value]) -> list[ir.Value]:
    return list(box(lowering, view, index, view.type.tile_shape).counts)


def _gathered(lowering: Lowering, view: NativeTileView, index: Sequence[Value]) -> list[ir.Value]:
    """One dimension has rows, each inside or not; the others begin at their index."""
    assert isinstance(view.type, t.GatherScatterViewType)
    builder, counts = lowering.builder, []
    for dim, (value, extent) in enumerate(zip(index, view.type.tile_shape)):
        limit = view.tensor.extents[dim]
        if dim == view.type.sparse_dim:
            counts.append(_rows_inside(lowering, lowering.tile(value), limit))
            continue
        start = lowering.unsigned(value)
        left = builder.sub(limit, start)
        left = builder.select(builder.icmp_unsigned("<", start, limit), left, I64(0))
        counts.append(builder.select(builder.icmp_unsigned("<", left, I64(extent)), left, I64(extent)))
    return counts


def _rows_inside(lowering: Lowering, rows: Tile, limit: ir.Value) -> ir.Value:
    emit, builder = lowering.emit, lowering.builder
    count = emit.stack(I64)
    builder.store(I64(0), count)

    def visit(index: tuple[ir.Value, ...]) -> None:
        row = wide(builder, rows.at(emit, index))
        row = row if row.type == I64 else builder.zext(row, I64)
        inside = builder.zext(builder.icmp_unsigned("<", row, limit), I64)
        builder.store(builder.add(builder.load(count, typ=I64), inside), count)

    emit.loop_nest(rows.type.shape, visit)
    return builder.load(count, typ=I64)
