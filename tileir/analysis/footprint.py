"""The memory that each access of a kernel can touch, as a function of block id and arguments.

    for footprint in footprints(kernel.entry):                    # op_footprints: each with its operation
        found = evaluated(footprint, arguments, grid)             # of all tile blocks: an Extent, or Unmapped
        found = evaluated(footprint, arguments, grid, blocks)     # of some: ((0, 1), (0, 4), (0, 1))

A load through a partition view of 128 x 64 tiles at ``[block_x, turn]`` has two coordinates, ``128 * block_x + lane_0``
and ``64 * turn + lane_1``, each from 0 to the extent of the tensor. A masked load through pointers has the same: the
mask says ``rows - (128 * block_x + lane_0) - 1 >= 0``, and the addresses grow by the stride times that same sum.

Knows: which expressions an access is made of: coordinates, what guards them, the address as a sum over coordinates and
other symbols. Does not know: expressions of values (`analysis.affine`), what numbers give (`analysis.evaluation`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tileir.analysis.conditions import TRUE, Guard, condition
from tileir.analysis.effects import MemoryAccess, access_of, global_size
from tileir.analysis.expressions import ONE, ZERO, Expression, Symbol, TooLarge, of
from tileir.analysis.forms import Needs, Reading, Tensor, lanes, relaned
from tileir.analysis.symbols import Lane, NoWrap, Storage, StorageKind, Turn, Unknown
from tileir.analysis.walk import ProgramPoint, Walk
from tileir.ir import types as t
from tileir.ir.core import Op, Value
from tileir.ops.module import Entry


class Coordinate(Symbol):
    """The sum `form`, bounded as a whole: the row or column of an element."""

    __slots__ = ("dim", "form")
    __match_args__ = ("dim", "form")

    def __init__(self, dim: int, form: Expression) -> None:
        super().__init__((10, dim), form.range)
        self.dim = dim
        self.form = form

    def __repr__(self) -> str:
        return f"coordinate_{self.dim}"


@dataclass(frozen=True)
class Footprint:
    """One access: elements of `size` bits at ``storage + form`` bytes, where all of `guards` hold.

    `form` is over `coordinates` and other symbols; with elements of less than a byte it counts elements. `needs` are
    the conditions under which it is right. `loops` are the turns of the loops around. ``complete``: wherever the guards
    hold, memory is accessed. ``unknown`` says why nothing is known of an access. ``room`` is the size in bytes of a
    memory that the program itself takes. ``kept_inside`` are, of each dimension with an `inbounds` promise, the
    coordinate and the largest that it may be.

    `position` is the number of the operation among those of the entry, in program order.
    """

    position: int
    operation: str
    reads: bool
    writes: bool
    size: int
    storage: Storage | None = None
    form: Expression = ZERO
    coordinates: tuple[Coordinate, ...] = ()
    guards: tuple[Guard, ...] = ()
    needs: Needs = frozenset()
    loops: tuple[Turn, ...] = ()
    complete: bool = False
    through_view: bool = False
    unknown: str = ""
    room: int | None = None
    kept_inside: tuple[tuple[Coordinate, Expression], ...] = ()

    @property
    def bytes(self) -> int:
        """Bytes that one element touches."""
        return max(1, self.size // 8)


def footprints(entry: Entry) -> list[Footprint]:
    """One for each access of the entry, in program order; for each call of a function those of its accesses."""
    return [footprint for footprint, _ in op_footprints(entry)]


def op_footprints(entry: Entry, in_calls: bool = True) -> list[tuple[Footprint, Op]]:
    """The same, each with the operation that makes the access; without `in_calls` those of the entry's own alone."""
    found: list[tuple[Footprint, Op]] = []
    positions = {op: position for position, op in enumerate(entry.walk())}

    def visit(walk: Walk, op: Op, point: ProgramPoint) -> None:
        access = access_of(op)
        if access is not None:
            found.append((_Reader(walk, access, point).footprint(positions.get(op, -1)), op))

    Walk(entry.body, visit, in_calls)
    return found


