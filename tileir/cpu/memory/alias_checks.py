"""Run-time alias checks: whether loads may be read in the loop of the store that changes memory.

That loop reads one element, computes and writes one element. It does the same as reading everything first unless it
writes what it has yet to read. It never does where the memory read and the memory written are apart, nor where each
element is read from where it is then written.

Knows: how the spans of two tiles are compared. Does not know: which loads are put off (`cpu.analysis.loads`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from tileir.cpu.analysis.loads import PutOffLoad, is_box
from tileir.cpu.emit.elements import I1, I64
from tileir.cpu.emit.emitter import Extent
from tileir.cpu.emit.tiles import Window
from tileir.cpu.lowering.state import Lowering
from tileir.cpu.memory.spans import Span, span_of_pointers, span_of_window
from tileir.ir.core import Op, Value


def unaliased(lowering: Lowering, store: Op, written: Callable[[], Span]) -> ir.Value:
    """An i1: whether the loop of `store`, which writes the span `written`, may read the loads put off to it."""
    builder = lowering.builder
    checked = [load for load in lowering.loads.read_in(store) if not load.same_tile]
    if not checked:
        return I1(1)
    target = written()
    found = target.regular
    for load in checked:
        source = _span_of(lowering, load)
        harmless = _apart(builder, source, target)
        if load.in_place and source.size == target.size:
            harmless = builder.or_(harmless, _same_places(builder, source, target))
        found = builder.and_(found, builder.and_(source.regular, harmless))
    return found


def _span_of(lowering: Lowering, load: PutOffLoad) -> Span:
    if not is_box(load.access):
        address = load.access.address
        return span_of_pointers(lowering.emit, lowering.tile(address), covered(lowering, load.tile))
    window = lowering.tile(load.tile)
    assert isinstance(window, Window)
    return span_of_window(lowering.emit, window, covered(lowering, load.tile))


def covered(lowering: Lowering, tile: Value) -> Sequence[Extent]:
    """How many elements of each dimension of a loaded tile may be read: all, but where tile blocks are joined."""
    found = None if lowering.joined is None else lowering.joined.covered.get(tile)
    return tile.tile.shape if found is None else found


def _apart(builder: ir.IRBuilder, read: Span, written: Span) -> ir.Value:
    before = builder.icmp_unsigned("<=", builder.add(read.last, I64(read.size)), written.first)
    behind = builder.icmp_unsigned("<=", builder.add(written.last, I64(written.size)), read.first)
    return builder.or_(before, behind)


def _same_places(builder: ir.IRBuilder, read: Span, written: Span) -> ir.Value:
    """Whether the elements at each index are the same, each of them at that index only."""
    same = builder.and_(read.distinct, builder.icmp_unsigned("==", read.first, written.first))
    for mine, other in zip(read.steps, written.steps):
        same = builder.and_(same, builder.icmp_unsigned("==", mine, other))
    return same
