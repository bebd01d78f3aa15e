"""Tiles written as rows of memory, as many and as long as there are: the rest lies outside of an array.

Knows: the order in which rows are written, and where a row begins to fill whole lines of the cache. Does not know:
which stores bypass the cache (`cpu.memory.streams`), nor whether memory may be written while the tile is read from it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from tileir.cpu.emit.elements import I1, I8, I64
from tileir.cpu.emit.emitter import CACHE_LINE, FIRST_LEVEL, Emitter, Index, prefetch
from tileir.cpu.emit.tiles import Tile, Window
from tileir.cpu.lowering.state import Lowering
from tileir.cpu.memory.masked_rows import is_masked, write_masked
from tileir.cpu.memory.streams import may_stream, stream_rows, worth_while
from tileir.ir.core import Op

_AHEAD, _STRIP = 1024, 256
"""Bytes between what is read and what is asked for, and of a row for which lines are asked for at a time."""
_LONG = 1024
"""Bytes of a row from which on it pays to begin with whole lines."""


def write_rows(
    lowering: Lowering,
    op: Op,
    memory: Window,
    tile: Tile,
    dim: int,
    counts: Sequence[ir.Value],
    read: Sequence[Window] = (),
) -> None:
    """Write `counts` elements of each dimension, in rows along `dim`, past the cache if that is worth while.

    `read` is memory of the same shape that the tile is computed from, and that is to be asked for ahead.
    """
    builder, some = lowering.builder, I1(1)
    for count in counts:
        some = builder.and_(some, builder.icmp_unsigned("!=", count, I64(0)))
    with lowering.emit.when(some):
        _write_some(lowering, op, memory, tile, dim, counts, read)


def _write_some(
    lowering: Lowering,
    op: Op,
    memory: Window,
    tile: Tile,
    dim: int,
    counts: Sequence[ir.Value],
    read: Sequence[Window],
) -> None:
    emit = lowering.emit
    if not may_stream(lowering, op):
        _write_through(emit, memory, tile, dim, counts, read)
        return
    with lowering.builder.if_else(worth_while(lowering, op, memory)) as (past, through), emit.one_way():
        with past:
            stream_rows(emit, memory, tile, dim, counts)
        with through:
            _write_through(emit, memory, tile, dim, counts, read)


def _write_through(
    emit: Emitter, memory: Window, tile: Tile, dim: int, counts: Sequence[ir.Value], read: Sequence[Window]
) -> None:
    """Write row by row along `dim`, each from the first line on that it fills: no store crosses lines then."""
    builder, rows, size = emit.builder, [*counts[:dim], 1, *counts[dim + 1 :]], memory.element.byte_size
    if isinstance(tile, Window) and is_masked(memory, tile, dim):
        emit.loop_nest(rows, lambda index: write_masked(emit, memory, tile, dim, index, counts[dim]))
        return
    # A number, as LLVM would make two loop nests of a condition.
    is_long = builder.icmp_unsigned(">=", counts[dim], I64(_LONG // size))
    within = builder.and_(builder.sext(is_long, I64), I64(CACHE_LINE - size))

    def write(index: Index, position: ir.Value) -> None:
        at = (*index[:dim], position, *index[dim + 1 :])
        memory.put(emit, at, tile.at(emit, at))

    def ahead(index: Index) -> Callable[[ir.Value], list[ir.Value]]:
        return lambda position: [window.address(emit, (*index[:dim], position, *index[dim + 1 :])) for window in read]

    def row(index: Index) -> None:
        behind = builder.neg(builder.ptrtoint(memory.address(emit, index), I64))
        head = builder.lshr(builder.and_(behind, within), I64(size.bit_length() - 1))
        broken, left = builder.icmp_unsigned("!=", head, I64(0)), builder.icmp_unsigned("<", head, counts[dim])
        with emit.when(broken), emit.rarely(), emit.counted(I64(0), head) as position:
            write(index, position)
        with emit.when(left):
            begin = head
            if read:
                begin = _write_strips(emit, size, head, counts[dim], ahead(index), lambda at: write(index, at))
            rest = builder.icmp_unsigned("<", begin, counts[dim])
            with emit.when(rest), emit.counted(begin, counts[dim], parallel=True) as position:
                write(index, position)

    emit.loop_nest(rows, row)


def _write_strips(
    emit: Emitter,
    size: int,
    begin: ir.Value,
    end: ir.Value,
    addresses: Callable[[ir.Value], list[ir.Value]],
    write: Callable[[ir.Value], None],
) -> ir.Value:
    """Write a row strip by strip, asking for what is read at `addresses` ahead; gives where whole strips end."""
    builder, strip = emit.builder, _STRIP // size
    count = builder.udiv(builder.sub(end, begin), I64(strip))
    whole = builder.add(begin, builder.mul(count, I64(strip)))
    with emit.when(builder.icmp_unsigned("!=", count, I64(0))), emit.counted(begin, whole, strip) as first:
        for address in addresses(first):
            for line in range(0, _STRIP, CACHE_LINE):
                prefetch(builder, builder.gep(address, [I64(_AHEAD + line)], source_etype=I8), FIRST_LEVEL)
        with emit.counted(I64(0), I64(strip), parallel=True) as within:
            write(builder.add(first, within))
    return whole
