"""Operations that the process which launched the kernel carries out: it is called back with the tiles they are about.

Knows: how tiles are handed over: in the arena, dense, by their addresses, together with the number of the operation in
`Lowering.prints`.
Does not know: how the host is called (`cpu.emit.exits`), nor what it does (`cpu.run.launch`).
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from tileir.cpu.emit.elements import I8, I32, I64
from tileir.cpu.emit.exits import call_host, field_of
from tileir.cpu.emit.record import ABANDON, ABANDONED, HANDED
from tileir.cpu.emit.tiles import Tile, Window, fill, new_buffer
from tileir.cpu.lowering.state import Lowering
from tileir.ir.core import Op


def hand_over(lowering: Lowering, op: Op, tiles: Sequence[Tile], result: Window | None = None) -> None:
    """Have the host carry out `op` on `tiles`; the place of its result stands behind them if it has one."""
    emit, builder = lowering.emit, lowering.builder
    with emit.region():
        places = [_written(lowering, tile) for tile in tiles] + ([] if result is None else [result.base])
        addresses = emit.buffer(8 * max(1, len(places)))
        for position, place in enumerate(places):
            builder.store(place, builder.gep(addresses, [I64(8 * position)], source_etype=I8))
        builder.store(addresses, field_of(builder, emit.arena, HANDED))
        lowering.prints.append(op)
        emit.changed()
        answer = call_host(builder, emit.arena, len(lowering.prints) - 1)
        emit.leave_if(builder.icmp_unsigned("==", answer, I32(ABANDON)), ABANDONED)


def _written(lowering: Lowering, tile: Tile) -> ir.Value:
    """The address of a dense copy of the tile."""
    buffer = new_buffer(lowering.emit, tile.type)
    fill(lowering.emit, buffer, tile)
    return buffer.base
