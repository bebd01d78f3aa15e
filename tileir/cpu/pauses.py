"""Long loops look up from their work now and then: to let others run, to end when the launch has ended.

Knows: when a `loop` calls the function that pauses, and which kernels wait for other tile blocks.
Does not know: what pausing does (`cpu.program`).
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from tileir.cpu.elements import I32, I64
from tileir.cpu.hosts import FunctionAddress
from tileir.cpu.lowering import Lowering
from tileir.ir.attributes import MemoryOrdering
from tileir.ir.core import Op
from tileir.ops.control import Loop

TURNS = 1 << 10
"""Iterations between two pauses."""
GO_ON, ABANDON, HANG = 0, 1, 2
"""What the function that pauses answers."""
ABANDONED = -1
"""The status of a tile block that left off because the launch has ended."""
HANGS = "hang"
"""The message of the trap site of a loop that ran too often."""
PAUSE = ir.FunctionType(I32, [I64])
"""``pause(iterations so far)``."""


def pause(lowering: Lowering, op: Loop) -> None:
    """Count an iteration of `op`, at its head; each `TURNS` times ask whether to go on."""
    lowering.pauses = True
    emit, builder = lowering.emit, lowering.builder
    counter = emit.stack(I64)
    with builder.goto_entry_block():
        builder.store(I64(0), counter)
    turns = builder.add(builder.load(counter, typ=I64), I64(1))
    builder.store(turns, counter)
    due = builder.icmp_unsigned("==", builder.and_(turns, I64(TURNS - 1)), I64(0))
    answer_cell = emit.stack(I32)
    builder.store(I32(GO_ON), answer_cell)
    with builder.if_then(due, likely=False):
        function = FunctionAddress(builder, lowering.slot(lowering.pause_slot), PAUSE)
        builder.store(builder.call(function, [turns]), answer_cell)
    answer = builder.load(answer_cell, typ=I32)
    emit.leave_if(builder.icmp_unsigned("==", answer, I32(ABANDON)), ABANDONED)
    emit.trap_if(builder.icmp_unsigned("==", answer, I32(HANG)), op, HANGS)


def waits(ops: Sequence[Op]) -> bool:
    """Whether a `loop` among `ops` reads memory that another tile block may write meanwhile: it may be waiting."""
    return any(_synchronizes(inner) for op in ops if isinstance(op, Loop) for inner in op.walk())


def _synchronizes(op: Op) -> bool:
    ordering = getattr(op, "memory_ordering_semantics", None)
    return ordering is not None and ordering is not MemoryOrdering.WEAK