class _Reader:
    """Makes the footprint of one access."""

    def __init__(self, walk: Walk, access: MemoryAccess, point: ProgramPoint) -> None:
        self.walk = walk
        self.access = access
        self.point = point

    def footprint(self, position: int) -> Footprint:
        through_pointers = isinstance(self.access.address.type, t.TileType)
        element = _element(self.access.address)
        access, bits = self.access, element.memory_bits
        base = Footprint(
            position,
            access.op.spec.name,
            access.reads,
            access.writes,
            max(8, bits) if through_pointers else bits,
            loops=self.walk.turns(self.point),
            complete=self.point.runs.complete,
            through_view=not through_pointers,
        )
        try:
            return self._promised(self._pointers(base) if through_pointers else self._view(base))
        except TooLarge:
            return replace(base, unknown="the address is too large an expression")

    def _promised(self, found: Footprint) -> Footprint:
        """With what the program promises of numbers that nothing is known of."""
        forms = (found.form, *(coordinate.form for coordinate in found.coordinates))
        symbols = {symbol for form in forms for symbol in form.all_symbols() if isinstance(symbol, Unknown)}
        guards = []
        for symbol in sorted(symbols):
            bounds = self.walk.promises.of(symbol)
            if bounds is not None:
                guards += [
                    Guard(of(symbol) - bounds.low, promised=True),
                    Guard(-of(symbol) + bounds.high, promised=True),
                ]
        return replace(found, guards=(*guards, *found.guards))

    # ------------------------------------------------------------ through pointers

    def _pointers(self, base: Footprint) -> Footprint:
        address = self.walk.known.of(self.access.address)
        mask = self.access.mask
        runs = self.point.runs & (TRUE if mask is None else condition(mask, self.walk.known))
        storage, form = _storage_and_rest(address.form)
        if storage is None:
            return replace(base, unknown=_why_unknown(address.form))
        found = replace(base, storage=storage, form=form, needs=address.needs, complete=runs.complete)
        found = replace(found, guards=_ordered(runs.guards), room=self._room(storage))
        for lane in lanes(self.access.address.tile.shape):
            for symbol in lane.symbols():
                found = _with_guarded_sum(found, symbol)
        return found

    # ------------------------------------------------------------ through views

    def _view(self, base: Footprint) -> Footprint:
        tensor = self.walk.known.tensor(self.access.address)
        storage, form = _storage_and_rest(tensor.base.form)
        if storage is None:
            return replace(base, unknown=_why_unknown(tensor.base.form))
        by_byte = max(1, 8 // base.size)
        found = replace(base, storage=storage, form=form * by_byte, needs=tensor.base.needs)
        found = replace(found, guards=_ordered(self.point.runs.guards), room=self._room(storage))
        axes = sorted(self._axes(), key=lambda axis: axis.dim)
        return _through(found, tensor, axes)

    def _room(self, storage: Storage) -> int | None:
        if storage.kind is not StorageKind.GLOBAL:
            return self.walk.rooms.get(storage)
        return global_size(self.access.op, storage.name)

    def _axes(self) -> list[_Axis]:
        """One for each dimension of the tile."""
        sparse, shape = self.access.sparse_dim, self._shape()
        promised = self.access.op.attributes.get("inbounds") or (False,) * len(shape)
        dims: Sequence[int] = range(len(shape))
        steps: Sequence[int] = (1,) * len(shape)
        if sparse is None:
            view = self.access.address.tile_view
            dims, steps = view.tensor_dims, view.tile_steps
        axes = []
        for at, (dim, step, index) in enumerate(zip(dims, steps, self.access.indices)):
            position = self.walk.known.of(index)
            reading = position.unsigned if position.unsigned.needs == position.needs else position.signed
            own = lanes(shape)[at]
            if at == sparse:
                reading = Reading(relaned(reading.form, (own,)), _relaned(reading.needs, own))
            element = reading.form if at == sparse else reading.form * step + own
            axes.append(_Axis(dim, reading, element, step << (position.bits - 1), promised[at]))
        return axes

    def _shape(self) -> tuple[int, ...]:
        """The shape of the tile that is read or written."""
        tile = self.access.value or self.access.result
        assert tile is not None, "an access takes or gives a tile"
        return tile.tile.shape


@dataclass(frozen=True)
class _Axis:
    """One dimension of the tile: that of the tensor, the index, and the coordinate of an element there.

    An index that is negative when read as signed is beyond tensors of an extent up to `limit`. ``promised``: by the
    program, that no element lies outside.
    """

    dim: int
    index: Reading
    element: Expression
    limit: int
    promised: bool


def _relaned(needs: Needs, lane: Expression) -> Needs:
    return frozenset(need.of(relaned(need.form, (lane,))) for need in needs)


def _through(found: Footprint, tensor: Tensor, axes: Sequence[_Axis]) -> Footprint:
    """With the coordinates of a view: inside the tensor, each along one of its dimensions."""
    form, needs, guards = found.form, found.needs, list(found.guards)
    coordinates, kept = [], []
    for axis in axes:
        extent, stride, index = tensor.extents[axis.dim], tensor.strides[axis.dim], axis.index
        coordinate = Coordinate(axis.dim, axis.element)
        needs |= index.needs | extent.needs | stride.needs
        if index.form.range.low < 0:
            needs |= {NoWrap(extent.form, 0, axis.limit)}
            guards.append(Guard(index.form, index.needs))
        guards += [Guard(of(coordinate)), Guard(extent.form - of(coordinate) - 1)]
        form += of(coordinate) * stride.form * found.bytes
        coordinates.append(coordinate)
        kept += [(coordinate, extent.form - 1)] if axis.promised else []
    found = replace(found, form=form, needs=needs, guards=tuple(guards))
    return replace(found, coordinates=tuple(coordinates), kept_inside=tuple(kept))


# ---------------------------------------------------------------- coordinates of pointers


def _with_guarded_sum(found: Footprint, lane: Symbol) -> Footprint:
    """With a coordinate in the place of the index `lane`, if a guard bounds a sum with it that the address grows by."""
    step = found.form.step(lane)
    if step is None or len(step.terms) + bool(step.constant) != 1:
        return found
    sums = [_shared(found.form, lane, step, guard) for guard in found.guards]
    best = max((form for form in sums if form is not None), key=lambda form: len(form.terms), default=None)
    return found if best is None or not isinstance(lane, Lane) else with_coordinate(found, lane, best)


def with_coordinate(found: Footprint, lane: Lane, form: Expression) -> Footprint:
    """With a coordinate that is `form`, a sum with `lane`, and what it leaves of the sum in the place of the lane."""
    coordinate = Coordinate(lane.dim, form)
    other = of(coordinate) - form + of(lane)

    def change(form: Expression) -> Expression:
        return form.substituted(lambda symbol: other if symbol == lane else None)

    return replace(
        found,
        form=change(found.form),
        coordinates=(*found.coordinates, coordinate),
        guards=tuple(guard.of(change) for guard in found.guards),
        needs=frozenset(need.of(change(need.form)) for need in found.needs),
    )


def _shared(form: Expression, lane: Symbol, step: Expression, guard: Guard) -> Expression | None:
    """The part of a guard that `lane` adds to by one, and that `form` has times `step`."""
    slope = guard.form.step(lane)
    if slope is None or slope.terms or abs(slope.constant) != 1:
        return None
    upward = guard.form * slope.constant

    def taken(product: tuple[Symbol, ...], factor: int) -> bool:
        scaled = (step * Expression(0, {product: factor})).terms
        return scaled.items() <= form.terms.items()

    return upward.split(taken)[0]


def _ordered(guards: Sequence[Guard]) -> tuple[Guard, ...]:
    """Each once, those of whole tiles first."""
    return tuple(sorted(dict.fromkeys(guards), key=lambda guard: guard.form.mentions(lambda s: isinstance(s, Lane))))


# ---------------------------------------------------------------- addresses


def _element(address: Value) -> t.ElementType:
    if isinstance(address.type, t.TensorViewType | t.TileViewType):
        return address.type.element
    return address.tile.pointer.pointee


def _storage_and_rest(form: Expression) -> tuple[Storage | None, Expression]:
    """The memory that an address lies in, and the offset in it."""
    places = {symbol for symbol in form.all_symbols() if isinstance(symbol, Storage)}
    if len(places) != 1:
        return None, form
    (storage,) = places
    return (storage, form - of(storage)) if form.step(storage) == ONE else (None, form)


def _why_unknown(form: Expression) -> str:
    """The reason why it is not seen in which memory an address lies."""
    sources = [symbol.why for symbol in form.symbols() if isinstance(symbol, Unknown)]
    return f"the address comes from {sources[0]}" if sources else "the address is no memory moved by an offset"
