"""Native code for `pack` and `unpack` (operations 3.13): tiles as little-endian bit streams.

Elements of whole bytes lie in the arena as in the stream; those of 1 or 4 bits share bytes, the lowest bits first.
"""

from __future__ import annotations

from llvmlite import ir

from tileir.cpu.elements import I8, I64, Num
from tileir.cpu.emitter import Emitter, Index
from tileir.cpu.lowering import Lower, Lowering
from tileir.cpu.tiles import Expression, Tile, Window, from_memory, materialized, new_buffer, row_major, to_memory
from tileir.ir import types as t
from tileir.ir.rules import Rules
from tileir.ops import core

rules: Rules[Lower] = Rules()


@rules(core.Pack)
def lower_pack(lowering: Lowering, op: core.Pack) -> None:
    source, bits = lowering.tile(op.source), _stream_bits(op.source.type)
    if bits < 8:
        packed = Expression(op.result.type, lambda emit, index: _gathered(emit, source, index[0], bits))
        lowering.bind(op.result, packed)
    else:
        lowering.values[op.result] = _reread(lowering.emit, source, op.result.type)


@rules(core.Unpack)
def lower_unpack(lowering: Lowering, op: core.Unpack) -> None:
    source, bits = lowering.tile(op.source), _stream_bits(op.result.type)
    if bits < 8:
        unpacked = Expression(op.result.type, lambda emit, index: _extracted(emit, source, index, bits, op.result.type))
        lowering.bind(op.result, unpacked)
    else:
        lowering.values[op.result] = _reread(lowering.emit, source, op.result.type)


def _stream_bits(type: t.TileType) -> int:
    """The width of an element in the stream: tf32 takes its 4 bytes."""
    assert isinstance(type.element, t.ElementType)
    return 1 if type.element is t.I1 else type.element.memory_bits


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
