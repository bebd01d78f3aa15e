"""Where the result of a matrix product will be stored: memory that is asked for while the last sums are made.

Knows: that a box of rows will be stored there, if what its place follows from is known before the product, and when
asking is worth while. Does not know: when it is asked for (`cpu.matmul.multiplication`).
"""

from __future__ import annotations

from llvmlite import ir

from tileir.cpu.analysis.needed import Product
from tileir.cpu.emit.elements import I8, I64
from tileir.cpu.emit.tiles import pointer_to, scalar
from tileir.cpu.lowering.state import Lowering
from tileir.cpu.matmul.panels import is_one
from tileir.cpu.matmul.prefetch import Overwritten
from tileir.cpu.memory.counts import start_of
from tileir.cpu.memory.streams import LEAST_STORED, blocks_of
from tileir.ops import views

LEAST_FETCHED = 1 << 20
"""Bytes that a launch stores at least, if they are asked for: less stays in a second-level cache."""


def overwritten_by(lowering: Lowering, product: Product) -> Overwritten | None:
    """The memory that the rows of a product's result go to; None if that is not known yet, or they lie otherwise."""
    store = None if lowering.strict else lowering.needed.store_of(product)
    made = None if store is None else store.address.op
    if store is None or not isinstance(made, views.MakePartitionView | views.MakeStridedView):
        return None
    tensor, type = made.tensor_view.op, made.result.type
    if not isinstance(tensor, views.MakeTensorView):
        return None
    strides = [_stride(lowering, tensor, dim) for dim in type.tensor_dims]
    if any(value not in lowering.values for value in (tensor.base, *store.indices)) or len(strides) < 2:
        return None
    builder, offset, size = lowering.builder, I64(0), type.element.byte_size
    for index, step, stride in zip(store.indices, type.tile_steps, strides):
        if stride is None:
            return None
        offset = builder.add(offset, builder.mul(start_of(lowering, index, step), stride))
    *_, by_row, by_column = strides
    if not is_one(by_column):
        return None
    base = pointer_to(builder, scalar(lowering.emit, lowering.tile(tensor.base)))
    first = builder.gep(base, [builder.mul(offset, I64(size))], source_etype=I8)
    return Overwritten(type.element, first, by_row, _is_worth_while(lowering, type.tile.count * size))


def _is_worth_while(lowering: Lowering, size: int) -> ir.Value:
    """An i1: the launch stores more in tiles of so many bytes than stays near, and not so much that it bypasses the
    cache."""
    builder = lowering.builder
    stored = builder.mul(blocks_of(lowering), I64(size))
    is_far, is_cached = (
        builder.icmp_unsigned(*bound)
        for bound in ((">=", stored, I64(LEAST_FETCHED)), ("<", stored, I64(LEAST_STORED)))
    )
    return builder.and_(is_far, is_cached)


def _stride(lowering: Lowering, tensor: views.MakeTensorView, dim: int) -> ir.Value | None:
    static = tensor.result.type.strides
    known = static[dim]
    if known is not None:
        return I64(known)
    given = tensor.dynamicStrides[sum(entry is None for entry in static[:dim])]
    return lowering.unsigned(given) if given in lowering.values else None
