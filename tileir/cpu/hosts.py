"""Operations that the process which launched the kernel carries out: it is called back with the tiles they are about.

Knows: how native code calls a function given by its address, and how tiles are handed over: in the arena, dense, by
their addresses, together with the number of the operation in `Lowering.prints`.
Does not know: what the process does (`cpu.execution`).
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from tileir.cpu.elements import I8, I32, I64, PTR
from tileir.cpu.lowering import Lowering
from tileir.cpu.tiles import Tile, Window, fill, new_buffer
from tileir.ir.core import Op

HOST_CALL = ir.FunctionType(ir.VoidType(), [I32, PTR, PTR])
"""``call(number of the operation, addresses of the tiles, tile block id)``."""


def call_host(lowering: Lowering, op: Op, tiles: Sequence[Tile], result: Window | None = None) -> None:
    """Hand `tiles` over, and the place of the result behind them if the operation has one."""
    emit, builder = lowering.emit, lowering.builder
    with emit.region():
        places = [_written(lowering, tile) for tile in tiles] + ([] if result is None else [result.base])
        addresses, block = emit.buffer(8 * max(1, len(places))), emit.buffer(12)
        for position, place in enumerate(places):
            builder.store(place, builder.gep(addresses, [I64(8 * position)], source_etype=I8))
        for axis, number in enumerate(lowering.block_id):
            builder.store(number, builder.gep(block, [I64(axis)], source_etype=I32))
        lowering.prints.append(op)
        function = FunctionAddress(builder, lowering.slot(lowering.print_slot), HOST_CALL)
        builder.call(function, [I32(len(lowering.prints) - 1), addresses, block])


def _written(lowering: Lowering, tile: Tile) -> ir.Value:
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
