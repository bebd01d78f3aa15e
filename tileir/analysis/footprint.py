"""The memory that each access of a kernel can touch, as a function of block id and arguments.

    program = Program(footprints(kernel.entry))                   # op_footprints: each with its operation
    program.extents(arguments, grid)                              # of all tile blocks: an Extent, or Unmapped, for each
    program.extents(arguments, grid, blocks)                      # of some: ((0, 1), (0, 4), (0, 1))

A load through a partition view of 128 x 64 tiles at ``[block_x, turn]`` has two coordinates, ``128 * block_x + lane_0``
and ``64 * turn + lane_1``, each from 0 to the extent of the tensor. A masked load through pointers has the same: the
mask says ``rows - (128 * block_x + lane_0) - 1 >= 0``, and the addresses grow by the stride times that same sum.

A footprint is a `Region` seen from the whole kernel: with what holds where the access runs, in coordinates by which
accesses of different tile blocks can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from tileir.analysis.conditions import TRUE, Guard, condition
from tileir.analysis.effects import READING, WRITING, MemoryAccess, access_of, callee_of, effects_of, global_size
from tileir.analysis.expressions import ONE, ZERO, Expression, Symbol, TooLarge, of
from tileir.analysis.forms import Needs, lanes
from tileir.analysis.region import Region, ViewAxis
from tileir.analysis.symbols import Lane, NoWrap, Storage, StorageKind, Turn, Unknown
from tileir.analysis.walk import ProgramPoint, Walk
from tileir.ir.core import Op
from tileir.ir.effects import Effect
from tileir.ops.calls import Call
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
    the conditions under which it is right. `loops` are the turns of the enclosing loops. ``complete``: wherever the
    guards hold, memory is accessed. ``unknown`` is the reason if nothing is known of an access. ``room`` is the size in
    bytes of a memory that the program itself allocates. ``kept_inside`` gives, for each dimension with an `inbounds`
    promise, the coordinate and its largest value. `position` is the number of the operation among those of the entry,
    in program order.
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
    """Return a footprint for each access of the entry, in program order; for each call of a function those of its
    accesses."""
    return [footprint for footprint, _ in op_footprints(entry)]


def op_footprints(entry: Entry, in_calls: bool = True) -> list[tuple[Footprint, Op]]:
    """Return footprints, each with its operation; without `in_calls` only those of the entry's own accesses."""
    found: list[tuple[Footprint, Op]] = []
    positions = {op: position for position, op in enumerate(entry.walk())}
    effects = cache(effects_of)

    def visit(walk: Walk, op: Op, point: ProgramPoint) -> None:
        access, position = access_of(op), positions.get(op, -1)
        if access is not None:
            found.append((_Reader(walk, access, point).footprint(position), op))
        elif isinstance(op, Call) and in_calls and not walk.enters_calls:
            found.extend((each, op) for each in _of_call(op, position, effects(callee_of(op))))

    Walk(entry.body, visit, in_calls)
    return found


def _of_call(op: Call, position: int, effect: Effect) -> list[Footprint]:
    """Return the footprint of a call that is not entered, if what it runs accesses memory."""
    reads, writes = bool(effect & READING), bool(effect & WRITING)
    found = Footprint(position, op.spec.name, reads, writes, 8, unknown="more is called than is looked at")
    return [found] if reads or writes else []


