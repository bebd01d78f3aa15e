"""Native code for atomics (spec: atomics#top): one hardware atomic per element, with the ordering asked for.

A floating-point sum, and what the hardware has no instruction for, is a compare-and-swap loop. Elements are taken in
row-major order, one after the other.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from tileir.analysis.effects import MemoryAccess, checked_access
from tileir.cpu.emit.elements import Num, zero
from tileir.cpu.emit.emitter import Index
from tileir.cpu.emit.tiles import materialized
from tileir.cpu.lowering.reports import is_off, warn_where
from tileir.cpu.lowering.state import Lower, Lowering
from tileir.cpu.memory import pointers
from tileir.cpu.memory.access import exchange_element, update_element
from tileir.cpu.memory.checks import check_pointers
from tileir.cpu.memory.edges import look_at_edges
from tileir.cpu.memory.views import update_tile
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

    _update(lowering, checked_access(op), lambda index: masked_off, update)
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

    _update(lowering, checked_access(op), lambda index: expected.at(emit, index), update)
    lowering.values[op.result_token] = None


def _update(
    lowering: Lowering,
    access: MemoryAccess,
    masked_off: Callable[[Index], Num],
    act: Callable[[Index, ir.Value], ir.Value],
) -> None:
    """Update every element that is not masked off, and bind the result to the old ones."""
    assert access.result is not None
    mask = None if access.mask is None else materialized(lowering.emit, lowering.tile(access.mask))
    check_pointers(lowering, access)
    addresses = lowering.tile(access.address)
    old = pointers.update(lowering.emit, access.result.tile, addresses, mask, masked_off, act)
    lowering.values[access.result] = old


@rules(atomics.AtomicRedView)
def lower_atomic_red_view(lowering: Lowering, op: atomics.AtomicRedView) -> None:
    update_tile(lowering, checked_access(op), op.mode)
    lowering.values[op.result_token] = None


@strict(atomics.AtomicRedView)
def look_at_reduction(lowering: Lowering, op: atomics.AtomicRedView) -> None:
    look_at_edges(lowering, op)
