"""Native code for reductions and scans (spec: reduction#top).

The trees of the specification become loops without dependences, which vectorise along rows and columns; several levels
of a reduction are joined in registers before anything is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from llvmlite import ir

from tileir.cpu.emit.algebra import Int
from tileir.cpu.emit.elements import I1, I64, Num, memory_type
from tileir.cpu.emit.emitter import Emitter, Index
from tileir.cpu.emit.tiles import Scalar, Tile, Window, materialized, new_buffer, row_major, scalar, wide
from tileir.cpu.lowering.reports import any_where
from tileir.cpu.lowering.state import Lower, Lowering
from tileir.cpu.plan import FAN
from tileir.ir import types as t
from tileir.ir.rules import Rules
from tileir.ops import reduction
from tileir.ops.reduction import REDUCE_BLOCK, SCAN_BLOCK

rules: Rules[Lower] = Rules()

LITTLE = 256
"""Bytes that a round of a reduction leaves at most, if they are to stay in registers."""

Read = Callable[[Index], list[Num]]
"""An element of each operand, at a position along `dim` and an index of the dimensions after it."""
Write = Callable[[Index, list[Num]], None]


def _pairs(first: Sequence[Num], second: Sequence[Num]) -> list[Num]:
    return [number for pair in zip(first, second) for number in pair]


def _at(emit: Emitter, tiles: Sequence[Tile], index: Index) -> list[Num]:
    return [tile.at(emit, index) for tile in tiles]


def _put(emit: Emitter, targets: Sequence[Window], index: Index, numbers: Sequence[Num]) -> None:
    for target, number in zip(targets, numbers):
        target.put(emit, index, number)


# ---------------------------------------------------------------- reduce


@rules(reduction.Reduce)
def lower_reduce(lowering: Lowering, op: reduction.Reduce) -> None:
    emit = lowering.emit
    sources = [lowering.tile(value) for value in op.sources]
    targets = [new_buffer(emit, value.type) for value in op.outputs]
    extreme, extent = _extreme_of(lowering, op), sources[0].type.shape[op.dim]
    if extent <= FAN and extreme is None:
        emit.loop_nest(op.outputs[0].tile.shape, lambda index: _reduce_few(lowering, op, sources, targets, index))
    else:
        outer = sources[0].type.shape[: op.dim]
        emit.loop_nest(outer, lambda index: _reduce_at(lowering, op, sources, targets, index))
    if extreme is not None:
        _settle(emit, sources[0], targets[0], extreme)
    for value, target in zip(op.outputs, targets):
        lowering.values[value] = target if value.type.count > 1 else Scalar(value.type, scalar(emit, target))


def _reduce_few(
    lowering: Lowering, op: reduction.Reduce, sources: list[Tile], targets: list[Window], index: Index
) -> None:
    """Reduce the few elements at one index of the other dimensions."""
    emit, (outer, inner) = lowering.emit, (index[: op.dim], index[op.dim :])

    extent = sources[0].type.shape[op.dim]
    found = _joined(lowering, op, extent, 1, lambda at: _at(emit, sources, (*outer, I64(at), *inner)))
    _put(emit, targets, index, found)


def _reduce_at(
    lowering: Lowering, op: reduction.Reduce, sources: list[Tile], targets: list[Window], outer: Index
) -> None:
    """Reduce everything at one index of the dimensions before `dim`, in rounds that leave ever fewer elements."""
    emit = lowering.emit
    extent, *inner = sources[0].type.shape[op.dim :]

    def read(index: Index) -> list[Num]:
        return _at(emit, sources, (*outer, *index))

    def write(index: Index, numbers: list[Num]) -> None:
        _put(emit, targets, (*outer, *index[1:]), numbers)

    extreme = _extreme_of(lowering, op)
    for count in _counts(extent, lowering.here.reductions[op].fan):
        parts = [_part(emit, t.tile(source.element, count, *inner)) for source in sources]
        _round(lowering, op, (extent, *inner), count, read, partial(_put, emit, parts), extreme)
        read, extent = partial(_at, emit, parts), count
    _round(lowering, op, (extent, *inner), 1, read, write, extreme)


def _part(emit: Emitter, type: t.TileType) -> Window:
    """Return memory for the result of a round: on the stack if it is small, so that LLVM can keep it in registers."""
    size = type.count * type.element.byte_size
    return Window(type, emit.stack_bytes(size), row_major(type.shape)) if size <= LITTLE else new_buffer(emit, type)


def _counts(extent: int, fan: int) -> list[int]:
    """Return the elements that each round but the last leaves: as many as fill a vector, before the only one."""
    counts = []
    while extent > FAN:
        extent, fan = max(extent // fan, FAN), FAN
        counts.append(extent)
    return counts


def _round(
    lowering: Lowering,
    op: reduction.Reduce,
    shape: tuple[int, ...],
    count: int,
    read: Read,
    write: Write,
    extreme: Extreme | None = None,
) -> None:
    """Join elements until `count` are left; those of an extreme in any order."""
    extent, *inner = shape
    width = min(REDUCE_BLOCK, count)

    def step(index: Index) -> None:
        block, lane, *rest = index
        if extreme is not None:
            write(
                (_position(lowering.emit, (block, lane)),),
                [_most_extreme(lowering, extreme, extent, count, index, read)],
            )
            return
        builder, apart = lowering.builder, REDUCE_BLOCK * max(1, extent // max(count, REDUCE_BLOCK))
        first = builder.add(builder.mul(block, I64(apart)), lane)
        joined = _joined(lowering, op, extent, count, lambda ahead: read((builder.add(first, I64(ahead)), *rest)))
        write((_position(lowering.emit, (block, lane)), *rest), joined)

    lowering.emit.loop_nest((count // width, width, *inner), step)


def _joined(
    lowering: Lowering, op: reduction.Reduce, extent: int, count: int, read: Callable[[int], list[Num]]
) -> list[Num]:
    """Return an element when `count` of `extent` elements are left; `read` gives one so many ahead of the first that it
    is joined from."""

    def joined(count: int, block: int, lane: int) -> list[Num]:
        if count == extent:
            return read(block * REDUCE_BLOCK + lane)
        halves = ((2 * block, lane), (2 * block + 1, lane))
        if 2 * count <= REDUCE_BLOCK:
            halves = (block, lane), (block, lane + count)
        left, right = (joined(2 * count, *half) for half in halves)
        return lowering.combined(op.body, _pairs(left, right))

    return joined(count, 0, 0)


def _position(emit: Emitter, place: Index) -> ir.Value:
    block, lane = place
    return emit.builder.add(emit.builder.mul(block, I64(REDUCE_BLOCK)), lane)


# ---------------------------------------------------------------- the largest or smallest of a row


def _extreme_of(lowering: Lowering, op: reduction.Reduce) -> Extreme | None:
    """Return the extreme that a reduction along rows finds, if its plan says so."""
    largest = lowering.here.reductions[op].extreme
    return None if largest is None else Extreme(memory_type(op.sources[0].tile.element), largest)


def _most_extreme(lowering: Lowering, extreme: Extreme, extent: int, count: int, place: Index, read: Read) -> Num:
    """Return the extreme of every so many elements of a block of `extent`, starting at `place`, when `count` are
    left."""
    builder, width = lowering.builder, min(REDUCE_BLOCK, count)
    block, lane = place
    first = builder.add(builder.mul(block, I64(width * (extent // count))), lane)
    places = (builder.add(first, I64(step * width)) for step in range(extent // count))
    numbers = [read((at,))[0] for at in places]
    return Num(numbers[0].element, wide=extreme.joined(builder, (wide(builder, number) for number in numbers)))


def _settle(emit: Emitter, source: Tile, target: Window, extreme: Extreme) -> None:
    """Look again at the rows of `source` whose extreme is open."""
    builder, shape = emit.builder, target.type.shape

    def is_open(index: Index) -> ir.Value:
        return extreme.is_open(builder, wide(builder, target.at(emit, index)))

    def settle(index: Index) -> None:
        found = wide(builder, target.at(emit, index))
        with emit.when(extreme.is_open(builder, found)):
            among = _is_among(emit, source, index, extreme, extreme.wanted(builder, found))
            target.put(emit, index, Num(target.element, wide=extreme.settled(builder, found, among)))

    with emit.when(any_where(emit, target.type, is_open), likely=False):
        emit.loop_nest(shape, settle)


def _is_among(emit: Emitter, source: Tile, row: Index, extreme: Extreme, wanted: ir.Value) -> ir.Value:
    """Return an i1 that is set if a row has an element of these bits."""
    builder, found = emit.builder, emit.collector(I1(0))
    with emit.counted(I64(0), I64(source.type.shape[-1])) as position:
        found.add(Int.__or__, extreme.same_bits(builder, wide(builder, source.at(emit, (*row, position))), wanted))
    return found.value


# ---------------------------------------------------------------- scan


@rules(reduction.Scan)
def lower_scan(lowering: Lowering, op: reduction.Scan) -> None:
    emit, sources = lowering.emit, [lowering.tile(value) for value in op.sources]
    targets = [new_buffer(emit, value.type) for value in op.outputs]
    if lowering.here.reductions[op].is_costly:
        sources = [materialized(emit, source) for source in sources]
    _Scan(lowering, op, sources, targets, bool(op.reverse)).run()
    for value, target in zip(op.outputs, targets):
        lowering.values[value] = target


@dataclass
class _Scan:
    """A scan of `sources` into `targets`, which may be the same."""

    lowering: Lowering
    op: reduction.Scan
    sources: Sequence[Tile]
    targets: Sequence[Window]
    reverse: bool

    @property
    def shape(self) -> tuple[int, ...]:
        return self.targets[0].type.shape

    @property
    def size(self) -> int:
        """Elements of a block."""
        return min(SCAN_BLOCK, self.shape[self.op.dim])

    def run(self) -> None:
        """Scan the blocks, then their results, then join each element with the result of all blocks before its own."""
        emit, dim = self.lowering.emit, self.op.dim
        blocks = self.shape[dim] // self.size
        shape = (*self.shape[:dim], blocks, *self.shape[dim + 1 :])
        emit.loop_nest(shape, self._scan_block)
        if blocks == 1:
            return
        with emit.region():
            totals = [new_buffer(emit, t.tile(target.element, *shape)) for target in self.targets]
            emit.loop_nest(shape, lambda index: self._keep_total(totals, index))
            _Scan(self.lowering, self.op, totals, totals, reverse=False).run()
            later = (*self.shape[:dim], blocks - 1, self.size, *self.shape[dim + 1 :])
            emit.loop_nest(later, lambda index: self._join_before(totals, index))

    def _scan_block(self, index: Index) -> None:
        """Scan the elements of one block, one after the other."""
        emit = self.lowering.emit
        places = [self._place(index, I64(member)) for member in range(self.size)]
        running = _at(emit, self.sources, places[0])
        _put(emit, self.targets, places[0], running)
        for place in places[1:]:
            running = self.lowering.combined(self.op.body, _pairs(running, _at(emit, self.sources, place)))
            _put(emit, self.targets, place, running)

    def _keep_total(self, totals: list[Window], index: Index) -> None:
        emit = self.lowering.emit
        _put(emit, totals, index, _at(emit, self.targets, self._place(index, I64(self.size - 1))))

    def _join_before(self, totals: list[Window], index: Index) -> None:
        """Combine a member of a block with the block before, except for the first block."""
        emit, dim = self.lowering.emit, self.op.dim
        *outer, before, member = index[: dim + 2]
        inner = index[dim + 2 :]
        place = self._place((*outer, emit.builder.add(before, I64(1)), *inner), member)
        pair = _pairs(_at(emit, totals, (*outer, before, *inner)), _at(emit, self.targets, place))
        _put(emit, self.targets, place, self.lowering.combined(self.op.body, pair))

    def _place(self, index: Index, member: ir.Value) -> Index:
        """Return the index of a member of the block that `index` has along `dim`."""
        builder, dim = self.lowering.builder, self.op.dim
        position = builder.add(builder.mul(index[dim], I64(self.size)), member)
        if self.reverse:
            position = builder.sub(I64(self.shape[dim] - 1), position)
        return (*index[:dim], position, *index[dim + 1 :])


# ---------------------------------------------------------------- the largest or smallest of many floats
#
#     found = x > found ? x : found         a NaN x is left out, as `found` never is one
#
# That takes one instruction for each float and finds the number, in whatever order. Two things it does not see: of
# zeros alone, whether one of them has the sign that counts as larger (smaller), and of what it begins with, whether
# all the others were NaN. Both show in the result, and another look at the floats, which is rarely needed, decides.


@dataclass(frozen=True)
class Extreme:
    """The largest of floats of an LLVM type, or the smallest."""

    type: ir.Type
    largest: bool

    @property
    def start(self) -> ir.Value:
        """The float that no number is less (more) extreme than."""
        return ir.Constant(self.type, float("-inf" if self.largest else "inf"))

    def joined(self, builder: ir.IRBuilder, numbers: Iterable[ir.Value]) -> ir.Value:
        """Return the most extreme of the numbers among some floats; `start` without any. The sign of a zero is open."""
        found = self.start
        for number in numbers:
            further = builder.fcmp_ordered(">" if self.largest else "<", number, found)
            found = builder.select(further, number, found)
        return found

    def is_open(self, builder: ir.IRBuilder, found: ir.Value) -> ir.Value:
        """Return an i1 that is set if `settled` has to decide the extreme."""
        return builder.or_(self._is_zero(builder, found), builder.fcmp_ordered("==", found, self.start))

    def wanted(self, builder: ir.IRBuilder, found: ir.Value) -> ir.Value:
        """Return the extreme, if it is among the floats bit for bit; `found` is open."""
        return builder.select(self._is_zero(builder, found), self._zero(self.largest), self.start)

    def settled(self, builder: ir.IRBuilder, found: ir.Value, among: ir.Value) -> ir.Value:
        """Return the extreme, given an i1: whether `wanted` is among the floats."""
        other = ir.Constant(self.type, float("nan"))
        instead = builder.select(self._is_zero(builder, found), self._zero(not self.largest), other)
        return builder.select(among, self.wanted(builder, found), instead)

    def same_bits(self, builder: ir.IRBuilder, one: ir.Value, other: ir.Value) -> ir.Value:
        """Return an i1 that is set if two floats are equal bit for bit."""
        pattern = ir.IntType(32 if self.type == ir.FloatType() else 64)
        return builder.icmp_unsigned("==", builder.bitcast(one, pattern), builder.bitcast(other, pattern))

    def _is_zero(self, builder: ir.IRBuilder, found: ir.Value) -> ir.Value:
        return builder.fcmp_ordered("==", found, self._zero(True))

    def _zero(self, positive: bool) -> ir.Value:
        return ir.Constant(self.type, 0.0 if positive else -0.0)
