"""Parts of tiles moved as they are: what of a tile lies in memory, and the buffer beside it.

Knows: which elements move byte by byte, whole rows at a time. Does not know: which part that is (`cpu.memory.boxes`,
`cpu.memory.pointer_boxes`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from tileir.cpu.emit.elements import I1, I8, I64, PTR, Num
from tileir.cpu.emit.emitter import Emitter, Index
from tileir.cpu.emit.tiles import UNUSED_BITS, ExpressionTile, Tile, Window, fill, is_dense, materialized, new_buffer
from tileir.ir import types as t


def bounded_nest(emit: Emitter, counts: Sequence[ir.Value], body: Callable[[Index], None]) -> None:
    """A loop nest over `counts` elements of each dimension, any of which may be 0."""
    with emit.builder.if_then(some(emit.builder, counts)):
        emit.loop_nest(counts, body)


def some(builder: ir.IRBuilder, counts: Sequence[ir.Value]) -> ir.Value:
    """An i1: whether no count is 0."""
    found: ir.Value = I1(1)
    for count in counts:
        found = builder.and_(found, builder.icmp_unsigned("!=", count, I64(0)))
    return found


def copy_part(emit: Emitter, target: Window, source: Tile, counts: Sequence[ir.Value]) -> None:
    """Copy so many elements of each dimension between memory and the arena."""
    dims = (dim for dim in range(target.type.rank) if has_rows(target, source, dim))
    dim = next(dims, None)
    if dim is None:
        bounded_nest(emit, counts, lambda index: target.put(emit, index, source.at(emit, index)))
        return
    with emit.builder.if_then(some(emit.builder, counts)):
        rows = [*counts[:dim], 1, *counts[dim + 1 :]]
        emit.loop_nest(rows, lambda index: copy_row(emit, target, source, dim, index, counts[dim]))


def materialized_part(emit: Emitter, tile: Tile, counts: Sequence[ir.Value] | None) -> Tile:
    """The tile with so many elements of each dimension computed, or all of them: others may not be there to read."""
    if counts is None or not isinstance(tile, ExpressionTile) or tile.type.count == 1:
        return materialized(emit, tile)
    buffer = new_buffer(emit, tile.type)
    bounded_nest(emit, counts, lambda index: buffer.put(emit, index, tile.at(emit, index)))
    return buffer


def copy_row(emit: Emitter, target: Window, source: Tile, dim: int, index: Index, count: ir.Value) -> None:
    """Copy `count` elements, at least one, along `dim` from `index` on, likewise."""
    if has_rows(target, source, dim):
        assert isinstance(source, Window), "it has rows"
        length = emit.builder.mul(count, I64(target.element.byte_size))
        ends = target.address(emit, index), source.address(emit, index)
        _call(emit.builder, "llvm.memcpy.p0.p0.i64", (PTR, PTR, I64, I1), *ends, length, I1(0))
        return
    with emit.counted(I64(0), count, parallel=True) as position:
        at = _moved(index, dim, position)
        target.put(emit, at, source.at(emit, at))


def pad_row(emit: Emitter, buffer: Window, dim: int, index: Index, first: ir.Value, outside: Num | None) -> None:
    """Fill a row of a buffer along `dim`, which has unit stride there, from `first` on, of which it has more: with
    `outside`, or with elements whose bytes are 0."""
    builder, extent = emit.builder, I64(buffer.type.shape[dim])
    if outside is None:
        length = builder.mul(builder.sub(extent, first), I64(buffer.element.byte_size))
        _clear(builder, buffer.address(emit, _moved(index, dim, first)), length)
        return
    with emit.counted(first, extent, parallel=True) as position:
        buffer.put(emit, _moved(index, dim, position), outside)


def dense(emit: Emitter, tile: Tile) -> Window:
    """The tile with its elements computed, in row-major order."""
    found = materialized(emit, tile)
    if isinstance(found, Window) and is_dense(found):
        return found
    buffer = new_buffer(emit, tile.type)
    fill(emit, buffer, found)
    return buffer


def clear(emit: Emitter, buffer: Window) -> None:
    """Make every element of a dense buffer the one whose bytes are 0."""
    _clear(emit.builder, buffer.base, I64(buffer.type.count * buffer.element.byte_size))


def _clear(builder: ir.IRBuilder, address: ir.Value, length: ir.Value) -> None:
    _call(builder, "llvm.memset.p0.i64", (PTR, I8, I64, I1), address, I8(0), length, I1(0))


def _moved(index: Index, dim: int, position: ir.Value) -> Index:
    return (*index[:dim], position, *index[dim + 1 :])


def has_rows(target: Window, source: Tile, dim: int) -> bool:
    """Whether elements lie side by side along `dim` on both sides, and move as bytes."""
    if not isinstance(source, Window) or source.element != target.element or not moves_as_bytes(target.element):
        return False
    strides = target.strides[dim], source.strides[dim]
    return all(isinstance(stride, ir.Constant) and stride == I64(1) for stride in strides)


def moves_as_bytes(element: t.ElementType | t.PointerType) -> bool:
    """Whether to read and write it changes no bit (`cpu.emit.tiles.from_memory`)."""
    return element not in UNUSED_BITS and element not in (t.I1, t.I4)


def copy_padded_row(
    emit: Emitter, dim: int, memory: Window, copy: Window, outside: Num | None, index: Index, length: ir.Value
) -> None:
    """Copy so much of a row along `dim`, and pad the rest of it, with zeros if `outside` is None."""
    builder = emit.builder
    some = builder.icmp_unsigned("!=", length, I64(0))
    rest = builder.icmp_unsigned("<", length, I64(copy.type.shape[dim]))
    with emit.when(some):
        copy_row(emit, copy, memory, dim, index, length)
    with emit.when(rest):
        pad_row(emit, copy, dim, index, length, outside)


def _call(builder: ir.IRBuilder, name: str, types: Sequence[ir.Type], *arguments: ir.Value) -> None:
    module = builder.module
    if name not in module.globals:
        ir.Function(module, ir.FunctionType(ir.VoidType(), types), name)
    builder.call(module.globals[name], arguments)
