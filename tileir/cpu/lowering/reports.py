"""Reports of a kernel about what it does: traps that name an element of a tile, and warnings.

The caller supplies the condition on elements.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from tileir.cpu.emit.algebra import Int
from tileir.cpu.emit.elements import I1, I32, I64
from tileir.cpu.emit.emitter import Emitter, Index
from tileir.cpu.emit.exits import call_host
from tileir.cpu.emit.record import ABANDON, ABANDONED, WARNING, TrapKind
from tileir.cpu.emit.tiles import distance, row_major, wide
from tileir.cpu.lowering.state import Lowering
from tileir.ir import types as t
from tileir.ir.core import Op, Value

Broken = Callable[[Index], ir.Value]
"""Maps the index of an element to an i1 that is set if it offends."""


def trap_where(lowering: Lowering, op: Op, type: t.TileType, broken: Broken, message: str) -> None:
    """Trap at the first element, in row-major order, that offends; the message may have a place for its index."""
    emit = lowering.emit
    if type.count == 1:
        condition, position = broken((I64(0),) * type.rank), I64(0)
    else:
        position = first_where(emit, type, broken)
        condition = emit.builder.icmp_unsigned("<", position, I64(type.count))
    emit.trap_with(condition, op, message, TrapKind.LANE, [position])


def first_where(emit: Emitter, type: t.TileType, broken: Broken) -> ir.Value:
    """Return the position of the first element that offends, or the number of elements."""
    builder, strides, cell = emit.builder, row_major(type.shape), emit.stack(I64)
    builder.store(I64(type.count), cell)

    def visit(index: Index) -> None:
        position = distance(builder, index, strides)
        offending = Int(builder, builder.select(broken(index), position, I64(type.count)))
        builder.store(offending.unsigned_minimum(Int(builder, builder.load(cell, typ=I64))).value, cell)

    emit.loop_nest(type.shape, visit)
    return builder.load(cell, typ=I64)


def any_where(emit: Emitter, type: t.TileType, broken: Broken) -> ir.Value:
    """Emit a test of whether any element offends."""
    if type.count == 1:
        return broken((I64(0),) * type.rank)
    builder, found = emit.builder, emit.stack(I1)
    builder.store(I1(0), found)
    emit.loop_nest(
        type.shape, lambda index: builder.store(builder.or_(broken(index), builder.load(found, typ=I1)), found)
    )
    return builder.load(found, typ=I1)


def is_off(lowering: Lowering, mask: Value) -> Broken:
    """Return a condition that holds where an element of a mask is 0."""
    emit, tile = lowering.emit, lowering.tile(mask)
    return lambda index: emit.builder.not_(wide(emit.builder, tile.at(emit, index)))


def warn_where(lowering: Lowering, op: Op, type: t.TileType, broken: Broken, message: str) -> None:
    """Warn if any element offends."""
    warn_if(lowering, any_where(lowering.emit, type, broken), op, message)


def warn_if(lowering: Lowering, condition: ir.Value, op: Op, message: str) -> None:
    """Tell the host if `condition` holds, which keeps the first warning of each operation."""
    emit, builder = lowering.emit, lowering.builder
    number = WARNING - len(lowering.kernel.warnings)
    lowering.kernel.warnings.append((op, message))
    with emit.when(condition, likely=False):
        answer = call_host(builder, emit.arena, number)
        emit.leave_if(builder.icmp_unsigned("==", answer, I32(ABANDON)), ABANDONED)
