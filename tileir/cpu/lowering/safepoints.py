"""Calls of the host, and what loops do at each iteration: look up from their work, count, step aside when they wait.

Nothing has changed between two iterations of a loop if it carries the same values, no tile block has changed memory and
the host was not called: if that holds for every tile block that runs, it holds for ever. An iteration of `for` always
counts as a change.
"""

from __future__ import annotations

from collections.abc import Sequence

from tileir.cpu.emit.elements import I8, I32, I64
from tileir.cpu.emit.exits import call_host, field_of
from tileir.cpu.emit.record import ABANDON, ABANDONED, HANDED, HANGS
from tileir.cpu.emit.slots import Slot
from tileir.cpu.emit.tiles import Tile, Window, dense
from tileir.cpu.lowering.state import Lowering
from tileir.cpu.plan import waits_for_others
from tileir.ir.core import Op
from tileir.ops.control import For, Loop

PATIENCE = 1 << 10
"""Iterations of a loop that waits, before the tile block is set aside."""


def begin_iteration(lowering: Lowering, op: For | Loop) -> None:
    """Emit the code in front of the body of a loop."""
    emit, builder = lowering.emit, lowering.builder
    if isinstance(op, For):
        emit.changed()
    elif waits_for_others(op):
        _step_aside(lowering, op)
    emit.safepoint()
    left = builder.sub(builder.load(lowering.fuel, typ=I64), I64(1))
    builder.store(left, lowering.fuel)
    emit.trap_if(builder.icmp_signed("<", left, I64(0)), op, HANGS)


def _step_aside(lowering: Lowering, op: Loop) -> None:
    """Let other tile blocks run, every so often."""
    emit, builder = lowering.emit, lowering.builder
    patience = emit.stack(I64)
    with builder.goto_entry_block():
        builder.store(I64(PATIENCE), patience)
    left = builder.sub(builder.load(patience, typ=I64), I64(1))
    builder.store(left, patience)
    with builder.if_then(builder.icmp_signed("==", left, I64(0)), likely=False):
        builder.store(I64(PATIENCE), patience)
        emit.set_aside(len(lowering.kernel.waiting))
    lowering.kernel.waiting.append(op)


def count_changes(lowering: Lowering, slots: Sequence[Slot]) -> None:
    """Count a change if what is written to the slots, for the next iteration, differs from what they hold."""
    if lowering.emit.counts_changes:
        for slot in slots:
            lowering.emit.changed(slot.differs(lowering.emit))


# ---------------------------------------------------------------- operations that the host carries out


def hand_over(lowering: Lowering, op: Op, tiles: Sequence[Tile], result: Window | None = None) -> None:
    """Have the host carry out `op` on `tiles`; the place of its result stands behind them if it has one."""
    emit, builder = lowering.emit, lowering.builder
    with emit.region():
        places = [dense(emit, tile).base for tile in tiles] + ([] if result is None else [result.base])
        addresses = emit.buffer(8 * max(1, len(places)))
        for position, place in enumerate(places):
            builder.store(place, builder.gep(addresses, [I64(8 * position)], source_etype=I8))
        builder.store(addresses, field_of(builder, emit.arena, HANDED))
        lowering.kernel.prints.append(op)
        emit.changed()
        answer = call_host(builder, emit.arena, len(lowering.kernel.prints) - 1)
        emit.leave_if(builder.icmp_unsigned("==", answer, I32(ABANDON)), ABANDONED)