class _Reader:
    """Makes the footprint of one region."""

    def __init__(self, walk: Walk, access: MemoryAccess, point: ProgramPoint) -> None:
        self.walk = walk
        self.region = Region(access, walk.known)
        self.point = point

    def footprint(self, position: int) -> Footprint:
        region, access = self.region, self.region.access
        base = Footprint(
            position,
            access.op.spec.name,
            access.reads,
            access.writes,
            region.bits,
            loops=self.walk.turns(self.point),
            complete=self.point.runs.complete,
            through_view=not region.through_pointers,
        )
        try:
            return self._promised(self._pointers(base) if region.through_pointers else self._view(base))
        except TooLarge:
            return replace(base, unknown="the address is too large an expression")

    def _promised(self, found: Footprint) -> Footprint:
        """Add the program's promises about numbers that are otherwise unknown."""
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

    def _pointers(self, base: Footprint) -> Footprint:
        address, mask = self.region.address, self.region.access.mask
        runs = self.point.runs & (TRUE if mask is None else condition(mask, self.walk.known))
        storage, form = _storage_and_rest(address.form)
        if storage is None:
            return replace(base, unknown=_why_unknown(address.form))
        found = replace(base, storage=storage, form=form, needs=address.needs, complete=runs.complete)
        found = replace(found, guards=_ordered(runs.guards), room=self._room(storage))
        for lane in lanes(self.region.extents):
            for symbol in lane.symbols():
                found = _with_guarded_sum(found, symbol)
        return found

    def _view(self, base: Footprint) -> Footprint:
        tensor = self.region.tensor
        storage, form = _storage_and_rest(tensor.base.form)
        if storage is None:
            return replace(base, unknown=_why_unknown(tensor.base.form))
        found = replace(base, storage=storage, form=form * max(1, 8 // base.size), needs=tensor.base.needs)
        found = replace(found, guards=_ordered(self.point.runs.guards), room=self._room(storage))
        return _through(found, sorted(self.region.axes, key=lambda axis: axis.dim))

    def _room(self, storage: Storage) -> int | None:
        if storage.kind is not StorageKind.GLOBAL:
            return self.walk.rooms.get(storage)
        return global_size(self.region.access.op, storage.name)


def _through(found: Footprint, axes: Sequence[ViewAxis]) -> Footprint:
    """Add the coordinates of a view: inside the tensor, each along one of its dimensions."""
    form, needs, guards = found.form, found.needs, list(found.guards)
    coordinates, kept = [], []
    for axis in axes:
        extent, stride, index = axis.extent, axis.stride, axis.index
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
    """Replace the index `lane` by a coordinate if a guard bounds a sum with it that the address grows by."""
    step = found.form.step(lane)
    if step is None or len(step.terms) + bool(step.constant) != 1:
        return found
    sums = [_shared(found.form, lane, step, guard) for guard in found.guards]
    best = max((form for form in sums if form is not None), key=lambda form: len(form.terms), default=None)
    return found if best is None or not isinstance(lane, Lane) else with_coordinate(found, lane, best)


def with_coordinate(found: Footprint, lane: Lane, form: Expression) -> Footprint:
    """Replace `lane` by a coordinate equal to `form`, a sum with `lane`, less the rest of that sum."""
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
    """Return the part of a guard that `lane` adds to by one, and that `form` has times `step`."""
    slope = guard.form.step(lane)
    if slope is None or slope.terms or abs(slope.constant) != 1:
        return None
    upward = guard.form * slope.constant

    def taken(product: tuple[Symbol, ...], factor: int) -> bool:
        scaled = (step * Expression(0, {product: factor})).terms
        return scaled.items() <= form.terms.items()

    return upward.split(taken)[0]


def _ordered(guards: Sequence[Guard]) -> tuple[Guard, ...]:
    """Return each guard once, those of whole tiles first."""
    return tuple(sorted(dict.fromkeys(guards), key=lambda guard: guard.form.mentions(lambda s: isinstance(s, Lane))))


# ---------------------------------------------------------------- addresses


def _storage_and_rest(form: Expression) -> tuple[Storage | None, Expression]:
    """Return the memory that an address lies in, and the offset in it."""
    places = {symbol for symbol in form.all_symbols() if isinstance(symbol, Storage)}
    if len(places) != 1:
        return None, form
    (storage,) = places
    return (storage, form - of(storage)) if form.step(storage) == ONE else (None, form)


def _why_unknown(form: Expression) -> str:
    """Return the reason why the memory of an address is unknown."""
    sources = [symbol.why for symbol in form.symbols() if isinstance(symbol, Unknown)]
    return f"the address comes from {sources[0]}" if sources else "the address is no memory moved by an offset"
