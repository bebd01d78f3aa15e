"""TTIR of the core operations on pointers, choices and the grid (specification 8.3).

Knows: that Triton's compiler moves pointers by signed 32-bit and 64-bit numbers of elements, modulo 2^64.
Does not know: constants (`constants`), shapes (`shapes`), reductions (`reduction`), packing (`packing`).
"""

from __future__ import annotations

from tileir.gpu.ttir.builder import Builder
from tileir.gpu.ttir.code import I32, Value
from tileir.gpu.ttir.forms import stored
from tileir.gpu.ttir.lowering import GlobalMemory, Lower, Lowering
from tileir.ir import types as t
from tileir.ir.rules import Rules
from tileir.ops import core

rules: Rules[Lower] = Rules()


@rules(core.GetTileBlockId, core.GetNumTileBlocks)
def lower_grid(lowering: Lowering, op: core.GetTileBlockId | core.GetNumTileBlocks) -> None:
    name = "tt.get_program_id" if isinstance(op, core.GetTileBlockId) else "tt.get_num_programs"
    for axis, result in enumerate(op.results):
        lowering.bind(result, lowering.build.op(name, type=I32, axis=axis))


@rules(core.GetGlobal)
def lower_get_global(lowering: Lowering, op: core.GetGlobal) -> None:
    pointee = _pointee(op.result.type)
    lowering.bind(op.result, lowering.parameter(GlobalMemory(op.symbol), stored(pointee)))


@rules(core.Iota)
def lower_iota(lowering: Lowering, op: core.Iota) -> None:
    type = lowering.type_of(op.result)
    counted = lowering.build.range(type.count)
    lowering.bind(op.result, lowering.build.resized(counted, type.element, signed=False))


@rules(core.Select)
def lower_select(lowering: Lowering, op: core.Select) -> None:
    condition, first, second = (lowering.value(value) for value in (op.cond, op.val_if_true, op.val_if_false))
    lowering.bind(op.result, lowering.build.select(condition, first, second))


@rules(core.Offset)
def lower_offset(lowering: Lowering, op: core.Offset) -> None:
    """Offsets are signed; two elements of 4 bits share a byte (operations 3.12)."""
    build, offset = lowering.build, lowering.value(op.offset)
    if offset.type.bits < I32.bits:
        offset = build.resized(offset, "i32", signed=True)
    if _pointee(op.ptr.type).memory_bits < 8:
        offset = _halved(build, offset)
    lowering.bind(op.result, build.op("tt.addptr", lowering.value(op.ptr), offset))


def _halved(build: Builder, offset: Value) -> Value:
    """Half of each number, rounded toward 0."""
    return build.op("arith.divsi", offset, build.integer(offset.type, 2))


def _pointee(type: t.TileType) -> t.ElementType:
    assert isinstance(type.element, t.PointerType)
    return type.element.pointee
