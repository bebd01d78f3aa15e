"""Cache policy: which stores bypass the cache, and which memory is prefetched before it is read or written.

A line of memory is read before a part of it is changed in the cache, and goes back to memory in the end: what is stored
moves twice. A store that bypasses the cache moves it once, but who reads it next has to fetch it from memory. So it
pays for more than fits in a cache, and not for data just read. Lines go to memory one whole one after the other; the
ends of rows, which share their lines, go through the cache.

A loop that reads or writes a box prefetches that of the next iteration or tile block (`cpu.analysis.streams`).
A store of a box of many short rows prefetches those that it writes soon. Prefetches may be wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from llvmlite import ir

from tileir.analysis.effects import MemoryAccess
from tileir.analysis.expressions import Expression
from tileir.analysis.structure import enclosing_loop
from tileir.analysis.symbols import GridExtent, ScalarParameter
from tileir.cpu.analysis.streams import NextPlace
from tileir.cpu.emit.elements import I1, I8, I32, I64, is_number
from tileir.cpu.emit.emitter import Emitter, Index, as_i64, least
from tileir.cpu.emit.tiles import Tile, Window, fill
from tileir.cpu.emit.vectors import CACHE_LINE
from tileir.cpu.lowering.state import Lowering
from tileir.cpu.memory.copying import moved, rows_along, some
from tileir.cpu.memory.lookup import counted
from tileir.cpu.memory.regions import Box
from tileir.ir.core import Op, Value
from tileir.ops.calls import Func
from tileir.ops.control import For
from tileir.ops.module import Entry

_PIECE = 16
"""Bytes in which the ends of rows are copied."""
_ROW = 1024
"""Bytes of the shortest row that is written by itself."""
_SHORT = 256
"""Bytes of the shortest row of a tile that lies in the arena anyway."""
_ROWS_AHEAD, _MANY_ROWS, _LONGEST_FETCHED = 8, 128, 512
"""How many rows ahead a store prefetches, in boxes of so many rows at least, of so many bytes at most: in longer ones
the processor sees what comes next."""
_LONG = 2048
"""Bytes of a row from which on it pays to begin with whole lines: the elements before the first one go one by one."""


# ---------------------------------------------------------------- tiles and rows, through the cache or past it


@dataclass(frozen=True)
class BoxStore:
    """A store of a tile to a box of memory."""

    access: MemoryAccess
    tile: Tile
    box: Box
    next_own: tuple[ir.Value, ...] = ()
    """The distance to the box that the store writes next, in bytes, if that is known."""

    @property
    def memory(self) -> Window:
        return self.box.window

    @property
    def cached(self) -> Window:
        """The memory as it is written through the cache."""
        return replace(self.memory, ahead=self.memory.ahead + self.next_own)


def write_tile(lowering: Lowering, store: BoxStore) -> None:
    """Write every element of a tile: past the cache if it pays and the tile lies in the arena."""
    emit, memory, tile = lowering.emit, store.memory, store.tile
    dim = row_dimension(memory, _SHORT)
    if dim is None or not _has_rows(tile, dim) or store.access.op not in lowering.plan.streams:
        fill(emit, store.cached, tile)
        return
    assert isinstance(tile, Window), "it has rows"
    length = I64(memory.type.shape[dim] * memory.element.byte_size)

    def copy(index: Index) -> None:
        emit.shared("row", [memory.address(emit, index), tile.address(emit, index), length], _copy_row)

    with lowering.builder.if_else(worth_while(lowering, [store])) as (past, through):
        with past:
            emit.loop_nest(rows_along(memory.type.shape, dim), copy)
        with through, emit.one_way():
            fill(emit, store.cached, tile)


def write_rows(lowering: Lowering, targets: Sequence[BoxStore], dim: int, counts: Sequence[ir.Value]) -> None:
    """Write `counts` elements of each dimension of tiles, in one loop; any count may be 0. Rows lie along `dim`, and
    bypass the cache if it pays."""
    emit, builder = lowering.emit, lowering.builder
    with emit.when(some(builder, counts)):
        is_even = len({target.memory.element.byte_size for target in targets}) == 1
        may_stream = is_even and all(target.access.op in lowering.plan.streams for target in targets)
        _write_lines(emit, targets, dim, counts, worth_while(lowering, targets) if may_stream else None)


def put_each(emit: Emitter, targets: Sequence[BoxStore], index: Index, past: bool = False) -> None:
    """Compute an element of each tile, then write them all; `past` the cache where they become vectors."""
    numbers = [target.tile.at(emit, index) for target in targets]
    for target, number in zip(targets, numbers):
        memory = target.memory if past else target.cached
        stored = memory.put(emit, index, number)
        emit.streamed.update([stored] if past else ())


def _write_lines(
    emit: Emitter, targets: Sequence[BoxStore], dim: int, counts: Sequence[ir.Value], past: ir.Value | None
) -> None:
    """Write row by row along `dim`, each in whole lines of the first target but for its ends: no store crosses lines
    then. The lines bypass the cache if `past` holds."""
    builder, rows, memory = emit.builder, rows_along(counts, dim), targets[0].memory
    size = memory.element.byte_size
    in_lines = builder.icmp_unsigned(">=", counts[dim], I64(_LONG // size))
    in_lines = in_lines if past is None else builder.or_(in_lines, past)
    # A number, as LLVM would make two loop nests of a condition.
    within = builder.and_(builder.sext(in_lines, I64), I64(CACHE_LINE - size))

    def lines(index: Index, head: ir.Value, past: bool) -> None:
        with emit.counted(head, counts[dim], parallel=True) as position:
            put_each(emit, targets, moved(index, dim, position), past)

    def row(index: Index) -> None:
        behind = builder.neg(builder.ptrtoint(memory.address(emit, index), I64))
        head = builder.lshr(builder.and_(behind, within), I64(size.bit_length() - 1))
        head = head if past is None else least(builder, head, counts[dim])
        broken, left = builder.icmp_unsigned("!=", head, I64(0)), builder.icmp_unsigned("<", head, counts[dim])
        with emit.when(broken), emit.compactly(), emit.counted(I64(0), head, parallel=True) as position:
            put_each(emit, targets, moved(index, dim, position))
        with emit.when(left):
            if past is None:
                lines(index, head, False)
                return
            with builder.if_else(past) as (around, through), emit.one_way():
                with through:
                    lines(index, head, False)
                with around:
                    lines(index, head, True)

    emit.loop_nest(rows, row)


def row_dimension(memory: Window, least: int = _ROW) -> int | None:
    """Return the dimension along which elements lie side by side, if rows have at least so many bytes."""
    for dim, (extent, stride) in enumerate(zip(memory.type.shape, memory.strides)):
        if is_number(stride, 1) and extent * memory.element.byte_size >= least:
            return dim
    return None


def _has_rows(tile: Tile, dim: int) -> bool:
    """Return whether a tile lies in the arena in rows along a dimension."""
    return isinstance(tile, Window) and not tile.shared and bool(tile.strides[dim] == I64(1))


def worth_while(lowering: Lowering, targets: Sequence[BoxStore]) -> ir.Value:
    """Emit a test of whether the launch stores much, rows are aligned, those of all targets begin at the same place in
    a line, and no array that it reads begins where one of them does."""
    builder, found = lowering.builder, I1(1)
    times, share = _times(lowering, targets[0].access.op)
    first, loose, apart = targets[0].memory, I64(0), I64(0)
    for target in targets:
        memory, size = target.memory, target.memory.element.byte_size
        enough = -(-lowering.plan.least_streamed // (memory.type.count * size))
        found = builder.and_(found, builder.icmp_unsigned(">=", times, builder.mul(share, I64(enough))))
        own, read = lowering.plan.streams[target.access.op]
        for position in sorted(read):
            other = builder.icmp_unsigned("!=", lowering.slot(position), lowering.slot(own))
            found = builder.and_(found, other)
        base, other = (builder.ptrtoint(one.base, I64) for one in (memory, first))
        loose, apart = builder.or_(loose, base), builder.or_(apart, builder.sub(base, other))
        for stride, other in zip(memory.strides, first.strides):
            if stride != I64(1):
                loose = builder.or_(loose, builder.mul(stride, I64(size)))
            apart = builder.or_(apart, builder.mul(builder.sub(stride, other), I64(size)))
    wrong = builder.or_(builder.and_(loose, I64(_PIECE - 1)), builder.and_(apart, I64(CACHE_LINE - 1)))
    return builder.and_(found, builder.icmp_unsigned("==", wrong, I64(0)))


def _times(lowering: Lowering, op: Op) -> tuple[ir.Value, ir.Value]:
    """Return how often an operation runs in a launch, as a fraction: its loops may have a step."""
    builder, times, share = lowering.builder, lowering.blocks(), I64(1)
    loop = enclosing_loop(op)
    while loop is not None:
        if isinstance(loop, For):
            lower, upper, step = (
                as_i64(builder, lowering.number(value), signed=True) for value in (loop.lower, loop.upper, loop.step)
            )
            times = builder.mul(times, builder.sub(upper, lower))
            share = builder.mul(share, step)
        loop = enclosing_loop(loop)
    return times, share


# ---------------------------------------------------------------- copies past the cache


def _copy_row(emit: Emitter, arguments: Sequence[ir.Value]) -> None:
    """Copy more than a line of bytes to an address that is a multiple of `_PIECE`."""
    builder, (target, source, length) = emit.builder, arguments
    head = builder.and_(builder.neg(builder.ptrtoint(target, I64)), I64(CACHE_LINE - 1))
    lines = builder.lshr(builder.sub(length, head), I64(CACHE_LINE.bit_length() - 1))
    behind = builder.add(head, builder.mul(lines, I64(CACHE_LINE)))
    _copy_pieces(builder, target, source, head)
    with counted(builder, lines) as line:
        _copy_line(builder, target, source, builder.add(head, builder.mul(line, I64(CACHE_LINE))))
    _copy_pieces(builder, _at(builder, target, behind), _at(builder, source, behind), builder.sub(length, behind))


def _copy_line(builder: ir.IRBuilder, target: ir.Value, source: ir.Value, at: ir.Value) -> None:
    stored = _copy(builder, _at(builder, target, at), _at(builder, source, at), CACHE_LINE)
    stored.set_metadata("nontemporal", builder.module.add_metadata([ir.IntType(32)(1)]))


def _copy_pieces(builder: ir.IRBuilder, target: ir.Value, source: ir.Value, length: ir.Value) -> None:
    """Copy less than a line. Not in a loop, which LLVM would make a call of."""
    for done in range(0, CACHE_LINE - _PIECE, _PIECE):
        with builder.if_then(builder.icmp_unsigned(">", length, I64(done))):
            _copy(builder, _at(builder, target, I64(done)), _at(builder, source, I64(done)), _PIECE)


def _at(builder: ir.IRBuilder, base: ir.Value, distance: ir.Value) -> ir.Value:
    """Return the address so many bytes behind another."""
    return builder.gep(base, [distance], source_etype=I8)


def _copy(builder: ir.IRBuilder, target: ir.Value, source: ir.Value, size: int) -> ir.Instruction:
    return builder.store(builder.load(source, typ=ir.VectorType(I8, size), align=1), target, align=size)


# ---------------------------------------------------------------- prefetching


def with_prefetches(lowering: Lowering, access: MemoryAccess, box: Box) -> Box:
    """Return a loaded box whose first reader prefetches the box of the next iteration or tile block, or leave that to a
    later store."""
    prefetch = lowering.here.prefetches.get(access.op)
    if prefetch is None:
        return box
    builder, ahead = lowering.builder, _ahead(lowering, access.op, prefetch.place)
    if prefetch.store is None:
        return replace(box, window=replace(box.window, ahead=(ahead,)))
    place = builder.add(builder.ptrtoint(box.window.base, I64), ahead)
    lowering.fetched.setdefault(prefetch.store, []).append(place)
    return box


def box_store(lowering: Lowering, access: MemoryAccess, tile: Tile, box: Box) -> BoxStore:
    """Return a store that also prefetches what loads have left to it."""
    op, builder, prefetch = access.op, lowering.builder, lowering.here.prefetches.get(access.op)
    first = builder.ptrtoint(box.window.base, I64)
    others = tuple(builder.sub(place, first) for place in lowering.fetched.pop(op, ()))
    own = () if prefetch is None else (_ahead(lowering, op, prefetch.place),)
    if not own and not others and not lowering.strict:
        own = _rows_ahead(lowering, box.window)
    return BoxStore(access, tile, replace(box, window=replace(box.window, ahead=others)), own)


def _rows_ahead(lowering: Lowering, memory: Window) -> tuple[ir.Value, ...]:
    """Return the distance in bytes to a row of a box that is written some rows later, if there are many short ones:
    stores wait for their lines one after the other."""
    if len(memory.type.shape) < 2 or memory.type.shape[-2] < _MANY_ROWS or not is_number(memory.strides[-1], 1):
        return ()
    size = memory.element.byte_size
    is_short = CACHE_LINE <= memory.type.shape[-1] * size <= _LONGEST_FETCHED
    return (lowering.builder.mul(memory.strides[-2], I64(_ROWS_AHEAD * size)),) if is_short else ()


def _ahead(lowering: Lowering, op: Op, place: NextPlace) -> ir.Value:
    """Return the distance in bytes to the box of the next iteration or tile block; 0 if there is none."""
    distance, goes_on = _emitted(lowering, op, place.distance), _goes_on(lowering, op, place)
    return lowering.builder.select(goes_on, distance, I64(0))


def _goes_on(lowering: Lowering, op: Op, place: NextPlace) -> ir.Value:
    """Emit a test of whether there is another iteration, or the grid has one dimension."""
    builder, found = lowering.builder, I1(1)
    loop = enclosing_loop(op)
    while place.turn is not None and loop is not None:
        if isinstance(loop, For) and place.turn in lowering.known.of(loop.body.args[0]).form.symbols():
            position, step, upper = map(lowering.number, (loop.body.args[0], loop.step, loop.upper))
            return builder.icmp_signed("<", step, builder.sub(upper, position))
        loop = enclosing_loop(loop)
    for extent in lowering.grid[1:]:
        found = builder.and_(found, builder.icmp_unsigned("==", extent, I32(1)))
    return found


def _emitted(lowering: Lowering, op: Op, form: Expression) -> ir.Value:
    """Return an expression over parameters and extents of the grid, an i64."""
    builder, total = lowering.builder, I64(form.constant)
    for product, factor in form.terms.items():
        term = I64(factor)
        for symbol in product:
            if isinstance(symbol, GridExtent):
                term = builder.mul(term, builder.zext(lowering.grid[symbol.axis], I64))
            elif isinstance(symbol, ScalarParameter):
                term = builder.mul(term, lowering.unsigned(_parameters(op)[symbol.index]))
        total = builder.add(total, term)
    return total


def _parameters(op: Op) -> Sequence[Value]:
    """Return the parameters of the entry or device function around."""
    while not isinstance(op, Entry | Func):
        assert op.parent_op is not None, "an access stands in a function"
        op = op.parent_op
    return op.body.args
