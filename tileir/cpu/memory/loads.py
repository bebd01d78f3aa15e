"""Loads: tiles that stay in memory where they can, and are copied where they stick out.

A box that belongs to its access in whole is a window of memory. One that sticks out of its tensor, or that a mask cuts,
is first copied into the arena, with its padding. Both are the same `Window` afterwards: a base and strides chosen by
one branch. Where joined tile blocks load, every box is a window, and its readers stop where the array does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace

from llvmlite import ir

from tileir.analysis.effects import MemoryAccess
from tileir.cpu.analysis.loads import LoadPlacement
from tileir.cpu.emit.algebra import Int
from tileir.cpu.emit.driver import SEPARATELY
from tileir.cpu.emit.elements import I1, I64, PTR, Num, is_zero, padding, zero
from tileir.cpu.emit.emitter import Emitter, Extent, Index, either
from tileir.cpu.emit.tiles import (
    ExpressionTile,
    MaskedWindow,
    Tile,
    Window,
    from_memory,
    materialized,
    new_buffer,
    to_memory,
)
from tileir.cpu.lowering.state import Lowering
from tileir.cpu.memory.cache_policy import row_dimension, with_prefetches
from tileir.cpu.memory.checks import check, check_each_pointer, may_access, row_is_fine
from tileir.cpu.memory.copying import (
    clear,
    copy_padded_row,
    copy_part,
    copy_row,
    pad_row,
    rows_along,
)
from tileir.cpu.memory.elements import load_guarded, load_where
from tileir.cpu.memory.live_extents import needs_of_load
from tileir.cpu.memory.regions import Box, Elements, MemoryRow, MemoryRows, PointerElements, ViewElements, located
from tileir.ir import types as t
from tileir.ir.attributes import MemoryOrdering
from tileir.ir.core import Value
from tileir.ops import core


def load(lowering: Lowering, access: MemoryAccess) -> None:
    """Bind the result of a load to its tile."""
    assert access.result is not None, "a load has a result"
    where = located(lowering, access)
    if lowering.joined is not None and access.op in lowering.joined.coarsening.accesses:
        assert isinstance(where, Box), "longer tiles are boxes"
        run_separately_unless(lowering, may_access(lowering, access, where))
        lowering.joined.covered[access.result] = where.counts
        lowering.values[access.result] = where.known(lowering.builder)
        return
    check(lowering, access, where)
    if isinstance(where, Box):
        _load_box(lowering, access, access.result, with_prefetches(lowering, access, where))
    elif isinstance(where, MemoryRows):
        lowering.values[access.result] = _load_rows(lowering, access, where)
    else:
        lowering.values[access.result] = _load_elements(lowering, access, access.result, where)


def run_separately_unless(lowering: Lowering, fine: ir.Value) -> None:
    """Have joined tile blocks run one by one unless `fine` holds; they have stored nothing yet."""
    lowering.emit.leave_if(lowering.builder.not_(fine), SEPARATELY)


def _outside(lowering: Lowering, access: MemoryAccess) -> Tile | None:
    """Return what the rest of the tile reads as; None for elements whose bytes are 0."""
    assert access.result is not None, "a load has a result"
    type, address = access.result.tile, access.address.type
    if isinstance(address, t.TileType):
        return None if access.padding is None else lowering.tile(access.padding)
    value = address.padding if isinstance(address, t.TileViewType) else access.op.attributes.get("padding")
    if is_zero(type.number, value):
        return None
    number = padding(type.number, value)
    return ExpressionTile(type, lambda emit, index: number)


# ---------------------------------------------------------------- boxes


def _load_box(lowering: Lowering, access: MemoryAccess, result: Value, box: Box) -> None:
    """Bind `result` to the window of memory or, where elements are left out, to a padded copy."""
    emit, builder, type = lowering.emit, lowering.builder, result.tile
    at_once = lowering.loads.placement(result) is LoadPlacement.AT_ONCE
    copy = _permuted_buffer(emit, type, box.order)
    needed = {} if box.front else needs_of_load(lowering, result, box)
    extents = [needed.get(dim, extent) for dim, extent in enumerate(type.shape)]
    is_padded = access.mask is not None or box.elements is None
    outside = _outside(lowering, access)

    def fill_one_by_one(elements: PointerElements) -> None:
        each = loaded(elements, outside, MemoryOrdering.WEAK)
        emit.loop_nest(type.shape, lambda index: copy.put(emit, index, each.at(emit, index)))

    if result in lowering.here.masked and not needed and not lowering.joined_first:
        window, counts = box.known(builder), box.counts
        if box.regular is not None and box.elements is not None:
            elements = box.elements
            window = _window_or_copy(lowering, box.regular, box.window, copy, lambda: fill_one_by_one(elements))
            counts = tuple(builder.select(box.regular, *pair) for pair in zip(counts, map(I64, type.shape)))
        tile = MaskedWindow(emit, window, counts, _constant(emit, type, outside))
        lowering.values[result] = materialized(emit, tile) if at_once else tile
        return

    def fill_copy() -> None:
        if box.regular is None or box.elements is None:
            _padded_copy(emit, box, copy, outside, extents)
            return
        with builder.if_else(box.regular, likely=True) as (regular, odd):
            with regular:
                if is_padded:
                    _padded_copy(emit, box, copy, outside, extents)
                else:
                    copy_part(emit, copy, box.window, box.counts)
            with odd, emit.rarely():
                fill_one_by_one(box.elements)

    whole = _serves(builder, box, extents) if needed else box.full
    window = _window_or_copy(lowering, whole, box.window, copy, fill_copy)
    lowering.values[result] = materialized(emit, window) if at_once else window


def _permuted_buffer(emit: Emitter, type: t.TileType, order: Sequence[int]) -> Window:
    """Make a dense buffer whose dimensions lie in the order of memory, so that a unit stride there is one here."""
    buffer = new_buffer(emit, t.tile(type.element, *(type.shape[dim] for dim in order)))
    return Window(type, buffer.base, tuple(buffer.strides[order.index(dim)] for dim in range(type.rank)))


def _constant(emit: Emitter, type: t.TileType, outside: Tile | None) -> ir.Constant:
    """Return the memory form of what all elements outside are."""
    number = zero(type.element) if outside is None else outside.at(emit, (I64(0),) * type.rank)
    found = to_memory(emit.builder, number)
    assert isinstance(found, ir.Constant), "the plan says that it is one"
    return found


def _window_or_copy(
    lowering: Lowering, whole: ir.Value, memory: Window, copy: Window, fill_copy: Callable[[], None]
) -> Window:
    """Return `memory` if `whole` holds, else `copy`, which `fill_copy` fills."""
    emit, builder = lowering.emit, lowering.builder
    inside, partial, merge = (builder.append_basic_block(name) for name in ("inside", "partial", "loaded"))
    builder.cbranch(whole, inside, partial)
    with emit.one_way():
        builder.position_at_end(inside)
        outside_arena = builder.ptrtoint(memory.base, I64)
        builder.branch(merge)
        builder.position_at_end(partial)
        with emit.rarely() if lowering.joined_first else nullcontext():
            fill_copy()
        left = builder.block
        builder.branch(merge)
    builder.position_at_end(merge)
    base = either(builder, PTR, (memory.base, inside), (copy.base, left))
    strides = (either(builder, I64, (mine, inside), (dense, left)) for mine, dense in zip(memory.strides, copy.strides))
    known = either(builder, I64, (outside_arena, inside), (I64(0), left))
    return Window(memory.type, base, tuple(strides), shared=True, known=known, ahead=memory.ahead)


def _serves(builder: ir.IRBuilder, box: Box, extents: Sequence[Extent]) -> ir.Value:
    """Emit a test of whether the needed part of the tile belongs to the access."""
    found: ir.Value = I1(1) if box.regular is None else box.regular
    for count, extent in zip(box.counts, extents):
        least = I64(extent) if isinstance(extent, int) else extent
        found = builder.and_(found, builder.icmp_unsigned(">=", count, least))
    return found


def _padded_copy(emit: Emitter, box: Box, copy: Window, outside: Tile | None, extents: Sequence[Extent]) -> None:
    """Copy the elements that belong to the access, and pad the rest, of so much of each dimension at least."""
    builder, memory, dim = emit.builder, box.window, None if box.front else row_dimension(copy)
    if dim is None:
        if outside is None:
            clear(emit, copy)
        else:
            emit.loop_nest(copy.type.shape, lambda index: copy.put(emit, index, outside.at(emit, index)))
        target = replace(copy, base=copy.address(emit, box.front)) if box.front else copy
        copy_part(emit, target, memory, box.counts)
        return

    def row(index: Index) -> None:
        inside: ir.Value = I1(1)
        for other, (at, count) in enumerate(zip(index, box.counts)):
            if other != dim:
                inside = builder.and_(inside, builder.icmp_unsigned("<", at, count))
        copy_padded_row(emit, dim, memory, copy, outside, index, builder.select(inside, box.counts[dim], I64(0)))

    emit.loop_nest(rows_along(extents, dim), row)


# ---------------------------------------------------------------- rows


def _load_rows(lowering: Lowering, access: MemoryAccess, rows: MemoryRows) -> Tile:
    """Read the tile now, row by row; if a row of pointers is irregular, all of it element by element."""
    emit, builder, type, dim = lowering.emit, lowering.builder, rows.type, rows.dim
    order = [*(other for other in range(type.rank) if other != dim), dim]
    copy, outside = _permuted_buffer(emit, type, order), _outside(lowering, access)
    if isinstance(rows.elements, ViewElements):
        rows.each(emit, lambda at, row: copy_padded_row(emit, dim, row.window, copy, outside, at, row.count))
        return copy

    def read(index: Index, row: MemoryRow, fine: ir.Value) -> None:
        with emit.when(builder.and_(fine, builder.icmp_unsigned("!=", row.count, I64(0)))):
            copy_row(emit, copy, row.window, dim, index, row.count)
        if access.mask is not None:
            with emit.when(builder.icmp_unsigned("<", row.count, I64(type.shape[dim]))):
                pad_row(emit, copy, dim, index, row.count, outside)

    odd = any_odd(lowering, access, rows, read)
    with emit.when(odd, likely=False), emit.rarely():
        check_each_pointer(lowering, access)
        each = loaded(rows.elements, outside, MemoryOrdering.WEAK)
        emit.loop_nest(type.shape, lambda index: copy.put(emit, index, each.at(emit, index)))
    return copy


def any_odd(
    lowering: Lowering, access: MemoryAccess, rows: MemoryRows, act: Callable[[Index, MemoryRow, ir.Value], None]
) -> ir.Value:
    """Run ``act(index, row, fine)`` for all rows; return whether any is not fine."""
    fine = lowering.emit.collector(I1(1))

    def visit(index: Index, row: MemoryRow) -> None:
        found = row_is_fine(lowering, access, row)
        fine.add(Int.__and__, found)
        act(index, row, found)

    rows.each(lowering.emit, visit)
    return lowering.builder.not_(fine.value)


# ---------------------------------------------------------------- elements


def loaded(where: Elements, outside: Tile | None, ordering: MemoryOrdering) -> ExpressionTile:
    """Return the elements, each read where it is used; others are those of `outside`, or zero."""
    type = where.type
    in_vectors = ordering is MemoryOrdering.WEAK and type.element is not t.F4E2M1FN

    def compute(emit: Emitter, index: Index) -> Num:
        active, place = where.at(emit, index)
        if active is None:
            return from_memory(emit.builder, type.element, where.load(emit, place(), ordering))
        other = to_memory(emit.builder, zero(type.element) if outside is None else outside.at(emit, index))
        address = place()
        if in_vectors:
            return load_guarded(emit, type.element, active, other, address)
        return load_where(emit, type.element, active, other, lambda: where.load(emit, address, ordering))

    return ExpressionTile(type, compute)


def _load_elements(lowering: Lowering, access: MemoryAccess, result: Value, where: Elements) -> Tile:
    """Read the elements now, or leave that to the store that the load is put off to."""
    outside, ordering = _outside(lowering, access), access.ordering
    is_put_off = lowering.loads.placement(result) is LoadPlacement.IN_STORE
    if not isinstance(where, PointerElements) or not is_put_off:
        return materialized(lowering.emit, loaded(where, outside, ordering))
    mask, outside = (_read_now(lowering, value) for value in (access.mask, access.padding))
    return loaded(PointerElements(where.type, where.pointers, mask), outside, ordering)


def _read_now(lowering: Lowering, value: Value | None) -> Tile | None:
    """Return the tile of an operand without anything in it that is still to be read."""
    if value is None:
        return None
    tile = lowering.tile(value)
    return tile if isinstance(value.op, core.Constant) else materialized(lowering.emit, tile)
