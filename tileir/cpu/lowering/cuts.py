"""How many elements a comparison leaves active along the dimension of a tile that it cuts, in registers.

Knows: how that is computed from the corners of its operands, and when it holds (`analysis.region` says for which
comparisons it is asked). Does not know: memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llvmlite import ir

from tileir.analysis.region import is_strict
from tileir.cpu.emit.elements import I1, I64
from tileir.cpu.emit.emitter import Emitter, Extent, as_register, highest_index
from tileir.cpu.emit.tiles import Tile, wide
from tileir.ir.attributes import Signedness
from tileir.ops import integer


@dataclass(frozen=True)
class ActiveCount:
    """The first `count` elements along the dimension are active (an i64), if `regular` holds (an i1): numbers do rise
    by one as they seem to. Where there is no dimension, `count` is 1 or 0: all elements are active, or none."""

    count: ir.Value
    regular: ir.Value


def active_count(
    emit: Emitter, op: integer.CmpI, left: Tile, right: Tile, extents: Sequence[Extent], dim: int | None
) -> ActiveCount:
    """The count of a comparison whose lesser side is `left`, of these extents."""
    builder, rank = emit.builder, left.type.rank
    start = (I64(0),) * rank
    first, limit = (wide(builder, tile.at(emit, start)) for tile in (left, right))
    compare = builder.icmp_signed if op.signedness is Signedness.SIGNED else builder.icmp_unsigned
    some = compare("<" if is_strict(op) else "<=", first, limit)
    if dim is None:
        return ActiveCount(builder.zext(some, I64), I1(1))
    extent, highest = as_register(extents[dim]), highest_index(builder, extents[dim])
    end = tuple(highest if other == dim else I64(0) for other in range(rank))
    last = wide(builder, left.at(emit, end))
    even = builder.icmp_unsigned("==", _widened(builder, builder.sub(last, first)), highest)
    regular = builder.and_(even, compare("<=", first, last))
    distance = _widened(builder, builder.sub(limit, first))
    if is_strict(op):
        count = least(builder, distance, extent)
    else:
        count = builder.add(least(builder, distance, highest), I64(1))
    return ActiveCount(builder.select(some, count, I64(0)), regular)


def _widened(builder: ir.IRBuilder, number: ir.Value) -> ir.Value:
    return number if number.type == I64 else builder.zext(number, I64)


def least(builder: ir.IRBuilder, one: ir.Value, other: ir.Value) -> ir.Value:
    """The lesser of two unsigned numbers."""
    return builder.select(builder.icmp_unsigned("<", one, other), one, other)
