"""Panels of products that outlive a tile block: set aside where an entry begins, and emptied for each launch.

Does not know: which products have such panels (`cpu.lowering.deferred`, `cpu.lowering.repeated`).
"""

from __future__ import annotations

from llvmlite import ir

from tileir.cpu.analysis.streams import unchanged
from tileir.cpu.emit.elements import I1, I32, I64
from tileir.cpu.emit.exits import field_of
from tileir.cpu.emit.record import BEGUN
from tileir.cpu.lowering.deferred import reserve_deferrals
from tileir.cpu.lowering.kept import no_overlap
from tileir.cpu.lowering.repeated import reserve_repeated
from tileir.cpu.lowering.state import Lowering
from tileir.ops.module import Entry


def reserve_panels(lowering: Lowering, entry: Entry) -> None:
    """Set memory aside, where an entry begins, for the panels of products in its loops."""
    found = unchanged(entry) if lowering.checked and not lowering.joined_first else None
    reserve_deferrals(lowering, found is not None)
    if found is None:
        return
    reserve_repeated(lowering)
    if lowering.deferrals or lowering.repeated:
        several = _several_blocks(lowering)
        lowering.keeps_panels = lowering.builder.and_(no_overlap(lowering, entry, found), several)
        _forget_panels(lowering, several)


def _several_blocks(lowering: Lowering) -> ir.Value:
    """An i1: whether the grid has more than one tile block, so that something is there to be kept for."""
    builder, found = lowering.builder, I1(0)
    for extent in lowering.grid:
        found = builder.or_(found, builder.icmp_unsigned("!=", extent, I32(1)))
    return found


def _forget_panels(lowering: Lowering, several: ir.Value) -> None:
    """Begin with none, where this is the first of several tile blocks of a thread in a launch."""
    builder = lowering.builder
    begun = field_of(builder, lowering.emit.arena, BEGUN)
    is_first = builder.icmp_unsigned("==", builder.load(begun, typ=I64), I64(0))
    with builder.if_then(builder.and_(is_first, several), likely=False):
        builder.store(I64(1), begun)
        deferred = [panels for found in lowering.deferrals.values() for panels in found.panels]
        for panels in [*deferred, *(found.right for found in lowering.repeated.values())]:
            panels.forget(builder)
