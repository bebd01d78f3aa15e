"""Native code for atomics (spec: atomics#top): one hardware atomic per element, with the ordering asked for.

A floating-point sum, or anything the hardware has no instruction for, is a compare-and-swap loop. Elements are taken in
row-major order, one after the other.
"""

from __future__ import annotations

from llvmlite import ir

from tileir.analysis.effects import checked_access
from tileir.cpu.emit.elements import zero
from tileir.cpu.emit.emitter import Index
from tileir.cpu.emit.tiles import materialized
from tileir.cpu.lowering.reports import is_off, warn_where
from tileir.cpu.lowering.state import Lower, Lowering
from tileir.cpu.memory.elements import exchange_element, update_element
from tileir.cpu.memory.stores import reduce_into_view, update_pointers
from tileir.cpu.memory.strict import look_at_edges
from tileir.host import undefined
from tileir.ir.rules import Rules
from tileir.ops import atomics

rules: Rules[Lower] = Rules()
strict: Rules[Lower] = Rules()


@rules(atomics.AtomicRmw)
def lower_atomic_rmw(lowering: Lowering, op: atomics.AtomicRmw) -> None:
    argument, masked_off = materialized(lowering.emit, lowering.tile(op.arg)), zero(op.result.type.element)

    def update(index: Index, address: ir.Value) -> ir.Value:
        number = argument.at(lowering.emit, index)
        return update_element(lowering.emit, op.mode, address, number, op.memory_ordering_semantics)

    update_pointers(lowering, checked_access(op), lambda index: masked_off, update)
    lowering.values[op.result_token] = None


@strict(atomics.AtomicRmw)
def look_at_mask(lowering: Lowering, op: atomics.AtomicRmw) -> None:
    if op.mask is not None:
        warn_where(lowering, op, op.mask.tile, is_off(lowering, op.mask), undefined.MASKED_UPDATE)


@rules(atomics.AtomicCas)
def lower_atomic_cas(lowering: Lowering, op: atomics.AtomicCas) -> None:
    emit = lowering.emit
    expected, replacement = (materialized(emit, lowering.tile(value)) for value in (op.cmp, op.val))

    def update(index: Index, address: ir.Value) -> ir.Value:
        old, new = expected.at(emit, index), replacement.at(emit, index)
        return exchange_element(emit, address, old, new, op.memory_ordering_semantics)

    update_pointers(lowering, checked_access(op), lambda index: expected.at(emit, index), update)
    lowering.values[op.result_token] = None


@rules(atomics.AtomicRedView)
def lower_atomic_red_view(lowering: Lowering, op: atomics.AtomicRedView) -> None:
    reduce_into_view(lowering, checked_access(op), op.mode)
    lowering.values[op.result_token] = None


@strict(atomics.AtomicRedView)
def look_at_reduction(lowering: Lowering, op: atomics.AtomicRedView) -> None:
    look_at_edges(lowering, op)
