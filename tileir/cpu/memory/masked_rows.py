"""Short rows of tiles at the border of a tensor, copied with their padding in whole vectors: what lies outside is not
read, and is zero.

Knows: which processors have instructions for that. Does not know: what lies inside (`cpu.memory.boxes`), nor long rows
(`cpu.memory.parts`), for which it pays to call a function.
"""

from __future__ import annotations

from llvmlite import ir

from tileir.cpu.emit.algebra import call_named
from tileir.cpu.emit.elements import I32, I64, memory_type
from tileir.cpu.emit.emitter import Emitter, Extent, Index
from tileir.cpu.emit.tiles import Window
from tileir.cpu.llvm.engine import host
from tileir.cpu.memory.parts import has_rows

MASKED_BITS = 512
"""Vectors that are read under a mask: those of AVX-512."""


def masked_dimension(copy: Window, memory: Window) -> int | None:
    """The dimension along which rows can be copied so; None if there is none, or the processor has no masks."""
    if host().vector_bits != MASKED_BITS:
        return None
    return next((dim for dim in range(copy.type.rank) if has_rows(copy, memory, dim)), None)


def copy_masked(
    emit: Emitter, copy: Window, memory: Window, dim: int, extent: Extent, index: Index, count: ir.Value
) -> None:
    """Copy `count` elements along `dim` from `index` on, then zeros, `extent` in all or up to the next whole vector."""
    builder, size = emit.builder, copy.element.byte_size
    lanes = min(MASKED_BITS // 8 // size, copy.type.shape[dim])
    with emit.counted(I64(0), I64(extent) if isinstance(extent, int) else extent, lanes) as position:
        at = (*index[:dim], position, *index[dim + 1 :])
        mask = _lanes_below(builder, builder.sub(count, position), lanes)
        loaded = _load(builder, _address(builder, memory, at), mask, ir.VectorType(ir.IntType(8 * size), lanes), size)
        builder.store(loaded, copy.address(emit, at), align=size)


def _lanes_below(builder: ir.IRBuilder, count: ir.Value, lanes: int) -> ir.Value:
    """The mask of as many lanes, from the first one on, as `count` says, which may be negative."""
    vector = ir.VectorType(I32, lanes)
    single = builder.insert_element(ir.Constant(vector, ir.Undefined), builder.trunc(count, I32), I32(0))
    counts = builder.shuffle_vector(single, single, ir.Constant(vector, [0] * lanes))
    return builder.icmp_signed("<", ir.Constant(vector, list(range(lanes))), counts)


def _address(builder: ir.IRBuilder, memory: Window, index: Index) -> ir.Value:
    """The address of an element that may lie outside of the memory."""
    offset: ir.Value = I64(0)
    for position, stride in zip(index, memory.strides):
        offset = builder.add(offset, builder.mul(position, stride))
    return builder.gep(memory.base, [offset], source_etype=memory_type(memory.element))


def _load(builder: ir.IRBuilder, address: ir.Value, mask: ir.Value, vector: ir.VectorType, align: int) -> ir.Value:
    """Elements where the mask is 1, and zeros elsewhere, where nothing is read."""
    name = f"llvm.masked.load.v{vector.count}i{vector.element.width}.p0"
    return call_named(builder, name, vector, [address, I32(align), mask, ir.Constant(vector, None)])
