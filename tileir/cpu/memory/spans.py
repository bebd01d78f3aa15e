"""Spans of memory: the addresses between the first and the last element of a tile that steps evenly.

Knows: how a span is computed from a window, or from the corners of a tile of pointers. Does not know: what is asked of
it (`cpu.memory.alias_checks`, `cpu.memory.checks`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llvmlite import ir

from tileir.cpu.emit.elements import I1, I64
from tileir.cpu.emit.emitter import Emitter, Extent, highest_index
from tileir.cpu.emit.tiles import Tile, Window, address_of

FARTHEST = 1 << 31
"""Bytes that a tile of pointers may span to be recognised: index arithmetic in i32 that wraps around goes further."""


@dataclass(frozen=True)
class Span:
    """The addresses of a tile: those of its first and last element, and its steps along each dimension, all in bytes.

    Dimensions of extent 1 are left out. `regular` is an i1: addresses do step as they seem to, upward and without
    wrapping around. `distinct` is an i1: no two elements are seen to share bytes.
    """

    first: ir.Value
    last: ir.Value
    steps: tuple[ir.Value, ...]
    size: int
    regular: ir.Value
    distinct: ir.Value


def span_of_window(emit: Emitter, window: Window, extents: Sequence[Extent]) -> Span:
    """A box of a tensor, whose elements are distinct by the promise of its view; a copy of one is where nothing is."""
    builder, size = emit.builder, window.element.byte_size
    first = last = builder.ptrtoint(window.base, I64) if window.known is None else window.known
    steps = []
    for static, extent, stride in zip(window.type.shape, extents, window.strides):
        if static > 1:
            steps.append(builder.mul(stride, I64(size)))
            last = builder.add(last, builder.mul(highest_index(builder, extent), steps[-1]))
    return Span(first, last, tuple(steps), size, I1(1), I1(1))


def span_of_pointers(emit: Emitter, pointers: Tile, extents: Sequence[Extent]) -> Span:
    """An even tile of pointers, from the addresses at its corners. An extent of 0 in a register counts as 1."""
    builder, shape = emit.builder, pointers.type.shape
    extents = [extent if isinstance(extent, int) else _one_at_least(builder, extent) for extent in extents]
    size = pointers.type.pointer.pointee.byte_size

    def address(*index: ir.Value) -> ir.Value:
        return address_of(builder, pointers.at(emit, index))

    first, last = address(*(I64(0) for _ in shape)), address(*(highest_index(builder, extent) for extent in extents))
    steps, reach, regular = [], first, I1(1)
    for dim, extent in enumerate(extents):
        if shape[dim] == 1:
            continue
        step = builder.sub(address(*(I64(int(dim == other)) for other in range(len(shape)))), first)
        steps.append(step)
        regular = builder.and_(regular, builder.icmp_unsigned("<", step, _farthest_step(builder, extent)))
        reach = builder.add(reach, builder.mul(step, highest_index(builder, extent)))
    regular = builder.and_(regular, builder.icmp_unsigned("==", reach, last))
    regular = builder.and_(regular, builder.icmp_unsigned("<", builder.sub(last, first), I64(FARTHEST)))
    distinct = builder.icmp_unsigned(">=", steps[0], I64(size)) if len(steps) == 1 else I1(0)
    return Span(first, last, tuple(steps), size, regular, distinct)


def _farthest_step(builder: ir.IRBuilder, extent: Extent) -> ir.Value:
    """The step with which a dimension reaches as far as it may."""
    return I64(FARTHEST // extent) if isinstance(extent, int) else builder.udiv(I64(FARTHEST), extent)


def _one_at_least(builder: ir.IRBuilder, extent: ir.Value) -> ir.Value:
    return builder.select(builder.icmp_unsigned("==", extent, I64(0)), I64(1), extent)
