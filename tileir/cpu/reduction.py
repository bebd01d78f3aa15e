"""Native code for reductions, scans and generated tiles (specification 8.3).

A reduction along the last dimension keeps a row of partial results, one per lane, and combines them pairwise at the
end; along another dimension it keeps one partial result per remaining element. Both orders are open to an
implementation (semantics 12), and both leave an innermost loop without dependences, which vectorises.
"""

from __future__ import annotations

from collections.abc import Sequence

from tileir.cpu.constants import attribute_number
from tileir.cpu.elements import I32, I64, Num
from tileir.cpu.emitter import Emitter, Index
from tileir.cpu.lowering import Lower, Lowering
from tileir.cpu.tiles import Expression, Scalar, Tile, Window, new_buffer, scalar
from tileir.ir import types as t
from tileir.ir.core import Block
from tileir.ir.rules import Rules
from tileir.ops import core, extension

rules: Rules[Lower] = Rules()

LANES = 64
"""Partial results kept along a row: enough vectors in flight to hide the latency of an addition."""


def combined(lowering: Lowering, body: Block, arguments: Sequence[Num]) -> list[Num]:
    """What the region yields for `arguments`: its code, emitted where the builder stands."""
    for value, number in zip(body.args, arguments):
        assert isinstance(value.type, t.TileType)
        lowering.values[value] = Scalar(value.type, number)
    *operations, terminator = body.ops
    for op in operations:
        lowering.lower(op)
    return [scalar(lowering.emit, lowering.tile(value)) for value in terminator.operands]


def _pairs(first: Sequence[Num], second: Sequence[Num]) -> list[Num]:
    return [number for pair in zip(first, second) for number in pair]


def _with(index: Index, dim: int, position: object) -> Index:
    """`index` with one more dimension."""
    return (*index[:dim], position, *index[dim:])


# ---------------------------------------------------------------- reduce


@rules(core.Reduce)
def lower_reduce(lowering: Lowering, op: core.Reduce) -> None:
    emit = lowering.emit
    sources = [lowering.tile(value) for value in op.sources]
    targets = [new_buffer(emit, value.type) for value in op.outputs]
    with emit.region():
        last = op.dim == sources[0].type.rank - 1
        (_reduce_rows if last else _reduce_columns)(lowering, op, sources, targets)
    for value, target in zip(op.outputs, targets):
        lowering.values[value] = target if value.type.count > 1 else Scalar(value.type, _only(emit, target))


def _only(emit: Emitter, target: Window) -> Num:
    return target.at(emit, (I64(0),) * target.type.rank)


def _reduce_columns(lowering: Lowering, op: core.Reduce, sources: list[Tile], targets: list[Window]) -> None:
    """One partial result per element of the result; the identity and the first slice along the dimension start it."""
    emit, dim, shape = lowering.emit, op.dim, targets[0].type.shape

    def start(index: Index) -> None:
        first = _at(emit, sources, _with(index, dim, I64(0)))
        _put(emit, targets, index, combined(lowering, op.body, _pairs(first, _identities(op))))

    emit.loop_nest(shape, start)
    if sources[0].type.shape[dim] == 1:
        return
    with emit.counted(I64(1), I64(sources[0].type.shape[dim])) as position:

        def step(index: Index) -> None:
            elements = _at(emit, sources, _with(index, dim, position))
            _put(emit, targets, index, combined(lowering, op.body, _pairs(elements, _at(emit, targets, index))))

        emit.loop_nest(shape, step)


def _reduce_rows(lowering: Lowering, op: core.Reduce, sources: list[Tile], targets: list[Window]) -> None:
    """`LANES` partial results along each row, then pairwise, then with the identity."""
    emit, extent = lowering.emit, sources[0].type.shape[op.dim]
    lanes = min(LANES, extent)
    partial = [new_buffer(emit, t.TileType((lanes,), source.element)) for source in sources]

    def row(index: Index) -> None:
        _row_partials(lowering, op, sources, partial, index, extent)
        width = lanes // 2
        while width:
            _halve(lowering, op, partial, width)
            width //= 2
        total = _at(emit, partial, (I64(0),))
        _put(emit, targets, index, combined(lowering, op.body, _pairs(total, _identities(op))))

    emit.loop_nest(targets[0].type.shape, row)


