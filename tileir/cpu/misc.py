"""Native code for the miscellaneous chapter (specification 8.12) and globals: promises, output, addresses of globals.

Printing calls back into the process that launched the kernel: the tiles are written to the arena and their addresses
handed over together with the number of the operation in `Lowering.prints`.
"""

from __future__ import annotations

from llvmlite import ir

from tileir.cpu.elements import I8, I32, I64, PTR, Num
from tileir.cpu.lowering import Lower, Lowering
from tileir.cpu.tiles import Scalar, Tile, fill, new_buffer
from tileir.ir import types as t
from tileir.ir.core import Op
from tileir.ir.rules import Rules
from tileir.ops import core, extension, misc

rules: Rules[Lower] = Rules()

PRINT = ir.FunctionType(ir.VoidType(), [I32, PTR, PTR])
"""``print(number of the operation, addresses of the tiles, tile block id)``."""


@rules(misc.Assume, extension.OptimizationBarrier)
def lower_identity(lowering: Lowering, op: Op) -> None:
    """A promise costs nothing here; what it promises is not used."""
    lowering.values[op.results[0]] = lowering.values[op.operands[0]]


@rules(misc.PrintTko)
def lower_print(lowering: Lowering, op: misc.PrintTko) -> None:
    lowering.settle(op)
    emit, builder = lowering.emit, lowering.builder
    with emit.region():
        addresses = emit.buffer(8 * max(1, len(op.args)))
        for position, value in enumerate(op.args):
            place = builder.gep(addresses, [I64(8 * position)], source_etype=I8)
            builder.store(written(lowering, lowering.tile(value)), place)
        place = emit.buffer(12)
        for axis, number in enumerate(lowering.block_id):
            builder.store(number, builder.gep(place, [I64(axis)], source_etype=I32))
        lowering.prints.append(op)
        function = FunctionAddress(builder, lowering.slot(lowering.print_slot), PRINT)
        builder.call(function, [I32(len(lowering.prints) - 1), addresses, place])
    lowering.values[op.result_token] = None


def written(lowering: Lowering, tile: Tile) -> ir.Value:
    """The address of a dense copy of the tile."""
    buffer = new_buffer(lowering.emit, tile.type)
    fill(lowering.emit, buffer, tile)
    return buffer.base


class FunctionAddress(ir.CastInstr):
    """An integer read as the address of a function of `function_type` (opaque pointers do not say)."""

    def __init__(self, builder: ir.IRBuilder, address: ir.Value, type: ir.FunctionType) -> None:
        self._type = type
        super().__init__(builder.block, "inttoptr", address, PTR)
        builder._insert(self)

    @property
    def function_type(self) -> ir.FunctionType:
        return self._type


@rules(core.GetGlobal)
def lower_get_global(lowering: Lowering, op: core.GetGlobal) -> None:
    type = op.result.type
    assert isinstance(type, t.TileType)
    address = lowering.slot(lowering.global_slots[op.symbol])
    number = Num(type.element, wide=I64(0), base=lowering.builder.inttoptr(address, PTR))
    lowering.values[op.result] = Scalar(type, number)
