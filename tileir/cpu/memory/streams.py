"""Stores of whole tiles that bypass the cache where that saves reading what they overwrite.

A line of memory is read before a part of it is changed in the cache, and goes back to memory in the end: what is stored
moves twice. A store that bypasses the cache moves it once, but who reads it next has to fetch it from memory. So it is
worth while for more than stays in a cache, and not for what has just been read. A row of the tile is computed into a
buffer of a few lines and goes to memory from there, whole lines at a time, which are aligned.

Knows: when that is worth while, and how a tile is written so. Does not know: for which stores it is right
(`cpu.analysis.streams`).
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from tileir.analysis.effects import MemoryAccess
from tileir.cpu.analysis.next_tiles import next_dimension
from tileir.cpu.emit.elements import I8, I64
from tileir.cpu.emit.emitter import Emitter, Extent, Index, highest_index
from tileir.cpu.emit.tiles import Tile, Window, fill
from tileir.cpu.lowering.state import Lowering
from tileir.cpu.memory.lookup import counted
from tileir.ir import types as t
from tileir.ir.core import Op

LEAST_STORED = 1 << 24
"""Bytes that a launch stores at least, if the store bypasses the cache."""
_LINE, _PIECE = 64, 16
"""Bytes of a line of the cache, and of what the ends of rows are copied in."""
_PART = 1024
"""Bytes of a part of a row: so short that reads go on while one is copied. No row is shorter."""
_SHORT = 256
"""Bytes of the shortest row of a tile that lies in the arena anyway."""


def write_tile(lowering: Lowering, op: Op, memory: Window, tile: Tile) -> None:
    """Write every element of `tile` into `memory`, past the cache if it pays."""
    emit, dim = lowering.emit, _streamed_dimension(memory, tile)
    if dim is None or not may_stream(lowering, op):
        fill(emit, memory, tile)
        return
    with lowering.builder.if_else(worth_while(lowering, op, memory)) as (past, through), emit.one_way():
        with past:
            _stream(emit, memory, tile, dim)
        with through:
            fill(emit, memory, tile)


def may_stream(lowering: Lowering, op: Op) -> bool:
    """Whether a store may bypass the cache, its processor can, and what it overwrites is not asked for before."""
    is_right = op in lowering.streams and not asks_ahead(lowering, MemoryAccess.of(op))
    return is_right and lowering.emit.module.triple.startswith("x86_64")


def asks_ahead(lowering: Lowering, store: MemoryAccess) -> bool:
    """Whether a store asks for what the next tile block overwrites (`cpu.memory.ahead`): not where tile blocks are
    joined."""
    is_single = lowering.joined is None and not lowering.joined_first and not lowering.strict
    return is_single and next_dimension(store) is not None


def row_dimension(memory: Window, least: int = _PART) -> int | None:
    """The dimension along which elements lie side by side, if rows have so many bytes."""
    for dim, (extent, stride) in enumerate(zip(memory.type.shape, memory.strides)):
        if isinstance(stride, ir.Constant) and stride == I64(1) and extent * memory.element.byte_size >= least:
            return dim
    return None


def _streamed_dimension(memory: Window, tile: Tile) -> int | None:
    """The dimension of rows that are long enough to bypass the cache: shorter ones are if they lie in the arena."""
    dim = row_dimension(memory, _SHORT)
    return dim if dim is not None and _has_rows(tile, dim) else row_dimension(memory)


def _has_rows(tile: Tile, dim: int) -> bool:
    """Whether a tile lies in the arena in rows along a dimension."""
    return isinstance(tile, Window) and not tile.shared and bool(tile.strides[dim] == I64(1))


def worth_while(lowering: Lowering, op: Op, memory: Window) -> ir.Value:
    """An i1: the launch stores much, rows are aligned, and no array that it reads begins where this one does."""
    builder, size, blocks = lowering.builder, memory.element.byte_size, blocks_of(lowering)
    least = -(-LEAST_STORED // (memory.type.count * size))
    loose = builder.ptrtoint(memory.base, I64)
    for stride in memory.strides:
        if stride != I64(1):
            loose = builder.or_(loose, builder.mul(stride, I64(size)))
    aligned = builder.icmp_unsigned("==", builder.and_(loose, I64(_PIECE - 1)), I64(0))
    found = builder.and_(builder.icmp_unsigned(">=", blocks, I64(least)), aligned)
    target, read = lowering.streams[op]
    for position in sorted(read):
        other = builder.icmp_unsigned("!=", lowering.slot(position), lowering.slot(target))
        found = builder.and_(found, other)
    return found


def blocks_of(lowering: Lowering) -> ir.Value:
    """The number of tile blocks, an i64."""
    builder, blocks = lowering.builder, I64(1)
    for extent in lowering.grid:
        blocks = builder.mul(blocks, builder.zext(extent, I64))
    return blocks


def _stream(emit: Emitter, memory: Window, tile: Tile, dim: int) -> None:
    """Write the tile row by row along `dim`, through a buffer unless it has rows in the arena."""
    shape, size = list(memory.type.shape), memory.element.byte_size
    if isinstance(tile, Window) and _has_rows(tile, dim):
        shape[dim] = 1
        length = I64(memory.type.shape[dim] * size)
        emit.loop_nest(shape, lambda at: _copied(emit, memory.address(emit, at), tile.address(emit, at), length))
        return
    parts = shape[dim] * size // _PART
    _stream_parts(emit, memory, tile, dim, [*shape[:dim], parts, *shape[dim + 1 :]])


def stream_rows(emit: Emitter, memory: Window, tile: Tile, dim: int, counts: Sequence[ir.Value]) -> None:
    """Write so many elements of each dimension, row by row along `dim`. What is left of a part of a row goes through
    the cache."""
    builder, size = emit.builder, memory.element.byte_size
    parts = builder.udiv(counts[dim], I64(_PART // size))
    whole = builder.mul(parts, I64(_PART // size))
    with emit.when(builder.icmp_unsigned("!=", parts, I64(0))):
        _stream_parts(emit, memory, tile, dim, [*counts[:dim], parts, *counts[dim + 1 :]])

    def rest(index: Index) -> None:
        with emit.counted(whole, counts[dim], parallel=True) as position:
            at = (*index[:dim], position, *index[dim + 1 :])
            memory.put(emit, at, tile.at(emit, at))

    with emit.when(builder.icmp_unsigned("<", whole, counts[dim])):
        emit.loop_nest([*counts[:dim], 1, *counts[dim + 1 :]], rest)


def _stream_parts(emit: Emitter, memory: Window, tile: Tile, dim: int, parts: Sequence[Extent]) -> None:
    """Write the tile through a buffer, a part of a row at a time."""
    with emit.region():
        buffer = emit.buffer(_LINE + _PART)
        last = highest_index(emit.builder, parts[dim])
        emit.loop_nest(parts, lambda index: _stream_part(emit, memory, tile, dim, buffer, last, index))


def _copied(emit: Emitter, target: ir.Value, source: ir.Value, length: ir.Value) -> None:
    emit.shared("row", [target, source, length], _copy_row)


def _stream_part(
    emit: Emitter, memory: Window, tile: Tile, dim: int, buffer: ir.Value, last: ir.Value, index: Index
) -> None:
    """Compute a part of a row into the buffer, behind a line that holds the end of the part before, and copy the lines
    that are complete; `last` is the number of the last part."""
    builder, element = emit.builder, memory.element
    count = _PART // element.byte_size
    number, first = index[dim], builder.mul(index[dim], I64(count))
    fresh = Window(t.tile(element, count), builder.gep(buffer, [I64(_LINE)], source_etype=I8), (I64(1),))

    def at(position: ir.Value) -> Index:
        return (*index[:dim], position, *index[dim + 1 :])

    emit.loop_nest([count], lambda along: fresh.put(emit, along, tile.at(emit, at(builder.add(first, along[0])))))
    begins = builder.zext(builder.icmp_unsigned("==", number, I64(0)), I64)
    ends = builder.zext(builder.icmp_unsigned("==", number, last), I64)
    emit.shared("part", [memory.address(emit, at(first)), buffer, begins, ends], _copy_part)


# ---------------------------------------------------------------- rows


def _copy_part(emit: Emitter, arguments: Sequence[ir.Value]) -> None:
    """Copy a part of a row, of which what comes before the last boundary of lines in memory is complete, and the end of
    the part before; then move the last line of the buffer to its front. `begins` and `ends` are 1 for the first and the
    last part of a row."""
    builder, (target, buffer, begins, ends) = emit.builder, arguments
    behind = builder.and_(builder.ptrtoint(target, I64), I64(_LINE - 1))
    source = builder.gep(buffer, [builder.sub(I64(_LINE), behind)], source_etype=I8)
    aligned = builder.gep(target, [builder.neg(behind)], source_etype=I8)
    broken = builder.and_(begins, builder.zext(builder.icmp_unsigned("!=", behind, I64(0)), I64))
    head = builder.mul(broken, builder.sub(I64(_LINE), behind))
    _copy_pieces(builder, target, builder.gep(buffer, [I64(_LINE)], source_etype=I8), head)
    with counted(builder, builder.sub(I64(_PART // _LINE), broken)) as line:
        _copy_line(builder, aligned, source, builder.mul(builder.add(line, broken), I64(_LINE)))
    end = builder.gep(buffer, [I64(_PART)], source_etype=I8)
    left = builder.sub(I64(_LINE), behind)
    last = builder.gep(target, [builder.sub(I64(_PART), behind)], source_etype=I8)
    _copy_pieces(builder, last, builder.gep(end, [left], source_etype=I8), builder.mul(ends, behind))
    _copy(builder, buffer, end, _LINE)


def _copy_row(emit: Emitter, arguments: Sequence[ir.Value]) -> None:
    """Copy bytes, of which there are more than a line, to an address that is a multiple of `_PIECE`."""
    builder, (target, source, length) = emit.builder, arguments
    head = builder.and_(builder.neg(builder.ptrtoint(target, I64)), I64(_LINE - 1))
    lines = builder.lshr(builder.sub(length, head), I64(_LINE.bit_length() - 1))
    behind = builder.add(head, builder.mul(lines, I64(_LINE)))
    _copy_pieces(builder, target, source, head)
    with counted(builder, lines) as line:
        _copy_line(builder, target, source, builder.add(head, builder.mul(line, I64(_LINE))))
    _copy_pieces(builder, _at(builder, target, behind), _at(builder, source, behind), builder.sub(length, behind))


def _copy_line(builder: ir.IRBuilder, target: ir.Value, source: ir.Value, at: ir.Value) -> None:
    stored = _copy(builder, _at(builder, target, at), _at(builder, source, at), _LINE)
    stored.set_metadata("nontemporal", builder.module.add_metadata([ir.IntType(32)(1)]))


def _copy_pieces(builder: ir.IRBuilder, target: ir.Value, source: ir.Value, length: ir.Value) -> None:
    """Copy less than a line. Not in a loop, which LLVM would make a call of."""
    for done in range(0, _LINE - _PIECE, _PIECE):
        with builder.if_then(builder.icmp_unsigned(">", length, I64(done))):
            _copy(builder, _at(builder, target, I64(done)), _at(builder, source, I64(done)), _PIECE)


def _at(builder: ir.IRBuilder, base: ir.Value, distance: ir.Value) -> ir.Value:
    """The address so many bytes behind another."""
    return builder.gep(base, [distance], source_etype=I8)


def _copy(builder: ir.IRBuilder, target: ir.Value, source: ir.Value, size: int) -> ir.Instruction:
    return builder.store(builder.load(source, typ=ir.VectorType(I8, size), align=1), target, align=size)
