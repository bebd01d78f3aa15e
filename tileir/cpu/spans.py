"""Tiles of pointers that step evenly through memory: found in the program, checked when the code runs.

Knows: which values are, but for wrap-around, a start plus a multiple of each index, and what range of memory such a
tile of pointers spans. Does not know: loads and stores (`cpu.pointers`).
"""

from __future__ import annotations

from dataclasses import dataclass

from llvmlite import ir

from tileir.cpu.elements import I64, memory_bytes
from tileir.cpu.emitter import Emitter
from tileir.cpu.tiles import Tile, address_of
from tileir.ir import types as t
from tileir.ir.core import Op, Value
from tileir.ops import core, integer, misc

FARTHEST = 1 << 31
"""Bytes that a tile of pointers may span to be recognised: index arithmetic in i32 that wraps around goes further."""

DEPTH = 12
"""Operations between a tile of pointers and what it comes from."""


def even(value: Value, depth: int = DEPTH) -> bool:
    """Whether the tile is a start plus a multiple of each index, computed without or with wrap-around."""
    op = value.op
    if op is None or depth == 0:
        return _uniform(value)
    if _uniform(value) or isinstance(op, core.Iota):
        return True
    if isinstance(op, core.Broadcast | misc.Assume) or _keeps_dimensions(op):
        return even(op.operands[0], depth - 1)
    if isinstance(op, integer.AddI | integer.SubI | core.Offset):
        return all(even(operand, depth - 1) for operand in op.operands)
    products = isinstance(op, integer.MulI) and any(map(_uniform, op.operands))
    return products and all(even(operand, depth - 1) for operand in op.operands)


def _uniform(value: Value) -> bool:
    """Whether all elements are known to be the same."""
    assert isinstance(value.type, t.TileType)
    op = value.op
    if value.type.count == 1:
        return True
    if isinstance(op, core.Constant):
        return bool(op.value.is_splat)
    return isinstance(op, core.Broadcast | core.Reshape) and _uniform(op.source)


def _keeps_dimensions(op: Op | None) -> bool:
    """A reshape that only adds or drops extents of 1."""
    if not isinstance(op, core.Reshape):
        return False
    before, after = ([extent for extent in value.type.shape if extent != 1] for value in (op.source, op.result))
    return before == after


@dataclass(frozen=True)
class Span:
    """The addresses of an even tile of pointers: from `first` to `last`, by `steps` along each dimension.

    `regular` is an i1: the addresses do step as they seem to, upward and without wrapping around.
    """

    first: ir.Value
    last: ir.Value
    steps: tuple[ir.Value, ...]
    regular: ir.Value
    size: int


def span(emit: Emitter, pointers: Tile) -> Span:
    """The span of an even tile of pointers, from the addresses at its corners."""
    builder, shape = emit.builder, pointers.type.shape
    assert isinstance(pointers.element, t.PointerType)

    def address(*index: int) -> ir.Value:
        return address_of(builder, pointers.at(emit, tuple(map(I64, index))))

    first, last = address(*(0 for _ in shape)), address(*(extent - 1 for extent in shape))
    steps, reach, regular = [], first, ir.IntType(1)(1)
    for dim, extent in enumerate(shape):
        if extent == 1:
            continue
        step = builder.sub(address(*(int(dim == other) for other in range(len(shape)))), first)
        steps.append(step)
        small = builder.icmp_unsigned("<", step, I64(FARTHEST // extent))
        regular = builder.and_(regular, small)
        reach = builder.add(reach, builder.mul(step, I64(extent - 1)))
    regular = builder.and_(regular, builder.icmp_unsigned("==", reach, last))
    regular = builder.and_(regular, builder.icmp_unsigned("<", builder.sub(last, first), I64(FARTHEST)))
    return Span(first, last, tuple(steps), regular, memory_bytes(pointers.element.pointee))


def harmless(builder: ir.IRBuilder, read: Span, written: Span) -> ir.Value:
    """Whether elements may be read one by one while those written are: no other element's memory is read later."""
    before = builder.icmp_unsigned("<=", builder.add(read.last, I64(read.size)), written.first)
    behind = builder.icmp_unsigned("<=", builder.add(written.last, I64(written.size)), read.first)
    apart = builder.or_(before, behind)
    if len(read.steps) == len(written.steps) == 1 and read.size == written.size:
        apart = builder.or_(apart, _same(builder, read, written))
    return builder.and_(builder.and_(read.regular, written.regular), apart)


def _same(builder: ir.IRBuilder, read: Span, written: Span) -> ir.Value:
    """The same elements at the same index, each only once."""
    (step,), (other,) = read.steps, written.steps
    same = builder.and_(
        builder.icmp_unsigned("==", read.first, written.first), builder.icmp_unsigned("==", step, other)
    )
    return builder.and_(same, builder.icmp_unsigned(">=", step, I64(read.size)))
