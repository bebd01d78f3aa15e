"""Native code for the core chapter (specification 8.3) but reductions: constants, shapes, selection, the grid.

Operations that only say where an element comes from bind an expression with another index; no element moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from llvmlite import ir

from tileir.cpu.constants import from_bytes
from tileir.cpu.elements import I64, Num, memory_bytes
from tileir.cpu.emitter import Emitter, Index
from tileir.cpu.lowering import Lower, Lowering
from tileir.cpu.tiles import Expression, Moved, Permuted, Tile, Window, address_of, new_buffer, row_major, scalar, wide
from tileir.ir import types as t
from tileir.ir.attributes import DenseElements, element_bytes
from tileir.ir.core import Op, Value
from tileir.ir.rules import Rules
from tileir.ops import core

rules: Rules[Lower] = Rules()

# ---------------------------------------------------------------- constants and the grid


@rules(core.Constant)
def lower_constant(lowering: Lowering, op: core.Constant) -> None:
    lowering.values[op.result] = constant_tile(lowering, op.value)


def constant_tile(lowering: Lowering, value: DenseElements) -> Tile:
    """One LLVM constant for a splat; otherwise a constant array that elements are read from."""
    element = value.type.element
    assert isinstance(element, t.ElementType)
    if value.is_splat:
        number = from_bytes(element, value.data)
        return Expression(value.type, lambda emit, index: Num(element, wide=number.wide, bits=number.bits))
    return Window(value.type, _array(lowering.emit.module, value), row_major(value.type.shape))


def _array(module: ir.Module, value: DenseElements) -> ir.Value:
    array = ir.Constant(ir.ArrayType(ir.IntType(8), len(value.data)), bytearray(value.data))
    data = ir.GlobalVariable(module, array.type, module.get_unique_name("constant"))
    data.initializer, data.global_constant, data.linkage = array, True, "private"
    data.align = element_bytes(value.type.element)
    return data


@rules(core.Iota)
def lower_iota(lowering: Lowering, op: core.Iota) -> None:
    element = op.result.type.element
    kind = ir.IntType(element.bits)

    def compute(emit: Emitter, index: Index) -> Num:
        return Num(element, wide=index[0] if kind == I64 else emit.builder.trunc(index[0], kind))

    lowering.values[op.result] = Expression(op.result.type, compute)


@rules(core.GetTileBlockId)
def lower_get_tile_block_id(lowering: Lowering, op: core.GetTileBlockId) -> None:
    for result, number in zip(op.results, lowering.block_id):
        lowering.bind_number(result, number)


@rules(core.GetNumTileBlocks)
def lower_get_num_tile_blocks(lowering: Lowering, op: core.GetNumTileBlocks) -> None:
    for result, number in zip(op.results, lowering.grid):
        lowering.bind_number(result, number)


# ---------------------------------------------------------------- index mappings


@rules(core.Broadcast)
def lower_broadcast(lowering: Lowering, op: core.Broadcast) -> None:
    source, extents = lowering.tile(op.source), op.source.type.shape

    def compute(emit: Emitter, index: Index) -> Num:
        return source.at(emit, tuple(I64(0) if extent == 1 else at for at, extent in zip(index, extents)))

    lowering.bind(op.result, Expression(op.result.type, compute))


@rules(core.Reshape)
def lower_reshape(lowering: Lowering, op: core.Reshape) -> None:
    source, before, after = lowering.tile(op.source), op.source.type.shape, op.result.type.shape
    lowering.bind(
        op.result,
        Expression(op.result.type, lambda emit, index: source.at(emit, reshaped(emit.builder, index, after, before))),
    )


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


@rules(core.Permute)
def lower_permute(lowering: Lowering, op: core.Permute) -> None:
    lowering.bind(op.result, Permuted(op.result.type, lowering.tile(op.source), op.permutation))


@rules(core.Extract)
def lower_extract(lowering: Lowering, op: core.Extract) -> None:
    source, extents = lowering.tile(op.source), op.result.type.shape
    begin = subtile(lowering, op, op.indices, op.source.type.shape, extents)

    def compute(emit: Emitter, index: Index) -> Num:
        return source.at(emit, tuple(emit.builder.add(start, at) for start, at in zip(begin, index)))

    lowering.bind(op.result, Expression(op.result.type, compute))


def subtile(
    lowering: Lowering, op: Op, indices: list[Value], whole: Sequence[int], part: Sequence[int]
) -> list[ir.Value]:
    """The first element of the subtile at `indices`; out of range traps."""
    builder, begin = lowering.builder, []
    for value, extent, size in zip(indices, whole, part):
        index = builder.zext(wide(builder, scalar(lowering.emit, lowering.tile(value))), I64)
        outside = builder.icmp_unsigned(">=", index, I64(extent // size))
        lowering.emit.trap_if(outside, op, f"the subtile index of '{op.spec.name}' is out of range")
        begin.append(builder.mul(index, I64(size)))
    return begin


# ---------------------------------------------------------------- tiles put together


@rules(core.Insert)
def lower_insert(lowering: Lowering, op: core.Insert) -> None:
    emit, type = lowering.emit, op.result.type
    source, destination = lowering.tile(op.source), lowering.tile(op.destination)
    begin = subtile(lowering, op, op.indices, type.shape, op.source.type.shape)
    target = new_buffer(emit, type)
    emit.loop_nest(type.shape, lambda index: target.put(emit, index, destination.at(emit, index)))
    _place(emit, target, source, begin)
    lowering.values[op.result] = target


@rules(core.Cat)
def lower_cat(lowering: Lowering, op: core.Cat) -> None:
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


@rules(core.Select)
def lower_select(lowering: Lowering, op: core.Select) -> None:
    cond, yes, no = lowering.tile(op.cond), lowering.tile(op.val_if_true), lowering.tile(op.val_if_false)

    def compute(emit: Emitter, index: Index) -> Num:
        return selected(emit.builder, wide(emit.builder, cond.at(emit, index)), yes.at(emit, index), no.at(emit, index))

    lowering.bind(op.result, Expression(op.result.type, compute))


def selected(builder: ir.IRBuilder, condition: ir.Value, yes: Num, no: Num) -> Num:
    """One of two elements, in a form that both have, so that neither is converted for it."""
    if yes.base is not None and yes.base is no.base:
        return Num(yes.element, wide=builder.select(condition, yes.wide, no.wide), base=yes.base)
    if yes.bits is not None and no.bits is not None:
        return Num(yes.element, bits=builder.select(condition, yes.bits, no.bits))
    if isinstance(yes.element, t.PointerType):
        return Num(yes.element, wide=builder.select(condition, address_of(builder, yes), address_of(builder, no)))
    return Num(yes.element, wide=builder.select(condition, wide(builder, yes), wide(builder, no)))


# ---------------------------------------------------------------- pointers


@rules(core.Offset)
def lower_offset(lowering: Lowering, op: core.Offset) -> None:
    pointers, offsets = lowering.tile(op.ptr), lowering.tile(op.offset)
    element = op.result.type.element
    assert isinstance(element, t.PointerType)

    def distance(emit: Emitter, index: Index) -> ir.Value:
        steps = wide(emit.builder, offsets.at(emit, index))
        steps = steps if steps.type == I64 else emit.builder.sext(steps, I64)
        return byte_distance(emit.builder, element.pointee, steps)

    lowering.bind(op.result, Moved(op.result.type, pointers, distance))


def byte_distance(builder: ir.IRBuilder, pointee: t.ElementType, steps: ir.Value) -> ir.Value:
    """Bytes between elements `steps` apart; of 4-bit elements two share a byte (rounded toward zero)."""
    if pointee.memory_bits == 4:
        return builder.sdiv(steps, I64(2))
    return builder.mul(steps, I64(memory_bytes(pointee)))
