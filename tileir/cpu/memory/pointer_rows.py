"""Rows of memory under tiles of pointers: each is addressed, checked and moved as one.

    bounds, alignment and evenness of a row      two comparisons at its ends, not one for each element
    its elements                                 as many bytes as are active, in one go

Where a row is out of the usual (pointers that wrap around in it, elements that may not be accessed), the whole tile is
taken element by element, so that a trap names the element that it would name. A store asks all rows before it writes.

Knows: how such tiles are read and written. Does not know: which accesses have rows (`cpu.analysis.pointer_rows`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from llvmlite import ir

from tileir.analysis.effects import MemoryAccess
from tileir.cpu.analysis.pointer_rows import RowAccess
from tileir.cpu.emit.elements import I1, I64
from tileir.cpu.emit.emitter import Emitter, Index
from tileir.cpu.emit.tiles import Tile, Window, address_of, pointer_to, wide
from tileir.cpu.lowering.cuts import least
from tileir.cpu.lowering.state import Lowering
from tileir.cpu.memory.boxes import turned_buffer
from tileir.cpu.memory.checks import check_each_pointer, may_access_span
from tileir.cpu.memory.parts import copy_row, dense, moves_as_bytes, pad_row
from tileir.cpu.memory.pointers import loaded, store
from tileir.cpu.memory.spans import Span
from tileir.ir.attributes import MemoryOrdering
from tileir.ir.types import TileType


@dataclass(frozen=True)
class PointerRow:
    """A row of the tile in memory: the first `count` elements are active, if `fine` holds (an i1). They lie side by
    side and may be accessed then, if there are any."""

    window: Window
    count: ir.Value
    fine: ir.Value


@dataclass(frozen=True)
class PointerRows:
    """The rows of a tile, which lie along the dimension that `rows` says."""

    lowering: Lowering
    access: MemoryAccess
    rows: RowAccess
    type: TileType

    def each(self, act: Callable[[Index, PointerRow], None]) -> None:
        """Run ``act(index, row)`` for all rows in row-major order, `index` being that of a row's first element."""
        shape, dim = self.type.shape, self.rows.dim
        self.lowering.emit.loop_nest([*shape[:dim], 1, *shape[dim + 1 :]], lambda index: act(index, self._at(index)))

    def _at(self, index: Index) -> PointerRow:
        emit, builder, dim = self.lowering.emit, self.lowering.builder, self.rows.dim
        pointers, extent, size = (
            self.lowering.tile(self.access.address),
            self.type.shape[dim],
            self.type.element.byte_size,
        )
        start = pointers.at(emit, index)
        first, last = address_of(builder, start), address_of(builder, pointers.at(emit, _at_end(index, dim, extent)))
        even = builder.icmp_unsigned("==", builder.sub(last, first), I64((extent - 1) * size))
        count, even = self._count(index, even)
        end = builder.add(first, builder.mul(builder.sub(count, I64(1)), I64(size)))
        inside = may_access_span(self.lowering, self.access, Span(first, last, (), size, even, I1(1)), end)
        none = builder.icmp_unsigned("==", count, I64(0))
        strides = tuple(I64(int(other == dim)) for other in range(self.type.rank))
        window = Window(self.type, pointer_to(builder, start), strides)
        return PointerRow(window, count, builder.and_(even, builder.or_(none, inside)))

    def _count(self, index: Index, even: ir.Value) -> tuple[ir.Value, ir.Value]:
        """How many elements of a row are active, and `even` if that is so."""
        lowering, builder = self.lowering, self.lowering.builder
        count: ir.Value = I64(self.type.shape[self.rows.dim])
        if self.access.mask is None:
            return count, even
        compared = {term.comparison for term in self.rows.ends}
        for found in (found for op, found in lowering.active_counts.items() if op in compared):
            count, even = least(builder, count, found.count), builder.and_(even, found.regular)
        some = wide(builder, lowering.tile(self.access.mask).at(lowering.emit, index))
        return builder.select(some, count, I64(0)), even


