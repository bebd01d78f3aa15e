"""Native code for `pack` and `unpack` (spec: packing#pack): tiles as little-endian bit streams.

Elements of whole bytes lie in the arena as in the stream; those of 1 or 4 bits share bytes, the lowest bits first.
"""

from __future__ import annotations

from llvmlite import ir

from tileir.cpu.emit.elements import I8, I64, Num
from tileir.cpu.emit.emitter import Emitter, Index
from tileir.cpu.emit.tiles import (
    ExpressionTile,
    Tile,
    Window,
    from_memory,
    materialized,
    new_buffer,
    row_major,
    to_memory,
)
from tileir.cpu.lowering.state import Lower, Lowering
from tileir.ir import types as t
from tileir.ir.rules import Rules
from tileir.ops import packing

rules: Rules[Lower] = Rules()


@rules(packing.Pack)
def lower_pack(lowering: Lowering, op: packing.Pack) -> None:
    source, bits = lowering.tile(op.source), op.source.type.element.stream_bits
    if bits < 8:
        packed = ExpressionTile(op.result.type, lambda emit, index: _gathered(emit, source, index[0], bits))
        lowering.bind(op.result, packed)
    else:
        lowering.values[op.result] = _reread(lowering.emit, source, op.result.type)


@rules(packing.Unpack)
def lower_unpack(lowering: Lowering, op: packing.Unpack) -> None:
    source, bits = lowering.tile(op.source), op.result.type.element.stream_bits
    if bits < 8:
        unpacked = ExpressionTile(
            op.result.type, lambda emit, index: _extracted(emit, source, index, bits, op.result.type)
        )
        lowering.bind(op.result, unpacked)
    else:
        lowering.values[op.result] = _reread(lowering.emit, source, op.result.type)


def _reread(emit: Emitter, source: Tile, type: t.TileType) -> Tile:
    """The bytes of a dense tile as elements of another type."""
    dense = new_buffer(emit, source.type)
    emit.loop_nest(source.type.shape, lambda index: dense.put(emit, index, source.at(emit, index)))
    return materialized(emit, Window(type, dense.base, row_major(type.shape)))


def _gathered(emit: Emitter, source: Tile, byte: ir.Value, bits: int) -> Num:
    """A byte made of the elements that share it."""
    builder, count = emit.builder, 8 // bits
    first, total = builder.mul(byte, I64(count)), I8(0)
    for position in range(count):
        element = to_memory(builder, source.at(emit, (builder.add(first, I64(position)),)))
        total = builder.or_(total, builder.shl(element, I8(position * bits)))
    return Num(t.I8, wide=total)


def _extracted(emit: Emitter, source: Tile, index: Index, bits: int, type: t.TileType) -> Num:
    """The element at `index`, out of the byte that it shares."""
    builder, count = emit.builder, 8 // bits
    byte = to_memory(builder, source.at(emit, (builder.udiv(index[0], I64(count)),)))
    place = builder.trunc(builder.urem(index[0], I64(count)), I8)
    shifted = builder.lshr(byte, builder.mul(place, I8(bits)))
    return from_memory(builder, type.element, builder.and_(shifted, I8((1 << bits) - 1)))
