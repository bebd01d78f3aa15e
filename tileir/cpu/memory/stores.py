"""Stores and updates: tiles written straight to memory where the order of reads and writes allows it, else copied."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce

from llvmlite import ir

from tileir.analysis.effects import MemoryAccess
from tileir.analysis.region import is_view_box
from tileir.cpu.analysis.loads import PutOffLoad
from tileir.cpu.emit.elements import I1, I64, Num, is_number, zero
from tileir.cpu.emit.emitter import Emitter, Extent, Index
from tileir.cpu.emit.tiles import (
    ExpressionTile,
    MaskedWindow,
    Tile,
    Window,
    dense,
    fill,
    materialized,
    new_buffer,
    to_memory,
    transposition_of,
)
from tileir.cpu.lowering.products import forget_written
from tileir.cpu.lowering.state import JoinedBlocks, Lowering
from tileir.cpu.memory.cache_policy import (
    BoxStore,
    box_store,
    put_each,
    row_dimension,
    write_rows,
    write_tile,
)
from tileir.cpu.memory.checks import check, check_each_pointer, check_pointers, may_access
from tileir.cpu.memory.copying import bounded_nest, copy_part, copy_row
from tileir.cpu.memory.elements import WORD, add_word, count_change, in_word, update_element
from tileir.cpu.memory.loads import any_odd, run_separately_unless
from tileir.cpu.memory.regions import (
    Box,
    Elements,
    MemoryRow,
    MemoryRows,
    PointerElements,
    Span,
    ViewElements,
    located,
    pointer_elements,
    span_of_pointers,
    span_of_window,
    view_elements,
)
from tileir.ir import types as t
from tileir.ir.attributes import AtomicMode, MemoryOrdering
from tileir.ir.core import Op, Value


def store(lowering: Lowering, access: MemoryAccess) -> None:
    """Write the elements of a tile that belong to the access; with the last of joint stores, those of all of them."""
    stores = [MemoryAccess.of(op) for op in lowering.here.fusion.joint(access.op)]
    if access.op is not stores[-1].op:
        return
    for one in stores:
        forget_written(lowering, one)
    if lowering.joined is not None:
        _store_joined(lowering, lowering.joined, [_box_store(lowering, one) for one in stores])
        return
    if len(stores) > 1:
        _store_jointly(lowering, [_box_store(lowering, one) for one in stores])
        return
    tile, where = _stored(lowering, access), located(lowering, access)
    check(lowering, access, where)
    if isinstance(where, Box):
        _store_box(lowering, box_store(lowering, access, tile, where))
    elif isinstance(where, MemoryRows):
        _store_rows(lowering, access, tile, where)
    else:
        _store_elements(lowering, access, tile, where)


def _stored(lowering: Lowering, access: MemoryAccess) -> Tile:
    assert access.value is not None, "a store has a value"
    return lowering.tile(access.value)


# ---------------------------------------------------------------- boxes


def _store_box(lowering: Lowering, store: BoxStore) -> None:
    """Write rows, or a whole tile, straight to memory where none is written before it is read; else through a copy."""
    emit, builder, memory, box, op = lowering.emit, lowering.builder, store.memory, store.box, store.access.op
    dim = row_dimension(memory)
    with _in_order(lowering, store):
        if lowering.joined_first:
            with emit.region():
                _write_part(emit, box, _materialized(lowering, store))
            return
        if transposition_of(emit, memory, store.tile) is not None:
            _store_transposed(lowering, store)
            return
        if dim is None:
            straight = builder.and_(box.full, unaliased(lowering, op, box.span_of(emit, memory.type.shape)))
        else:
            straight = unaliased(lowering, op, box.span_of(emit, box.counts))
            straight = straight if box.regular is None else builder.and_(straight, box.regular)
        with builder.if_else(straight) as (at_once, apart), emit.one_way():
            with at_once:
                if dim is None:
                    write_tile(lowering, store)
                else:
                    write_rows(lowering, [store], dim, box.counts)
            with apart, emit.region():
                _write_part(emit, box, _materialized(lowering, store))


@contextmanager
def _in_order(lowering: Lowering, store: BoxStore) -> Iterator[None]:
    """Emit the block for a tile whose elements lie apart; elements that share places are written one by one, in
    row-major order."""
    emit, builder, box = lowering.emit, lowering.builder, store.box
    fine = elements_apart(builder, box.window)
    if fine is None:
        yield
        return
    with builder.if_else(fine, likely=True) as (rows, shared), emit.one_way():
        with rows:
            yield
        with shared, emit.region(), emit.rarely():
            copy = _materialized(lowering, store)
            if box.elements is not None:
                _write_elements(emit, _with_mask(emit, box.elements), copy, MemoryOrdering.WEAK)
            else:
                bounded_nest(emit, box.counts, lambda index: box.window.put(emit, index, copy.at(emit, index)))


def _store_transposed(lowering: Lowering, store: BoxStore) -> None:
    """Write a transposed tile through a copy: squares written where they belong would begin and end within lines, which
    are read again for each."""
    emit = lowering.emit
    with emit.region():
        transposed = new_buffer(emit, store.tile.type)
        fill(emit, transposed, store.tile)
        with lowering.builder.if_else(store.box.full) as (whole, part), emit.one_way():
            with whole:
                write_tile(lowering, replace(store, tile=transposed))
            with part:
                _write_part(emit, store.box, transposed)


def _materialized(lowering: Lowering, store: BoxStore) -> Tile:
    """Compute what is stored, and no more than that where the rest may not be there to read."""
    emit, tile, box = lowering.emit, store.tile, store.box
    elements = box.elements
    if box.regular is None or elements is None:
        return _materialized_part(emit, tile, box.counts)
    if store.access.op not in lowering.read_in_part or not isinstance(tile, ExpressionTile):
        return materialized(emit, tile)
    copy = new_buffer(emit, tile.type)

    def put(index: Index) -> None:
        copy.put(emit, index, tile.at(emit, index))

    with emit.builder.if_else(box.regular, likely=True) as (regular, odd), emit.one_way():
        with regular:
            bounded_nest(emit, box.counts, put)
        with odd, emit.rarely():
            _with_mask(emit, elements).each(emit, lambda index, place: put(index))
    return copy


def _materialized_part(emit: Emitter, tile: Tile, counts: Sequence[ir.Value] | None) -> Tile:
    """Compute `counts` elements of each dimension, or all: others may not be there to read."""
    if counts is None or not isinstance(tile, ExpressionTile) or tile.type.count == 1:
        return materialized(emit, tile)
    buffer = new_buffer(emit, tile.type)
    bounded_nest(emit, counts, lambda index: buffer.put(emit, index, tile.at(emit, index)))
    return buffer


def _write_part(emit: Emitter, box: Box, copy: Tile) -> None:
    """Write the elements of a computed tile that belong to the access."""
    if box.regular is None or box.elements is None:
        copy_part(emit, box.window, copy, box.counts)
        return
    with emit.builder.if_else(box.regular, likely=True) as (regular, odd):
        with regular:
            copy_part(emit, box.window, copy, box.counts)
        with odd, emit.rarely():
            _write_elements(emit, _with_mask(emit, box.elements), copy, MemoryOrdering.WEAK)


# ---------------------------------------------------------------- several tiles, or tile blocks, in one loop


def _box_store(lowering: Lowering, access: MemoryAccess) -> BoxStore:
    box = located(lowering, access)
    assert isinstance(box, Box), "joint stores and longer tiles are boxes"
    return box_store(lowering, access, _stored(lowering, access), box)


def _store_joined(lowering: Lowering, joined: JoinedBlocks, stores: Sequence[BoxStore]) -> None:
    """Write the tiles of joined tile blocks, if all they are computed from has been loaded and none is written before
    it is read."""
    builder, (access, counts) = lowering.builder, (stores[0].access, stores[0].box.counts)
    loaded = _all_loaded(lowering, joined, access, counts)
    run_separately_unless(lowering, builder.and_(loaded, _are_harmless(lowering, stores, counts)))
    write_rows(lowering, stores, joined.coarsening.accesses[access.op], counts)


def _store_jointly(lowering: Lowering, stores: Sequence[BoxStore]) -> None:
    """Write tiles in one loop, straight to memory, where no element is written before it is read; else one after the
    other, through copies."""
    emit, builder, box = lowering.emit, lowering.builder, stores[0].box
    if lowering.joined_first:
        _store_copies(lowering, stores)
        return
    dim = row_dimension(box.window)
    counts = box.counts if dim is not None else list(map(I64, box.window.type.shape))
    fine = _are_harmless(lowering, stores, counts)
    for store in stores:
        apart = elements_apart(builder, store.box.window)
        fine = fine if apart is None else builder.and_(fine, apart)
    with builder.if_else(fine, likely=True) as (at_once, one_by_one), emit.one_way():
        with at_once:
            if dim is not None:
                write_rows(lowering, stores, dim, counts)
            else:
                emit.loop_nest(box.window.type.shape, lambda index: put_each(emit, stores, index))
        with one_by_one:
            _store_copies(lowering, stores)


def _store_copies(lowering: Lowering, stores: Sequence[BoxStore]) -> None:
    """Compute all tiles, then check and write one after the other."""
    emit = lowering.emit
    with emit.region():
        copies = [replace(store, tile=_materialized(lowering, store)) for store in stores]
        for copy in copies:
            check(lowering, copy.access, copy.box)
            with _in_order(lowering, copy):
                _write_part(emit, copy.box, copy.tile)


def _are_harmless(lowering: Lowering, stores: Sequence[BoxStore], counts: Sequence[ir.Value]) -> ir.Value:
    """Emit a test of whether stores may write `counts` elements of each dimension in one loop: all that belong to each
    of them, which may be accessed, none that another one writes, and none before it is read."""
    builder, emit, found = lowering.builder, lowering.emit, I1(1)
    spans: list[Span] = []
    for store in stores:
        for count, own in zip(counts, store.box.counts):
            found = builder.and_(found, builder.icmp_unsigned("==", count, own))
        span = span_of_window(emit, store.box.known(builder), counts)
        found = builder.and_(found, may_access(lowering, store.access, store.box))
        found = builder.and_(found, unaliased(lowering, store.access.op, span))
        for other in spans:
            found = builder.and_(found, _apart(builder, other, span))
        spans.append(span)
    return found


def _all_loaded(lowering: Lowering, joined: JoinedBlocks, access: MemoryAccess, counts: Sequence[ir.Value]) -> ir.Value:
    """Emit a test of whether each loaded tile covers what is computed from it."""
    builder, dims, found = lowering.builder, joined.coarsening.dims, I1(1)
    for tile, loaded in joined.covered.items():
        needed = list(map(I64, tile.tile.shape))
        if tile.tile.shape == access.tile.shape:
            needed = list(counts)
        needed[dims[tile]] = counts[joined.coarsening.accesses[access.op]]
        for have, need in zip(loaded, needed):
            found = builder.and_(found, builder.icmp_unsigned(">=", have, need))
    return found


# ---------------------------------------------------------------- rows and elements


def _store_rows(lowering: Lowering, access: MemoryAccess, tile: Tile, rows: MemoryRows) -> None:
    """Write row by row; element by element if any row of pointers is irregular, which is found out before."""
    emit, builder, dim = lowering.emit, lowering.builder, rows.dim
    source = dense(emit, tile)

    def write(index: Index, row: MemoryRow) -> None:
        with emit.when(builder.icmp_unsigned("!=", row.count, I64(0))):
            copy_row(emit, row.window, source, dim, index, row.count)

    if isinstance(rows.elements, ViewElements):
        rows.each(emit, write)
        return
    odd = any_odd(lowering, access, rows, lambda index, row, fine: None)
    with builder.if_else(odd, likely=False) as (separately, together), emit.one_way():
        with separately, emit.rarely():
            check_each_pointer(lowering, access)
            _write_elements(emit, rows.elements, source, MemoryOrdering.WEAK)
        with together:
            rows.each(emit, write)


def _store_elements(lowering: Lowering, access: MemoryAccess, tile: Tile, where: Elements) -> None:
    emit, ordering = lowering.emit, access.ordering
    if not isinstance(where, PointerElements) or not lowering.loads.read_in(access.op):
        _write_elements(emit, where, materialized(emit, tile), ordering)
        return
    straight = unaliased(lowering, access.op, span_of_pointers(lowering, access, where.type.shape))
    with emit.builder.if_else(straight, likely=True) as (at_once, apart):
        with at_once:
            _write_elements(emit, where, tile, ordering)
        with apart, emit.region():
            masked = _with_mask(emit, where)
            _write_elements(emit, masked, materialized(emit, tile), ordering)


def _with_mask(emit: Emitter, where: PointerElements) -> PointerElements:
    """Return the elements with their mask computed: what decides it may be read from memory as well."""
    mask = None if where.mask is None else materialized(emit, where.mask)
    return PointerElements(where.type, where.pointers, mask)


def _write_elements(emit: Emitter, where: Elements, tile: Tile, ordering: MemoryOrdering) -> None:
    def write(index: Index, place: ir.Value) -> None:
        where.store(emit, place, to_memory(emit.builder, tile.at(emit, index)), ordering)

    where.each(emit, write)


# ---------------------------------------------------------------- updates


def update_pointers(
    lowering: Lowering,
    access: MemoryAccess,
    masked_off: Callable[[Index], Num],
    update: Callable[[Index, ir.Value], ir.Value],
) -> None:
    """Bind the result, if it is used: what ``update(index, address)`` gives for an element, `masked_off` for others."""
    assert access.result is not None, "an update through pointers has a result"
    emit, used = lowering.emit, _is_used(lowering, access)
    where = _with_mask(emit, pointer_elements(lowering, access))
    check_pointers(lowering, access)
    old = new_buffer(emit, where.type) if used else None
    if old is not None and where.mask is not None:
        emit.loop_nest(where.type.shape, lambda index: old.put(emit, index, masked_off(index)))

    def write(index: Index, address: ir.Value) -> None:
        found = update(index, address)
        if old is not None:
            emit.builder.store(found, old.address(emit, index))
        count_change(emit, where.type.element, address, found)

    where.each(emit, write)
    if old is not None:
        lowering.values[access.result] = old


def _is_used(lowering: Lowering, access: MemoryAccess) -> bool:
    return access.result is not None and bool(lowering.here.fusion.users(access.result))


def combine_at_pointers(lowering: Lowering, access: MemoryAccess, mode: AtomicMode, source: Tile) -> None:
    """Combine the elements of a tile into memory; bind the old ones if they are used."""
    emit, masked_off, ordering = lowering.emit, zero(source.type.element), access.update_ordering

    def update(index: Index, address: ir.Value) -> ir.Value:
        return update_element(emit, mode, address, source.at(emit, index), ordering)

    rows_last = lowering.loads.regions[access.op].row_dimension == source.type.rank - 1
    if not rows_last or _is_used(lowering, access) or not _adds_words(emit, access, mode, source.type):
        update_pointers(lowering, access, lambda index: masked_off, update)
        return
    where = _with_mask(emit, pointer_elements(lowering, access))
    check_pointers(lowering, access)
    _add_words(emit, where, mode, source, ordering)


def reduce_into_view(lowering: Lowering, access: MemoryAccess, mode: AtomicMode) -> None:
    """Combine the elements of a tile that lie in the tensor into memory, each in one step."""
    assert access.value is not None, "a reduction has a value"
    emit, tile, where = lowering.emit, lowering.tile(access.value), view_elements(lowering, access)
    check(lowering, access, where)
    source, ordering = materialized(emit, tile), access.update_ordering
    if _adds_words(emit, access, mode, source.type):
        _add_words(emit, where, mode, source, ordering)
    else:
        where.each(emit, lambda index, at: update_element(emit, mode, at, source.at(emit, index), ordering))


def _adds_words(emit: Emitter, access: MemoryAccess, mode: AtomicMode, type: t.TileType) -> bool:
    """Return whether whole words are added where neighbours fill one: not where each change is counted."""
    is_atomic = access.update_ordering is not MemoryOrdering.WEAK and not emit.counts_changes
    return is_atomic and 1 < in_word(mode, type.element) <= type.shape[-1] if type.rank else False


def _add_words(emit: Emitter, where: Elements, mode: AtomicMode, source: Tile, ordering: MemoryOrdering) -> None:
    """Add neighbours along the last dimension: at once where they fill a word of memory, else one by one."""
    builder, size = emit.builder, where.type.element.byte_size
    *outer, extent = where.type.shape
    count = in_word(mode, where.type.element)

    def body(index: Index) -> None:
        first = builder.mul(index[-1], I64(count))
        members = [(*index[:-1], builder.add(first, I64(member))) for member in range(count)]
        found = [where.at(emit, member) for member in members]
        places = [place() for _, place in found]
        addresses = [where.address_of(emit, place) for place in places]
        together = builder.icmp_unsigned("==", builder.and_(addresses[0], I64(WORD - 1)), I64(0))
        for number, address in enumerate(addresses):
            follows = builder.icmp_unsigned("==", address, builder.add(addresses[0], I64(number * size)))
            together = builder.and_(together, follows)
        actives = [I1(1) if active is None else active for active, _ in found]
        together, some = reduce(builder.and_, actives, together), reduce(builder.or_, actives)
        with builder.if_else(together) as (at_once, apart), emit.one_way():
            with at_once:
                add_word(emit, places[0], [source.at(emit, member) for member in members], ordering)
            with apart, emit.when(some), emit.counted(I64(0), I64(count)) as member:
                one_by_one((*index[:-1], builder.add(first, member)))

    def one_by_one(index: Index) -> None:
        active, place = where.at(emit, index)
        with emit.when(I1(1) if active is None else active):
            update_element(emit, mode, place(), source.at(emit, index), ordering)

    emit.loop_nest((*outer, extent // count), body)


# ---------------------------------------------------------------- aliasing


def elements_apart(builder: ir.IRBuilder, memory: Window) -> ir.Value | None:
    """Emit a test, by nested strides, of whether no two elements of a tile share a place; None if elements are written
    in row-major order anyway."""
    dims = [dim for dim, extent in enumerate(memory.type.shape) if extent > 1]
    unit = next((dim for dim in dims[:-1] if is_number(memory.strides[dim], 1)), None)
    if unit is None:
        return None
    others = [dim for dim in dims if dim != unit]
    orders = [unit, *others], [unit, *reversed(others)]
    if all(isinstance(stride, ir.Constant) for stride in memory.strides) and any(
        _are_nested(memory, dims) for dims in orders
    ):
        return None
    return builder.or_(*(_nested(builder, memory, dims) for dims in orders))


def _are_nested(memory: Window, dims: Sequence[int]) -> bool:
    """Return whether each step along a dimension leads past everything along the dimensions before it; strides are
    constant."""
    reach = 0
    for dim in dims:
        stride = memory.strides[dim].constant
        if stride <= reach:
            return False
        reach += stride * (memory.type.shape[dim] - 1)
    return True


def _nested(builder: ir.IRBuilder, memory: Window, dims: Sequence[int]) -> ir.Value:
    """Emit the same test for any strides."""
    reach, fine = I64(0), I1(1)
    for dim in dims:
        stride = memory.strides[dim]
        fine = builder.and_(fine, builder.icmp_signed(">", stride, reach))
        reach = builder.add(reach, builder.mul(stride, I64(memory.type.shape[dim] - 1)))
    return fine


# ---------------------------------------------------------------- loads in the loop of a store


def unaliased(lowering: Lowering, store: Op, target: Span) -> ir.Value:
    """Emit a test of whether the loop of `store`, which writes the span `target`, may read the loads put off to it."""
    builder, found = lowering.builder, target.regular
    for load in lowering.loads.read_in(store):
        if load.same_tile:
            continue
        source = _span_of(lowering, load)
        harmless = _apart(builder, source, target)
        if load.in_place and source.size == target.size:
            harmless = builder.or_(harmless, _same_places(builder, source, target))
        found = builder.and_(found, builder.and_(source.regular, harmless))
    return found


def _span_of(lowering: Lowering, load: PutOffLoad) -> Span:
    covered = _covered(lowering, load.tile)
    if not is_view_box(load.access):
        return span_of_pointers(lowering, load.access, covered)
    tile = lowering.tile(load.tile)
    window = tile.window if isinstance(tile, MaskedWindow) else tile
    assert isinstance(window, Window)
    return span_of_window(lowering.emit, window, covered)


def _covered(lowering: Lowering, tile: Value) -> Sequence[Extent]:
    """Return how many elements of each dimension of a loaded tile may be read: all, unless tile blocks are joined."""
    found = None if lowering.joined is None else lowering.joined.covered.get(tile)
    return tile.tile.shape if found is None else found


def _apart(builder: ir.IRBuilder, read: Span, written: Span) -> ir.Value:
    before = builder.icmp_unsigned("<=", builder.add(read.last, I64(read.size)), written.first)
    behind = builder.icmp_unsigned("<=", builder.add(written.last, I64(written.size)), read.first)
    return builder.or_(before, behind)


def _same_places(builder: ir.IRBuilder, read: Span, written: Span) -> ir.Value:
    """Emit a test of whether elements at equal indices are the same, and distinct from all others."""
    same = builder.and_(read.distinct, builder.icmp_unsigned("==", read.first, written.first))
    for mine, other in zip(read.steps, written.steps):
        same = builder.and_(same, builder.icmp_unsigned("==", mine, other))
    return same
