"""TTIR of the core operations: constants, pointers, choices and the grid (spec: core#top).

One value for all elements is an instruction; other contents lie in memory, as TTIR has no constant tensor with
different elements. Triton's compiler moves pointers by signed 32-bit and 64-bit numbers of elements, modulo 2^64.
"""

from __future__ import annotations

from tileir.gpu.executable import ConstantMemory, GlobalMemory
from tileir.gpu.ttir.forms import stored
from tileir.gpu.ttir.ir.code import I32, TtirValue
from tileir.gpu.ttir.lib.memory import from_memory
from tileir.gpu.ttir.lowering import Lower, TtirLowering
from tileir.ir import types as t
from tileir.ir.rules import Rules
from tileir.ops import core

rules: Rules[Lower] = Rules()


@rules(core.Constant)
def lower_constant(lowering: TtirLowering, op: core.Constant) -> TtirValue:
    content = op.value
    if content.is_splat:
        return lowering.build.bits(lowering.type_of(op.result), int.from_bytes(content.data, "little"))
    return _from_constant_memory(lowering, op.result.type, content.data)


def _from_constant_memory(lowering: TtirLowering, type: t.TileType, data: bytes) -> TtirValue:
    build, element = lowering.build, type.number
    address = lowering.parameter(ConstantMemory(data), stored(element))
    addresses = build.op("tt.addptr", build.splat(address, type.count), build.range(type.count))
    return build.reshape(from_memory(build, element, build.load(addresses)), *type.shape)


@rules(core.GetTileBlockId, core.GetNumTileBlocks)
def lower_grid(lowering: TtirLowering, op: core.GetTileBlockId | core.GetNumTileBlocks) -> None:
    name = "tt.get_program_id" if isinstance(op, core.GetTileBlockId) else "tt.get_num_programs"
    for axis, result in enumerate(op.results):
        lowering.bind(result, lowering.build.op(name, type=I32, axis=axis))


@rules(core.GetGlobal)
def lower_get_global(lowering: TtirLowering, op: core.GetGlobal) -> TtirValue:
    pointee = op.result.type.pointer.pointee
    return lowering.parameter(GlobalMemory(op.symbol), stored(pointee))


@rules(core.Iota)
def lower_iota(lowering: TtirLowering, op: core.Iota) -> TtirValue:
    type = lowering.type_of(op.result)
    counted = lowering.build.range(type.count)
    return lowering.build.resized(counted, type.element, signed=False)


@rules(core.Select)
def lower_select(lowering: TtirLowering, op: core.Select) -> TtirValue:
    return lowering.build.select(*lowering.tiles((op.cond, op.val_if_true, op.val_if_false)))


@rules(core.Offset)
def lower_offset(lowering: TtirLowering, op: core.Offset) -> TtirValue:
    """Lower an offset: offsets are signed; two elements of 4 bits share a byte (spec: core#offset)."""
    build, offset = lowering.build, lowering.value(op.offset)
    if offset.type.bits < I32.bits:
        offset = build.resized(offset, "i32", signed=True)
    if op.ptr.type.pointer.pointee.memory_bits < 8:
        offset = build.op("arith.divsi", offset, build.integer(offset.type, 2))  # half, rounded toward 0
    return build.op("tt.addptr", lowering.value(op.ptr), offset)
