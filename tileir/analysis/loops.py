"""Loops: which one an operation stands in, and which values they carry from one iteration to the next.

Knows: `for` and `loop` (spec: control#for, control#loop). Does not know: what is computed in them.
"""

from __future__ import annotations

from collections.abc import Sequence

from tileir.ir.core import Op, Value
from tileir.ops.control import For, Loop

LOOPS = (For, Loop)


def enclosing_loop(op: Op) -> For | Loop | None:
    """The innermost loop around an operation, in its entry or function."""
    around = op.parent_op
    while around is not None and not isinstance(around, LOOPS):
        around = around.parent_op
    return around


def carried_arguments(loop: For | Loop) -> Sequence[Value]:
    """The arguments of the body that hold carried values, in the order of the initial ones."""
    return loop.body.args[1:] if isinstance(loop, For) else loop.body.args
