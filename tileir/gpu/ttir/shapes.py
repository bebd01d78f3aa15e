"""TTIR of the operations that move elements within tiles (specification 8.3).

Knows: which of them a tile of rank 0, held as a scalar, passes through unchanged. Does not know: how parts of tensors
are found (`subtiles`).
"""

from __future__ import annotations

from tileir.gpu.ttir.lowering import Lower, Lowering
from tileir.gpu.ttir.subtiles import joined, put, taken
from tileir.ir.rules import Rules
from tileir.ops.core import Broadcast, Cat, Extract, Insert, Permute, Reshape

rules: Rules[Lower] = Rules()


@rules(Broadcast)
def lower_broadcast(lowering: Lowering, op: Broadcast) -> None:
    lowering.bind(op.result, lowering.build.broadcast(lowering.value(op.source), *op.result.type.shape))


@rules(Reshape)
def lower_reshape(lowering: Lowering, op: Reshape) -> None:
    lowering.bind(op.result, lowering.build.reshape(lowering.value(op.source), *op.result.type.shape))


@rules(Permute)
def lower_permute(lowering: Lowering, op: Permute) -> None:
    lowering.bind(op.result, lowering.build.transpose(lowering.value(op.source), *op.permutation))


@rules(Cat)
def lower_cat(lowering: Lowering, op: Cat) -> None:
    """Extents are powers of two, so both operands have the same along `dim`."""
    lowering.bind(op.result, joined(lowering.build, lowering.value(op.lhs), lowering.value(op.rhs), op.dim))


@rules(Extract)
def lower_extract(lowering: Lowering, op: Extract) -> None:
    numbers = [lowering.value(index) for index in op.indices]
    lowering.bind(op.result, taken(lowering.build, lowering.value(op.source), op.result.type.shape, numbers))


@rules(Insert)
def lower_insert(lowering: Lowering, op: Insert) -> None:
    numbers = [lowering.value(index) for index in op.indices]
    whole, part = lowering.value(op.destination), lowering.value(op.source)
    lowering.bind(op.result, put(lowering.build, whole, part, numbers))
