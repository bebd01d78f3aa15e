"""Boxes of memory under tiles of pointers: strided windows, cut where a mask leaves out the rest.

Knows: where the box of an access lies, and how its tile is read and written as the tile of a view is
(`cpu.memory.boxes`). Does not know: which accesses have boxes (`cpu.analysis.cuts`), operations, nor tiles whose
elements are addressed one by one (`cpu.memory.pointers`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llvmlite import ir

from tileir.analysis.effects import MemoryAccess
from tileir.cpu.analysis.cuts import Cut, unit_last
from tileir.cpu.emit.elements import I1, I64
from tileir.cpu.emit.emitter import Extent, Index, as_register
from tileir.cpu.emit.tiles import Tile, Window, materialized, pointer_to
from tileir.cpu.lowering.cuts import least
from tileir.cpu.lowering.state import Lowering
from tileir.cpu.memory.boxes import in_order, store_window, turned_buffer, window_or_copy
from tileir.cpu.memory.parts import clear, copy_part
from tileir.cpu.memory.pointers import loaded, store
from tileir.cpu.memory.spans import Span, span_of_pointers
from tileir.ir.attributes import MemoryOrdering
from tileir.ir.core import Op
from tileir.ir.types import TileType


@dataclass(frozen=True)
class PointerBox:
    """The memory under a tile of pointers: `counts` elements of each dimension, from the first one on.

    That holds if `regular` does (an i1). `full` is an i1: it holds, and no element is left out.
    """

    span: Span
    window: Window
    counts: tuple[ir.Value, ...]
    regular: ir.Value
    full: ir.Value

    def last(self, builder: ir.IRBuilder) -> tuple[ir.Value, ir.Value]:
        """The address of the last active element, and whether there is one."""
        last, some, steps = self.span.first, I1(1), iter(self.span.steps)
        for extent, count in zip(self.window.type.shape, self.counts):
            some = builder.and_(some, builder.icmp_unsigned("!=", count, I64(0)))
            if extent > 1:
                last = builder.add(last, builder.mul(next(steps), builder.sub(count, I64(1))))
        return last, some


def pointer_box(lowering: Lowering, access: MemoryAccess) -> PointerBox | None:
    """The box of an access through pointers; None if it is not known to have one."""
    cut = lowering.loads.cuts.of(access.op)
    if cut is None:
        return None
    emit, builder, pointers = lowering.emit, lowering.builder, lowering.tile(access.address)
    tile = access.value or access.result
    assert tile is not None, "an access moves a tile"
    extents = lowering.extents(access.address)
    counts, kept = _counts(lowering, cut, extents)
    longer = lowering.joined is not None and access.op in lowering.joined.coarsening.accesses
    span = span_of_pointers(emit, pointers, counts if longer else extents)
    strides, even = _strides(builder, span, tile.tile, lowering.loads.cuts.static_steps(access.address))
    regular = full = builder.and_(span.regular, builder.and_(even, kept))
    for count, extent in zip(counts, extents):
        full = builder.and_(full, builder.icmp_unsigned("==", count, as_register(extent)))
    base = pointer_to(builder, pointers.at(emit, (I64(0),) * tile.tile.rank))
    return PointerBox(span, Window(tile.tile, base, strides), counts, regular, full)


def _strides(
    builder: ir.IRBuilder, span: Span, type: TileType, known: Sequence[int | None]
) -> tuple[tuple[ir.Value, ...], ir.Value]:
    """The strides in elements, and an i1: whether the tile has them."""
    strides, even, steps = [], I1(1), iter(span.steps)
    for extent, bytes in zip(type.shape, known):
        if extent == 1:
            strides.append(I64(0))
            continue
        step = next(steps)
        if bytes is None:
            strides.append(builder.lshr(step, I64(span.size.bit_length() - 1)))
            fine = builder.icmp_unsigned("==", builder.and_(step, I64(span.size - 1)), I64(0))
        else:
            strides.append(I64(bytes // span.size))
            fine = builder.icmp_unsigned("==", step, I64(bytes))
        even = builder.and_(even, fine)
    return tuple(strides), even


def _counts(lowering: Lowering, cut: Cut, extents: Sequence[Extent]) -> tuple[tuple[ir.Value, ...], ir.Value]:
    """How many elements of each dimension are active, and an i1: whether that is so."""
    builder = lowering.builder
    counts: list[ir.Value] = list(map(as_register, extents))
    regular: ir.Value = I1(1)
    for term in sorted(cut, key=lambda term: (term.dim is None, term.dim)):
        found = lowering.active_counts[term.comparison]
        regular = builder.and_(regular, found.regular)
        if term.dim is None:
            counts[0] = builder.mul(counts[0], found.count)
        else:
            counts[term.dim] = least(builder, counts[term.dim], found.count)
    return tuple(counts), regular


# ---------------------------------------------------------------- loading and storing


def load_pointers(
    lowering: Lowering, load: MemoryAccess, place: PointerBox, mask: Tile | None, outside: Tile | None
) -> None:
    """Bind the result to the window of memory or, where elements are left out, to a copy with those of `outside`."""
    emit, result = lowering.emit, load.result
    assert result is not None, "a load has a result"
    type, pointers = result.tile, lowering.tile(load.address)
    order = unit_last(load.address.tile, lowering.loads.cuts.static_steps(load.address))
    copy = turned_buffer(emit, type, order)

    def pad(index: Index) -> None:
        assert outside is not None, "there are elements to leave"
        copy.put(emit, index, outside.at(emit, index))

    def copied() -> None:
        with lowering.builder.if_else(place.regular, likely=True) as (cut, odd):
            with cut:
                if mask is not None and outside is None:
                    clear(emit, copy)
                elif mask is not None:
                    emit.loop_nest(type.shape, pad)
                copy_part(emit, copy, place.window, place.counts)
            with odd:
                elements = loaded(type, pointers, mask, outside, MemoryOrdering.WEAK)
                emit.rare_nest(type.shape, lambda index: copy.put(emit, index, elements.at(emit, index)))

    window_or_copy(lowering, result, place.full, place.window, copy, copied)


def store_pointers(
    lowering: Lowering, op: Op, place: PointerBox, pointers: Tile, tile: Tile, mask: Tile | None
) -> None:
    """Write the active elements of the tile."""
    emit, builder = lowering.emit, lowering.builder

    def rest(copy: Tile) -> None:
        with builder.if_else(place.regular, likely=True) as (cut, odd):
            with cut:
                copy_part(emit, place.window, copy, place.counts)
            with odd, emit.rarely():
                one_by_one(copy)

    def one_by_one(copy: Tile) -> None:
        # What decides the mask may be read from memory as well.
        read = None if mask is None else materialized(emit, mask)
        store(emit, pointers, copy, read, MemoryOrdering.WEAK)

    with in_order(lowering, place.window, lambda: one_by_one(materialized(emit, tile))):
        store_window(lowering, op, tile, place.window, place.full, lambda: place.span, rest)
