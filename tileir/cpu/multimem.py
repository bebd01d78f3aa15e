"""Native code for multicast memory (specification, operations 6): on a CPU it has one replica.

A load reduces over one replica, which gives what is there; a reduction and a store go to it.
"""

from __future__ import annotations

from tileir.cpu.atomics import reduce_tile
from tileir.cpu.lowering import Lower, Lowering
from tileir.cpu.places import places
from tileir.cpu.tensors import tile_view
from tileir.cpu.views import load_tile, store_tile
from tileir.ir.attributes import AtomicMode, MultimemReduction
from tileir.ir.rules import Rules
from tileir.ops import multimem

rules: Rules[Lower] = Rules()

_MODES = {
    MultimemReduction.ADD: AtomicMode.ADD,
    MultimemReduction.MIN: AtomicMode.MIN,
    MultimemReduction.MAX: AtomicMode.MAX,
    MultimemReduction.AND: AtomicMode.AND,
    MultimemReduction.OR: AtomicMode.OR,
    MultimemReduction.XOR: AtomicMode.XOR,
    MultimemReduction.UMIN: AtomicMode.UMIN,
    MultimemReduction.UMAX: AtomicMode.UMAX,
}


@rules(multimem.MultimemLoadReduceView)
def lower_load_reduce(lowering: Lowering, op: multimem.MultimemLoadReduceView) -> None:
    load_tile(lowering, op.reduced_values, tile_view(lowering, op.view), op.index, op.memory_ordering_semantics)
    lowering.values[op.result_token] = None


@rules(multimem.MultimemReduceView)
def lower_reduce(lowering: Lowering, op: multimem.MultimemReduceView) -> None:
    tile, where = lowering.tile(op.tile), places(lowering, tile_view(lowering, op.view), op.index)
    sums_floats = op.reduction is MultimemReduction.ADD and op.view.type.element.is_float
    mode = AtomicMode.ADDF if sums_floats else _MODES[op.reduction]
    reduce_tile(lowering, op, tile, where, mode, op.memory_ordering_semantics)
    lowering.values[op.result_token] = None


@rules(multimem.MultimemStoreView)
def lower_store(lowering: Lowering, op: multimem.MultimemStoreView) -> None:
    view = tile_view(lowering, op.view)
    store_tile(lowering, op, lowering.tile(op.tile), view, op.index, op.memory_ordering_semantics)
    lowering.values[op.result_token] = None
