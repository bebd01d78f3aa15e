"""Copies of parts of tiles between memory and the arena: by elements, or by whole rows.

Rows whose elements move as bytes go through ``memcpy``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from tileir.cpu.emit.algebra import call_named
from tileir.cpu.emit.elements import I1, I64, is_number
from tileir.cpu.emit.emitter import Emitter, Extent, Index, clear_bytes
from tileir.cpu.emit.tiles import (
    Tile,
    Window,
    moves_as_bytes,
)


def rows_along(shape: Sequence[Extent], dim: int) -> list[Extent]:
    """Return the shape of a loop nest over the rows along `dim`."""
    return [*shape[:dim], 1, *shape[dim + 1 :]]


def moved(index: Index, dim: int, position: ir.Value) -> Index:
    """Return the index with another position along `dim`."""
    return (*index[:dim], position, *index[dim + 1 :])


def some(builder: ir.IRBuilder, counts: Sequence[ir.Value]) -> ir.Value:
    """Emit a test of whether no count is 0."""
    found: ir.Value = I1(1)
    for count in counts:
        found = builder.and_(found, builder.icmp_unsigned("!=", count, I64(0)))
    return found


def bounded_nest(emit: Emitter, counts: Sequence[ir.Value], body: Callable[[Index], None]) -> None:
    """Emit a loop nest over `counts` elements of each dimension; any count may be 0."""
    with emit.builder.if_then(some(emit.builder, counts)):
        emit.loop_nest(counts, body)


# ---------------------------------------------------------------- rows


def has_rows(target: Window, source: Tile, dim: int) -> bool:
    """Return whether elements lie side by side along `dim` in both tiles, and move as bytes."""
    if not isinstance(source, Window) or source.element != target.element or not moves_as_bytes(target.element):
        return False
    return is_number(target.strides[dim], 1) and is_number(source.strides[dim], 1)


def _copy_bytes(builder: ir.IRBuilder, target: ir.Value, source: ir.Value, length: ir.Value) -> None:
    """Copy bytes between places that do not overlap."""
    call_named(builder, "llvm.memcpy.p0.p0.i64", ir.VoidType(), [target, source, length, I1(0)])


def copy_row(emit: Emitter, target: Window, source: Tile, dim: int, index: Index, count: ir.Value) -> None:
    """Copy `count` elements, at least one, along `dim` from `index` on."""
    if has_rows(target, source, dim):
        assert isinstance(source, Window), "it has rows"
        length = emit.builder.mul(count, I64(target.element.byte_size))
        ends = target.address(emit, index), source.address(emit, index)
        _copy_bytes(emit.builder, *ends, length)
        return
    with emit.counted(I64(0), count, parallel=True) as position:
        at = moved(index, dim, position)
        target.put(emit, at, source.at(emit, at))


def pad_row(emit: Emitter, buffer: Window, dim: int, index: Index, first: ir.Value, outside: Tile | None) -> None:
    """Fill a row of a buffer along `dim`, of unit stride, from `first` on with `outside`, or with zero bytes."""
    builder, extent = emit.builder, I64(buffer.type.shape[dim])
    if outside is None:
        length = builder.mul(builder.sub(extent, first), I64(buffer.element.byte_size))
        clear_bytes(builder, buffer.address(emit, moved(index, dim, first)), length)
        return
    with emit.counted(first, extent, parallel=True) as position:
        at = moved(index, dim, position)
        buffer.put(emit, at, outside.at(emit, at))


def copy_padded_row(
    emit: Emitter, dim: int, memory: Window, copy: Window, outside: Tile | None, index: Index, count: ir.Value
) -> None:
    """Copy the first `count` elements of a row along `dim`, and pad the rest."""
    builder = emit.builder
    some, rest = (
        builder.icmp_unsigned("!=", count, I64(0)),
        builder.icmp_unsigned("<", count, I64(copy.type.shape[dim])),
    )
    with emit.when(some):
        copy_row(emit, copy, memory, dim, index, count)
    with emit.when(rest):
        pad_row(emit, copy, dim, index, count, outside)


def copy_part(emit: Emitter, target: Window, source: Tile, counts: Sequence[ir.Value]) -> None:
    """Copy `counts` elements of each dimension; any count may be 0."""
    dim = next((dim for dim in range(target.type.rank) if has_rows(target, source, dim)), None)
    if dim is None:
        bounded_nest(emit, counts, lambda index: target.put(emit, index, source.at(emit, index)))
        return
    with emit.builder.if_then(some(emit.builder, counts)):
        rows = rows_along(counts, dim)
        emit.loop_nest(rows, lambda index: copy_row(emit, target, source, dim, index, counts[dim]))


def clear(emit: Emitter, buffer: Window) -> None:
    """Set every byte of a dense buffer to 0."""
    clear_bytes(emit.builder, buffer.base, I64(buffer.type.count * buffer.element.byte_size))
