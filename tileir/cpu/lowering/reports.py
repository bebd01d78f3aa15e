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
from tileir.cpu.emit.tiles import distance, row_major
from tileir.cpu.lowering.state import Lowering
from tileir.ir import types as t
from tileir.ir.core import Op

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
    builder, strides, found = emit.builder, row_major(type.shape), emit.collector(I64(type.count))

    def visit(index: Index) -> None:
        position = distance(builder, index, strides)
        found.add(Int.unsigned_minimum, builder.select(broken(index), position, I64(type.count)))

    emit.loop_nest(type.shape, visit)
    return found.value


def any_where(emit: Emitter, type: t.TileType, broken: Broken) -> ir.Value:
    """Emit a test of whether any element offends."""
    if type.count == 1:
        return broken((I64(0),) * type.rank)
    found = emit.collector(I1(0))
    emit.loop_nest(type.shape, lambda index: found.add(Int.__or__, broken(index)))
    return found.value


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
