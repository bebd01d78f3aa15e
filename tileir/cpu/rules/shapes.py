"""Native code for the shape operations (spec: shapes#top).

Operations that only say where an element comes from bind an expression with another index, or the memory that their
operand lies in with other strides; no element moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from llvmlite import ir

from tileir.cpu.emit.elements import I1, I64, Num
from tileir.cpu.emit.emitter import Emitter, Index
from tileir.cpu.emit.record import TrapKind
from tileir.cpu.emit.tiles import ExpressionTile, Permuted, Tile, Window, is_dense, new_buffer, row_major
from tileir.cpu.lowering.state import Lower, Lowering
from tileir.host import undefined
from tileir.ir.core import Op, Value
from tileir.ir.rules import Rules
from tileir.ops import shapes

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
    """The strides of the same elements in another shape; None where they have none."""
    before = window.type.shape
    if is_dense(window):
        return row_major(shape)
    if [extent for extent in before if extent != 1] != [extent for extent in shape if extent != 1]:
        return None
    kept = iter([stride for stride, extent in zip(window.strides, before) if extent != 1])
    return tuple(I64(0) if extent == 1 else next(kept) for extent in shape)


def reshaped(builder: ir.IRBuilder, index: Index, shape: Sequence[int], target: Sequence[int]) -> Index:
    """The index in `target` of the element that has `index` in `shape`, both in row-major order.

    Dimensions that both shapes have keep their index; the others go through the linear number, by shifts and masks
    since extents are powers of two.
    """
    kept = [at for at, extent in zip(index, shape) if extent != 1]
    if [extent for extent in shape if extent != 1] == [extent for extent in target if extent != 1]:
        rest = iter(kept)
        return tuple(I64(0) if extent == 1 else next(rest) for extent in target)
    linear: ir.Value = I64(0)
    for at, extent in zip(index, shape):
        linear = builder.add(builder.mul(linear, I64(extent)), at)
    return split(builder, linear, target)


def split(builder: ir.IRBuilder, linear: ir.Value, shape: Sequence[int]) -> Index:
    """The index of the element number `linear` in row-major order."""
    index, below = [], prod(shape)
    for extent in shape:
        below //= extent
        shifted = builder.lshr(linear, I64(below.bit_length() - 1))
        index.append(builder.and_(shifted, I64(extent - 1)) if extent > 1 else I64(0))
    return tuple(index)


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
    """The first element of the subtile at `indices`; out of range traps."""
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
