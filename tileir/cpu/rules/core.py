"""Native code for the core chapter (spec: core#top): constants, the grid, selection, pointers, globals."""

from __future__ import annotations

from llvmlite import ir

from tileir.cpu.emit.algebra import Int
from tileir.cpu.emit.elements import DOUBLE, I64, PTR, Num, from_bytes
from tileir.cpu.emit.emitter import Emitter, Index, as_i64
from tileir.cpu.emit.tiles import ExpressionTile, Scalar, Tile, Window, address_of, row_major, wide
from tileir.cpu.lowering.reports import trap_where
from tileir.cpu.lowering.state import Lower, Lowering
from tileir.host import undefined
from tileir.ir import types as t
from tileir.ir.attributes import DenseElements
from tileir.ir.rules import Rules
from tileir.ops import core

rules: Rules[Lower] = Rules()
strict: Rules[Lower] = Rules()

# ---------------------------------------------------------------- constants and the grid


@rules(core.Constant)
def lower_constant(lowering: Lowering, op: core.Constant) -> None:
    lowering.values[op.result] = constant_tile(lowering, op.value)


def constant_tile(lowering: Lowering, value: DenseElements) -> Tile:
    """Return a splat as one LLVM constant, anything else as a constant array that elements are read from."""
    element = value.element
    if value.is_splat:
        number = from_bytes(element, value.data)
        return ExpressionTile(value.type, lambda emit, index: Num(element, wide=number.wide, bits=number.bits))
    return Window(value.type, _array(lowering.emit.module, value), row_major(value.type.shape))


def _array(module: ir.Module, value: DenseElements) -> ir.Value:
    array = ir.Constant(ir.ArrayType(ir.IntType(8), len(value.data)), bytearray(value.data))
    data = ir.GlobalVariable(module, array.type, module.get_unique_name("constant"))
    data.initializer, data.global_constant, data.linkage = array, True, "private"
    data.align = value.element.byte_size
    data.type = PTR  # llvmlite's own type says what it points to
    return data


@rules(core.Iota)
def lower_iota(lowering: Lowering, op: core.Iota) -> None:
    element = op.result.type.element
    kind = ir.IntType(element.bits)

    def compute(emit: Emitter, index: Index) -> Num:
        return Num(element, wide=index[0] if kind == I64 else emit.builder.trunc(index[0], kind))

    lowering.values[op.result] = ExpressionTile(op.result.type, compute)


@rules(core.GetTileBlockId)
def lower_get_tile_block_id(lowering: Lowering, op: core.GetTileBlockId) -> None:
    for result, number in zip(op.results, lowering.block_id):
        lowering.bind_number(result, number)


@rules(core.GetNumTileBlocks)
def lower_get_num_tile_blocks(lowering: Lowering, op: core.GetNumTileBlocks) -> None:
    for result, number in zip(op.results, lowering.grid):
        lowering.bind_number(result, number)


@rules(core.Select)
def lower_select(lowering: Lowering, op: core.Select) -> None:
    cond, yes, no = lowering.tile(op.cond), lowering.tile(op.val_if_true), lowering.tile(op.val_if_false)

    def compute(emit: Emitter, index: Index) -> Num:
        return selected(emit.builder, wide(emit.builder, cond.at(emit, index)), yes.at(emit, index), no.at(emit, index))

    lowering.bind(op.result, ExpressionTile(op.result.type, compute))


def selected(builder: ir.IRBuilder, condition: ir.Value, yes: Num, no: Num) -> Num:
    """Return one of two elements, in a form that both have, so that neither is converted."""
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
    element = op.result.type.pointer

    def compute(emit: Emitter, index: Index) -> Num:
        pointer, steps = pointers.at(emit, index), _steps(emit.builder, offsets.at(emit, index))
        distance = byte_distance(emit.builder, element.pointee, steps)
        return Num(pointer.element, wide=emit.builder.add(pointer.wide, distance), base=pointer.base)

    lowering.bind(op.result, ExpressionTile(op.result.type, compute))


def _steps(builder: ir.IRBuilder, offset: Num) -> ir.Value:
    """Return an offset, which is signed, as an i64."""
    return as_i64(builder, wide(builder, offset), signed=True)


@strict(core.Offset)
def check_offset(lowering: Lowering, op: core.Offset) -> None:
    """Look for an offset or an address beyond 64 bits."""
    emit, builder = lowering.emit, lowering.builder
    pointers, offsets = lowering.tile(op.ptr), lowering.tile(op.offset)
    pointee = op.result.type.pointer.pointee

    def beyond(index: Index) -> ir.Value:
        address, steps = address_of(builder, pointers.at(emit, index)), _steps(builder, offsets.at(emit, index))
        distance = byte_distance(builder, pointee, steps)
        start, moved = Int(builder, address), Int(builder, builder.add(address, distance))
        back = Int(builder, distance) < 0
        wrapped = (back & start.below_unsigned(moved)) | (~back & moved.below_unsigned(start))
        far = abs(Int(builder, steps).converted(DOUBLE)) * float(pointee.byte_size)
        return (wrapped | (far >= 2.0**63)).value

    trap_where(lowering, op, op.result.type, beyond, undefined.ADDRESS)


def byte_distance(builder: ir.IRBuilder, pointee: t.ElementType, steps: ir.Value) -> ir.Value:
    """Return bytes between elements `steps` apart; of 4-bit elements two share a byte (rounded toward zero)."""
    if pointee.memory_bits == 4:
        return builder.sdiv(steps, I64(2))
    return builder.mul(steps, I64(pointee.byte_size))


@rules(core.GetGlobal)
def lower_get_global(lowering: Lowering, op: core.GetGlobal) -> None:
    type, kernel = op.result.type, lowering.kernel
    slot = kernel.global_slots[op.symbol]
    from_the_end = kernel.bounds_slot - slot
    base = lowering.given_base(lowering.slot(slot), kernel.bounds_count - from_the_end)
    number = Num(type.element, wide=I64(0), base=base)
    lowering.values[op.result] = Scalar(type, number)
