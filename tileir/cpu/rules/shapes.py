"""Native code for the shape operations (spec: shapes#top), and for `pack` and `unpack` (spec: packing#pack).

Operations that only say where an element comes from bind an expression with another index, or the memory that their
operand lies in with other strides; no element moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from llvmlite import ir

from tileir.cpu.emit.elements import I1, I8, I64, Num
from tileir.cpu.emit.emitter import Emitter, Index, split
from tileir.cpu.emit.record import TrapKind
from tileir.cpu.emit.tiles import (
    ExpressionTile,
    Permuted,
    Tile,
    Window,
    distance,
    from_memory,
    is_dense,
    materialized,
    new_buffer,
    row_major,
    to_memory,
)
from tileir.cpu.lowering.state import Lower, Lowering
from tileir.host import undefined
from tileir.ir import types as t
from tileir.ir.core import Op, Value
from tileir.ir.rules import Rules
from tileir.ops import packing, shapes

rules: Rules[Lower] = Rules()


@rules(shapes.Broadcast)
def lower_broadcast(lowering: Lowering, op: shapes.Broadcast) -> None:
    source, extents = lowering.tile(op.source), op.source.type.shape

    def compute(emit: Emitter, index: Index) -> Num:
        return source.at(emit, tuple(I64(0) if extent == 1 else at for at, extent in zip(index, extents)))

    if isinstance(source, Window):
        strides = tuple(I64(0) if extent == 1 else stride for extent, stride in zip(extents, source.strides))
        lowering.bind(op.result, replace(source, type=op.result.type, strides=strides))
    else:
        lowering.bind(op.result, ExpressionTile(op.result.type, compute))


@rules(shapes.Reshape)
def lower_reshape(lowering: Lowering, op: shapes.Reshape) -> None:
    source, before, after = lowering.tile(op.source), op.source.type.shape, op.result.type.shape

    def compute(emit: Emitter, index: Index) -> Num:
        return source.at(emit, reshaped(emit.builder, index, after, before))

    if isinstance(source, Window) and (strides := _strides(source, after)) is not None:
        lowering.bind(op.result, replace(source, type=op.result.type, strides=strides))
    else:
        lowering.bind(op.result, ExpressionTile(op.result.type, compute))


def _strides(window: Window, shape: Sequence[int]) -> tuple[ir.Value, ...] | None:
    """Return the strides of the same elements in another shape; None where they have none."""
    before = window.type.shape
    if is_dense(window):
        return row_major(shape)
    if [extent for extent in before if extent != 1] != [extent for extent in shape if extent != 1]:
        return None
    kept = iter([stride for stride, extent in zip(window.strides, before) if extent != 1])
    return tuple(I64(0) if extent == 1 else next(kept) for extent in shape)


def reshaped(builder: ir.IRBuilder, index: Index, shape: Sequence[int], target: Sequence[int]) -> Index:
    """Return the index in `target` of the element that has `index` in `shape`, both in row-major order.

    Dimensions that both shapes have keep their index; the others go through the linear number, by shifts and masks
    since extents are powers of two.
    """
    kept = [at for at, extent in zip(index, shape) if extent != 1]
    if [extent for extent in shape if extent != 1] == [extent for extent in target if extent != 1]:
        rest = iter(kept)
        return tuple(I64(0) if extent == 1 else next(rest) for extent in target)
    return split(builder, distance(builder, index, row_major(shape)), target)


@rules(shapes.Permute)
def lower_permute(lowering: Lowering, op: shapes.Permute) -> None:
    lowering.bind(op.result, Permuted(op.result.type, lowering.tile(op.source), op.permutation))


@rules(shapes.Extract)
def lower_extract(lowering: Lowering, op: shapes.Extract) -> None:
    source, extents = lowering.tile(op.source), op.result.type.shape
    begin = subtile(lowering, op, op.indices, op.source.type.shape, extents)

    def compute(emit: Emitter, index: Index) -> Num:
        return source.at(emit, tuple(emit.builder.add(start, at) for start, at in zip(begin, index)))

    lowering.bind(op.result, ExpressionTile(op.result.type, compute))


def subtile(
    lowering: Lowering, op: Op, indices: Sequence[Value], whole: Sequence[int], part: Sequence[int]
) -> list[ir.Value]:
    """Return the first element of the subtile at `indices`; out of range traps."""
    builder = lowering.builder
    counts = [extent // size for extent, size in zip(whole, part)]
    numbers = [lowering.unsigned(value) for value in indices]
    outside: ir.Value = I1(0)
    for number, count in zip(numbers, counts):
        outside = builder.or_(outside, builder.icmp_unsigned(">=", number, I64(count)))
    message = undefined.no_subtile(["{}"] * len(numbers), counts)
    lowering.emit.trap_with(outside, op, message, TrapKind.SUBTILE, numbers)
    return [builder.mul(number, I64(size)) for number, size in zip(numbers, part)]


@rules(shapes.Insert)
def lower_insert(lowering: Lowering, op: shapes.Insert) -> None:
    emit, type = lowering.emit, op.result.type
    source, destination = lowering.tile(op.source), lowering.tile(op.destination)
    begin = subtile(lowering, op, op.indices, type.shape, op.source.type.shape)
    target = new_buffer(emit, type)
    emit.loop_nest(type.shape, lambda index: target.put(emit, index, destination.at(emit, index)))
    _place(emit, target, source, begin)
    lowering.values[op.result] = target


@rules(shapes.Cat)
def lower_cat(lowering: Lowering, op: shapes.Cat) -> None:
    emit, lhs, rhs = lowering.emit, lowering.tile(op.lhs), lowering.tile(op.rhs)
    target = new_buffer(emit, op.result.type)
    begin = [I64(0)] * lhs.type.rank
    _place(emit, target, lhs, begin)
    begin[op.dim] = I64(lhs.type.shape[op.dim])
    _place(emit, target, rhs, begin)
    lowering.values[op.result] = target


def _place(emit: Emitter, target: Window, part: Tile, begin: Sequence[ir.Value]) -> None:
    """Write `part` into `target` from the element `begin` on."""

    def body(index: Index) -> None:
        place = tuple(emit.builder.add(start, at) for start, at in zip(begin, index))
        target.put(emit, place, part.at(emit, index))

    emit.loop_nest(part.type.shape, body)


# ---------------------------------------------------------------- tiles as little-endian bit streams
#
# Elements of whole bytes lie in the arena as in the stream; those of 1 or 4 bits share bytes, the lowest bits first.


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
    """Return the bytes of a dense tile as elements of another type."""
    dense = new_buffer(emit, source.type)
    emit.loop_nest(source.type.shape, lambda index: dense.put(emit, index, source.at(emit, index)))
    return materialized(emit, Window(type, dense.base, row_major(type.shape)))


def _gathered(emit: Emitter, source: Tile, byte: ir.Value, bits: int) -> Num:
    """Return a byte made of the elements that share it."""
    builder, count = emit.builder, 8 // bits
    first, total = builder.mul(byte, I64(count)), I8(0)
    for position in range(count):
        element = to_memory(builder, source.at(emit, (builder.add(first, I64(position)),)))
        total = builder.or_(total, builder.shl(element, I8(position * bits)))
    return Num(t.I8, wide=total)


def _extracted(emit: Emitter, source: Tile, index: Index, bits: int, type: t.TileType) -> Num:
    """Return the element at `index`, out of the byte that it shares."""
    builder, count = emit.builder, 8 // bits
    byte = to_memory(builder, source.at(emit, (builder.udiv(index[0], I64(count)),)))
    place = builder.trunc(builder.urem(index[0], I64(count)), I8)
    shifted = builder.lshr(byte, builder.mul(place, I8(bits)))
    return from_memory(builder, type.element, builder.and_(shifted, I8((1 << bits) - 1)))
