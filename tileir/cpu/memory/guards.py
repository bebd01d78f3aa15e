"""Guards: comparisons of a mask that leave the first or the last elements along a dimension active, as counts.

Counts are found from the corners of the compared tiles where the comparison stands. They hold if numbers rise by one
from corner to corner, as they seem to.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from tileir.analysis.region import Edge, is_strict, sides_of
from tileir.cpu.emit.elements import I1, I64, Num
from tileir.cpu.emit.emitter import Emitter, Extent, Index, as_i64, as_register, highest_index, least
from tileir.cpu.emit.tiles import ExpressionTile, materialized, wide
from tileir.cpu.lowering.state import ActiveCount, Lowering
from tileir.cpu.memory.copying import moved
from tileir.ir import types as t
from tileir.ir.attributes import Signedness
from tileir.ir.core import Value
from tileir.ops.integer import CmpI

IRREGULAR = I64(-1)
"""The count of a row in which numbers do not rise by one as they seem to."""


def count_active(lowering: Lowering, op: CmpI) -> None:
    """Note how many elements a comparison leaves active, from the corners of its operands, if it guards an access."""
    guard = lowering.loads.guards.get(op)
    if guard is None:
        return
    if guard.own is None or guard.dims is None:
        extents = lowering.extents(sides_of(op)[0])
        lowering.active_counts[op] = _active(lowering, guard, (I64(0),) * len(extents), extents)
        return
    shape, own = op.lhs.tile.shape, guard.own

    def count(emit: Emitter, index: Index) -> Num:
        found = _active(lowering, guard, index, shape)
        return Num(t.I64, wide=emit.builder.select(found.regular, found.count, IRREGULAR))

    counts = ExpressionTile(t.tile(t.I64, *shape[:own], 1, *shape[own + 1 :]), count)
    lowering.active_rows[op] = materialized(lowering.emit, counts)


def note_rising(lowering: Lowering, remainder: Value) -> None:
    """Note whether a tile of remainders rises by one from its first element to its last, if boxes are made of it: where
    it starts again it falls."""
    dim = lowering.loads.remainders.get(remainder)
    if dim is None:
        return
    builder, emit, tile = lowering.builder, lowering.emit, lowering.tile(remainder)
    start, highest = (I64(0),) * tile.type.rank, highest_index(builder, lowering.extents(remainder)[dim])
    first, last = (wide(builder, tile.at(emit, index)) for index in (start, moved(start, dim, highest)))
    even = builder.icmp_unsigned("==", as_i64(builder, builder.sub(last, first)), highest)
    lowering.rising[remainder] = builder.and_(even, builder.icmp_signed("<=", first, last))


def active_in_row(lowering: Lowering, guard: Edge, index: Index) -> ActiveCount:
    """Return how many elements a guard leaves active in the row that begins at an index."""
    builder, op = lowering.builder, guard.comparison
    if guard.dims is None:
        return lowering.active_counts[op]
    places = {own: at for own, at in zip(guard.dims, index) if own is not None and own != guard.own}
    own_index = tuple(places.get(dim, I64(0)) for dim in range(op.lhs.tile.rank))
    count = wide(builder, lowering.active_rows[op].at(lowering.emit, own_index))
    return ActiveCount(count, builder.icmp_signed("!=", count, IRREGULAR))


def _active(lowering: Lowering, guard: Edge, start: Index, extents: Sequence[Extent]) -> ActiveCount:
    """Return how many elements a guard leaves active, or leaves out in front, from an index on."""
    builder, emit, op, dim = lowering.builder, lowering.emit, guard.comparison, guard.own
    left, right = map(lowering.tile, sides_of(op))
    first, limit = (wide(builder, tile.at(emit, start)) for tile in (left, right))
    compare = builder.icmp_signed if op.signedness is Signedness.SIGNED else builder.icmp_unsigned
    some = compare("<" if is_strict(op) else "<=", first, limit)
    if dim is None:
        return ActiveCount(builder.zext(some, I64), I1(1))
    extent, highest = as_register(extents[dim]), highest_index(builder, extents[dim])
    rising, lowest = (right, limit) if guard.front else (left, first)
    last = wide(builder, rising.at(emit, moved(start, dim, highest)))
    even = builder.icmp_unsigned("==", as_i64(builder, builder.sub(last, lowest)), highest)
    regular = builder.and_(even, compare("<=", lowest, last))
    between = as_i64(builder, builder.sub(first, limit) if guard.front else builder.sub(limit, first))
    if is_strict(op) is not guard.front:
        count = least(builder, between, extent)
    else:
        count = builder.add(least(builder, between, highest), I64(1))
    some = builder.not_(some) if guard.front else some
    return ActiveCount(builder.select(some, count, I64(0)), regular)


def counts_of(
    lowering: Lowering, edges: Sequence[Edge], extents: Sequence[Extent]
) -> tuple[tuple[ir.Value, ...], ir.Value]:
    """Return where the elements of each dimension that a mask leaves active end, and whether they are neighbours."""
    builder = lowering.builder
    counts: list[ir.Value] = list(map(as_register, extents))
    regular: ir.Value = I1(1)
    for edge in sorted(edges, key=lambda edge: (edge.dim is None, edge.dim)):
        found = lowering.active_counts[edge.comparison]
        regular = builder.and_(regular, found.regular)
        if edge.dim is None:
            counts[0] = builder.mul(counts[0], found.count)
        elif not edge.front:
            counts[edge.dim] = least(builder, counts[edge.dim], found.count)
    return tuple(counts), regular


def front_of(lowering: Lowering, edges: Sequence[Edge], rank: int) -> tuple[ir.Value, ...]:
    """Return how many elements a mask leaves out in front along each dimension."""
    builder, front = lowering.builder, [I64(0)] * rank
    for edge in edges:
        if edge.front and edge.dim is not None:
            found, known = lowering.active_counts[edge.comparison].count, front[edge.dim]
            front[edge.dim] = builder.select(builder.icmp_unsigned(">", found, known), found, known)
    return tuple(front)
