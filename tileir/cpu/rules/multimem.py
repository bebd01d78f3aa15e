"""Native code for multicast memory (spec: multimem#top): on a CPU it has one replica.

A load reduces over one replica, which gives what is there; a reduction and a store go to it.
"""

from __future__ import annotations

from tileir.analysis.effects import checked_access
from tileir.cpu.lowering.state import Lower, Lowering
from tileir.cpu.memory.edges import look_at_edges
from tileir.cpu.memory.views import load_tile, store_tile, update_tile
from tileir.ir.core import Op
from tileir.ir.rules import Rules
from tileir.ops import multimem

rules: Rules[Lower] = Rules()
strict: Rules[Lower] = Rules()


@rules(multimem.MultimemLoadReduceView)
def lower_load_reduce(lowering: Lowering, op: multimem.MultimemLoadReduceView) -> None:
    load_tile(lowering, checked_access(op))
    lowering.values[op.result_token] = None


@rules(multimem.MultimemReduceView)
def lower_reduce(lowering: Lowering, op: multimem.MultimemReduceView) -> None:
    update_tile(lowering, checked_access(op), op.reduction.atomic_mode(op.view.type.element.is_float))
    lowering.values[op.result_token] = None


@rules(multimem.MultimemStoreView)
def lower_store(lowering: Lowering, op: multimem.MultimemStoreView) -> None:
    store_tile(lowering, checked_access(op))
    lowering.values[op.result_token] = None


@strict(multimem.MultimemLoadReduceView, multimem.MultimemReduceView, multimem.MultimemStoreView)
def look_at_access(lowering: Lowering, op: Op) -> None:
    look_at_edges(lowering, op)