def _row_partials(
    lowering: Lowering, op: core.Reduce, sources: list[Tile], partial: list[Window], outer: Index, extent: int
) -> None:
    emit = lowering.emit
    lanes = partial[0].type.count
    emit.loop_nest((lanes,), lambda lane: _put(emit, partial, lane, _at(emit, sources, (*outer, *lane))))
    if extent == lanes:
        return
    with emit.counted(I64(lanes), I64(extent), lanes) as begin:

        def step(lane: Index) -> None:
            elements = _at(emit, sources, (*outer, emit.builder.add(begin, lane[0])))
            _put(emit, partial, lane, combined(lowering, op.body, _pairs(elements, _at(emit, partial, lane))))

        emit.loop_nest((lanes,), step)


def _halve(lowering: Lowering, op: core.Reduce, partial: list[Window], width: int) -> None:
    """Combine the upper half of the partial results into the lower."""
    emit = lowering.emit

    def step(lane: Index) -> None:
        upper = _at(emit, partial, (emit.builder.add(lane[0], I64(width)),))
        _put(emit, partial, lane, combined(lowering, op.body, _pairs(upper, _at(emit, partial, lane))))

    emit.loop_nest((width,), step)


def _identities(op: core.Reduce | core.Scan) -> list[Num]:
    elements = [value.type.element for value in op.sources]
    return [attribute_number(element, attr) for element, attr in zip(elements, op.identities)]


def _at(emit: Emitter, tiles: Sequence[Tile], index: Index) -> list[Num]:
    return [tile.at(emit, index) for tile in tiles]


def _put(emit: Emitter, targets: Sequence[Window], index: Index, numbers: Sequence[Num]) -> None:
    for target, number in zip(targets, numbers):
        target.put(emit, index, number)


# ---------------------------------------------------------------- scan


@rules(core.Scan)
def lower_scan(lowering: Lowering, op: core.Scan) -> None:
    """Each slice along the dimension from the one before it; the first from the identity."""
    emit, dim = lowering.emit, op.dim
    sources = [lowering.tile(value) for value in op.sources]
    targets = [new_buffer(emit, value.type) for value in op.outputs]
    shape = sources[0].type.shape
    rest, extent = (*shape[:dim], *shape[dim + 1 :]), shape[dim]
    first = I64(extent - 1 if op.reverse else 0)

    def start(index: Index) -> None:
        place = _with(index, dim, first)
        _put(emit, targets, place, combined(lowering, op.body, _pairs(_identities(op), _at(emit, sources, place))))

    emit.loop_nest(rest, start)
    if extent > 1:
        _scan_on(lowering, op, sources, targets, rest, extent)
    for value, target in zip(op.outputs, targets):
        lowering.values[value] = target


def _scan_on(
    lowering: Lowering, op: core.Scan, sources: list[Tile], targets: list[Window], rest: Sequence[int], extent: int
) -> None:
    emit, dim = lowering.emit, op.dim
    with emit.counted(I64(1), I64(extent)) as count:
        position = emit.builder.sub(I64(extent - 1), count) if op.reverse else count
        before = emit.builder.add(position, I64(1 if op.reverse else -1))

        def step(index: Index) -> None:
            place = _with(index, dim, position)
            running = _at(emit, targets, _with(index, dim, before))
            _put(emit, targets, place, combined(lowering, op.body, _pairs(running, _at(emit, sources, place))))

        emit.loop_nest(rest, step)


# ---------------------------------------------------------------- generate


@rules(extension.Generate)
def lower_generate(lowering: Lowering, op: extension.Generate) -> None:
    type = op.result.type

    def compute(emit: Emitter, index: Index) -> Num:
        positions = [Num(t.I32, wide=emit.builder.trunc(at, I32)) for at in index]
        return combined(lowering, op.body, positions)[0]

    target = new_buffer(lowering.emit, type)
    source = Expression(type, compute)
    lowering.emit.loop_nest(type.shape, lambda index: target.put(lowering.emit, index, source.at(lowering.emit, index)))
    lowering.values[op.result] = target