def pointer_rows(lowering: Lowering, access: MemoryAccess) -> PointerRows | None:
    """The rows of an access through pointers; None if it is not known to have any, or every element is looked at."""
    rows, tile = lowering.loads.rows.get(access.op), access.value or access.result
    assert tile is not None, "an access moves a tile"
    if rows is None or lowering.strict or not moves_as_bytes(tile.tile.element):
        return None
    return PointerRows(lowering, access, rows, tile.tile)


def load_pointer_rows(place: PointerRows, mask: Tile | None, outside: Tile | None) -> Tile:
    """The tile read now; elements that are masked off are those of `outside`, or zero."""
    lowering, emit, builder = place.lowering, place.lowering.emit, place.lowering.builder
    type, dim = place.type, place.rows.dim
    copy = turned_buffer(emit, type, [*(other for other in range(type.rank) if other != dim), dim])
    extent = I64(type.shape[dim])

    def read(index: Index, row: PointerRow) -> None:
        with emit.when(builder.and_(row.fine, builder.icmp_unsigned("!=", row.count, I64(0)))):
            copy_row(emit, copy, row.window, dim, index, row.count)
        if mask is not None:
            with emit.when(builder.icmp_unsigned("<", row.count, extent)):
                _pad(emit, copy, outside, dim, index, row.count)

    def one_by_one() -> None:
        check_each_pointer(lowering, place.access)
        elements = loaded(type, lowering.tile(place.access.address), mask, outside, MemoryOrdering.WEAK)
        emit.loop_nest(type.shape, lambda index: copy.put(emit, index, elements.at(emit, index)))

    odd = _any_odd(place, read)
    with emit.when(odd, likely=False), emit.rarely():
        one_by_one()
    return copy


def store_pointer_rows(place: PointerRows, mask: Tile | None, value: Tile) -> None:
    """Write the elements that are not masked off, in row-major order."""
    lowering, emit, builder = place.lowering, place.lowering.emit, place.lowering.builder
    source, dim = dense(emit, value), place.rows.dim

    def write(index: Index, row: PointerRow) -> None:
        with emit.when(builder.icmp_unsigned("!=", row.count, I64(0))):
            copy_row(emit, row.window, source, dim, index, row.count)

    odd = _any_odd(place, lambda index, row: None)
    with builder.if_else(odd, likely=False) as (separately, together), emit.one_way():
        with separately, emit.rarely():
            check_each_pointer(lowering, place.access)
            store(emit, lowering.tile(place.access.address), source, mask, MemoryOrdering.WEAK)
        with together:
            place.each(write)


def _any_odd(place: PointerRows, act: Callable[[Index, PointerRow], None]) -> ir.Value:
    """Run `act` for all rows; an i1: whether any of them is not fine."""
    emit, builder = place.lowering.emit, place.lowering.builder
    fine = emit.stack(I1)
    builder.store(I1(1), fine)

    def visit(index: Index, row: PointerRow) -> None:
        builder.store(builder.and_(builder.load(fine, typ=I1), row.fine), fine)
        act(index, row)

    place.each(visit)
    return builder.not_(builder.load(fine, typ=I1))


def _pad(emit: Emitter, copy: Window, outside: Tile | None, dim: int, index: Index, first: ir.Value) -> None:
    """Fill a row of the copy from `first` on."""
    if outside is None:
        pad_row(emit, copy, dim, index, first, None)
        return
    with emit.counted(first, I64(copy.type.shape[dim]), parallel=True) as position:
        at = (*index[:dim], position, *index[dim + 1 :])
        copy.put(emit, at, outside.at(emit, at))


def _at_end(index: Index, dim: int, extent: int) -> Index:
    return (*index[:dim], I64(extent - 1), *index[dim + 1 :])
