"""TTIR of the operations that move elements within tiles (spec: shapes#top)."""

from __future__ import annotations

from tileir.gpu.ttir.lib.subtiles import joined, put, taken
from tileir.gpu.ttir.lowering import Lower, TtirLowering
from tileir.ir.rules import Rules
from tileir.ops.shapes import Broadcast, Cat, Extract, Insert, Permute, Reshape

rules: Rules[Lower] = Rules()


@rules(Broadcast)
def lower_broadcast(lowering: TtirLowering, op: Broadcast) -> None:
    lowering.bind(op.result, lowering.build.broadcast(lowering.value(op.source), *op.result.type.shape))


@rules(Reshape)
def lower_reshape(lowering: TtirLowering, op: Reshape) -> None:
    lowering.bind(op.result, lowering.build.reshape(lowering.value(op.source), *op.result.type.shape))


@rules(Permute)
def lower_permute(lowering: TtirLowering, op: Permute) -> None:
    lowering.bind(op.result, lowering.build.transpose(lowering.value(op.source), *op.permutation))


@rules(Cat)
def lower_cat(lowering: TtirLowering, op: Cat) -> None:
    """Concatenate: extents are powers of two, so both operands have the same along `dim`."""
    lowering.bind(op.result, joined(lowering.build, lowering.value(op.lhs), lowering.value(op.rhs), op.dim))


@rules(Extract)
def lower_extract(lowering: TtirLowering, op: Extract) -> None:
    numbers = [lowering.value(index) for index in op.indices]
    lowering.bind(op.result, taken(lowering.build, lowering.value(op.source), op.result.type.shape, numbers))


@rules(Insert)
def lower_insert(lowering: TtirLowering, op: Insert) -> None:
    numbers = [lowering.value(index) for index in op.indices]
    whole, part = lowering.value(op.destination), lowering.value(op.source)
    lowering.bind(op.result, put(lowering.build, whole, part, numbers))
