"""Programs that follow their own padding, so that native code can tell whether any of it counts.

    %v = load_ptr_tko weak %p, %mask, %zeros         elements of %v are read where %mask is 1
    %s = reduce %v, identity 0.0                     also: assert %mask or (%v has the bits of 0.0)
    store_ptr_tko weak %q, %w, %stored               also: assert (%w is read) or not %stored

Beside each tile with padding such a program computes a tile of i1: which elements are *read*, so no padding. Where the
interpreter would look closer at padding (`sanitize.taint`), an assertion says that there is none, or none that changes
a result. One that fails says nothing; where all hold the interpreter finds no padding that counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from tileir.analysis.effects import MemoryAccess, access_of
from tileir.ir import types as t
from tileir.ir.attributes import BoolAttr, FloatAttr, IntegerAttr, Ordering, Predicate, Signedness
from tileir.ir.core import Block, Module, Op, Value
from tileir.ir.traits import ELEMENTWISE
from tileir.ops.control import Assert, For
from tileir.ops.conversion import Bitcast, ExtI
from tileir.ops.core import Constant, Iota, Select
from tileir.ops.extension import Generate
from tileir.ops.floating import AddF, CmpF, Fma, MaxF, MinF
from tileir.ops.integer import AddI, AndI, CmpI, MaxI, MinI, MulI, OrI, XOrI
from tileir.ops.matmul import MmaF, MmaI
from tileir.ops.misc import Assume
from tileir.ops.module import Entry
from tileir.ops.pointers import LoadPtr, StorePtr
from tileir.ops.reduction import Reduce, Scan
from tileir.ops.shapes import Broadcast, Cat, Permute, Reshape
from tileir.ops.views import LoadView, MakePartitionView, MakeStridedView, MakeTensorView, StoreView
from tileir.passes.facts import splat
from tileir.passes.rebuilding import ChangeLog, Rebuilding


class Unfollowed(Exception):
    """Padding may go where it is not followed."""


def following_padding(module: Module, entry: Entry) -> Module | None:
    """Return the program of an entry with assertions that no padding counts; None if it cannot be followed."""
    try:
        return _Following(entry).module(module)
    except Unfollowed:
        return None


@dataclass(frozen=True)
class Marks:
    """The elements of a tile that are `read`; whether the program has `chosen` the values of the others."""

    read: Value
    chosen: bool


class _Following(Rebuilding):
    """The walk: `marks` of values of the new program, `carried` from one turn to the next by its loops."""

    def __init__(self, entry: Entry) -> None:
        super().__init__(ChangeLog())
        self.entry = entry
        self.marks: dict[Value, Marks] = {}
        self.carried: set[Value] = set()
        self.folds = 0

    def visit(self, op: Op) -> None:
        if not isinstance(op, Entry) or op is self.entry:
            super().visit(op)

    def region(self, block: Block) -> Block:
        folds = isinstance(block.parent, Reduce | Scan | Generate)
        self.folds += folds
        made = super().region(block)
        self.folds -= folds
        return made

    def empty_like(self, block: Block) -> Block:
        made = super().empty_like(block)
        if isinstance(block.parent, For):
            self.carried.update(made.args)
        return made

    def emit(self, op: Op) -> Sequence[Value]:
        marked = [value for value in dict.fromkeys(op.operands) if value in self.marks]
        rule = _rule(op)
        if marked and self.folds:
            raise Unfollowed
        if rule is None:
            self.require_none(marked)
        results = super().emit(op)
        found = rule(self, op) if rule is not None and marked else None
        access = access_of(op)
        if access is not None and access.reads:
            found = self._loaded(access)
        if found is not None:
            self.marks[results[0]] = found
        return results

    def add(self, op: Op) -> Value:
        return super().emit(op)[0]

    # ------------------------------------------------------------ marks

    def read(self, value: Value) -> Value:
        """Return which elements of a tile are read."""
        found = self.marks.get(value)
        return self.number(value.tile.with_element(t.I1), 1) if found is None else found.read

    def all_read(self, values: Sequence[Value]) -> Marks:
        """Return the elements that are read in all of some tiles of one shape."""
        *_, read = accumulate((self.marks[value].read for value in values if value in self.marks), self.both)
        return Marks(read, self.are_chosen(values))

    def are_chosen(self, values: Sequence[Value]) -> bool:
        return all(self.marks[value].chosen for value in values if value in self.marks)

    def require(self, holds: Value) -> None:
        super().emit(Assert.build([], message="padding may count", condition=holds))

    def require_none(self, values: Sequence[Value]) -> None:
        """Require that tiles have no padding."""
        for value in values:
            if value in self.marks:
                self.require(self.marks[value].read)

    def require_only(self, value: Value, harmless: Value) -> None:
        """Require that padding of a tile is `harmless`, and chosen."""
        if value in self.marks:
            found = self.marks[value]
            self.require(self.either(found.read, harmless) if found.chosen else found.read)

    def _loaded(self, access: MemoryAccess) -> Marks | None:
        """Return which elements of a loaded tile are read, if some may not be."""
        if isinstance(access.op, LoadPtr):
            return None if access.mask is None else Marks(access.mask, access.padding is not None)
        if not isinstance(access.op, LoadView) or access.sparse_dim is not None:
            raise Unfollowed
        return Marks(self.inside(access), access.op.view.type.padding is not None)

    # ------------------------------------------------------------ operations

    def number(self, type: t.TileType, value: int) -> Value:
        return self.add(Constant.build([type], value=splat(type, value)))

    def both(self, one: Value, other: Value) -> Value:
        return self.add(AndI.build([one.type], lhs=one, rhs=other))

    def either(self, one: Value, other: Value) -> Value:
        return self.add(OrI.build([one.type], lhs=one, rhs=other))

    def no(self, one: Value) -> Value:
        return self.add(XOrI.build([one.type], lhs=one, rhs=self.number(one.tile, 1)))

    def spread(self, value: Value, shape: tuple[int, ...], dim: int) -> Value:
        """Return a tile of rank 0 or 1 along a dimension of another shape, repeated along the others."""
        element = value.tile.element
        line = tuple(value.tile.count if at == dim else 1 for at in range(len(shape)))
        value = self.add(Reshape.build([t.TileType(line, element)], source=value))
        return self.add(Broadcast.build([t.TileType(shape, element)], source=value))

    def compared(self, predicate: Predicate, one: Value, other: Value) -> Value:
        """Return where numbers compare so to others; NaN does to none, integers are read as unsigned."""
        made = CmpF if one.tile.number.is_float else CmpI
        how = {"comparison_ordering": Ordering.ORDERED} if made is CmpF else {"signedness": Signedness.UNSIGNED}
        type = one.tile.with_element(t.I1)
        return self.add(made.build([type], comparison_predicate=predicate, lhs=one, rhs=other, **how))

    def has_bits(self, value: Value, bits: int) -> Value:
        """Return where the elements of a tile have these bits."""
        element = value.tile.number
        if element.is_float:
            as_integer = next((one for one in t.INTS if one.bits == element.bits), None)
            if as_integer is None:
                raise Unfollowed
            value = self.add(Bitcast.build([value.tile.with_element(as_integer)], source=value))
        return self.compared(Predicate.EQUAL, value, self.number(value.tile, bits))

    def inside(self, access: MemoryAccess) -> Value:
        """Return which elements of a tile of a view lie in the tensor (spec: views#index-mapping)."""
        maker = access.address.op
        tensor = maker.tensor_view.op if isinstance(maker, MakePartitionView | MakeStridedView) else None
        if not isinstance(tensor, MakeTensorView):
            raise Unfollowed
        view, given = access.address.tile_view, iter(tensor.dynamicShape)
        extents = [next(given) if extent is None else extent for extent in tensor.result.type.shape]
        shape, parts = view.tile_shape, []
        for at, (dim, step, index) in enumerate(zip(view.tensor_dims, view.tile_steps, access.indices)):
            # An index of 32 bits, an extent below 2^63: their sum fits. Below 0 is far above as unsigned.
            line = t.TileType((shape[at],), t.I64)
            if index.tile.number.bits > 32:
                raise Unfollowed
            first = self._wide(index, Signedness.SIGNED)
            first = self.add(MulI.build([first.type], lhs=first, rhs=self.number(first.tile, step)))
            lanes = self.add(Iota.build([line]))
            place = self.add(AddI.build([line], lhs=lanes, rhs=self.spread(first, line.shape, 0)))
            extent = extents[dim]
            limit = self.number(t.tile(t.I64), extent) if isinstance(extent, int) else self._wide(extent)
            inside = self.compared(Predicate.LESS_THAN, place, self.spread(limit, line.shape, 0))
            parts.append(self.spread(inside, shape, at))
        *_, found = accumulate(parts, self.both)
        return found

    def _wide(self, value: Value, reading: Signedness = Signedness.UNSIGNED) -> Value:
        """Return an integer with 64 bits."""
        if value.tile.number is t.I64:
            return value
        return self.add(ExtI([value], [t.tile(t.I64)], {"signedness": reading}))


# ---------------------------------------------------------------- rules

Rule = Callable[[_Following, Op], "Marks | None"]
"""Gives the marks of the result of an operation that has operands with marks."""


def _rule(op: Op) -> Rule | None:
    return _RULES.get(type(op), _elementwise if ELEMENTWISE in op.spec.traits else None)


def _elementwise(walk: _Following, op: Op) -> Marks:
    return walk.all_read(op.operands)


def _selected(walk: _Following, op: Op) -> Marks:
    condition, then, otherwise = op.operands
    type, found = condition.type, walk.all_read(op.operands)
    chosen = Select.build([type], cond=condition, val_if_true=walk.read(then), val_if_false=walk.read(otherwise))
    return Marks(walk.both(walk.add(chosen), walk.read(condition)), found.chosen)


def _accumulated(walk: _Following, op: Op) -> Marks:
    """Padding that leaves what a loop carries as it was is no part of it."""
    found = walk.all_read(op.operands)
    if found.chosen:
        (result,) = op.results
        for value in walk.carried.intersection(op.operands):
            found = Marks(walk.either(found.read, walk.compared(Predicate.EQUAL, value, result)), True)
    return found


def _moved(walk: _Following, op: Op) -> Marks:
    """The marks move as the elements do."""
    read = type(op)(
        [walk.read(value) for value in op.operands],
        [result.tile.with_element(t.I1) for result in op.results],
        op.attributes,
        segments=op.segments,
    )
    return Marks(walk.add(read), walk.are_chosen(op.operands))


def _multiplied(walk: _Following, op: Op) -> Marks | None:
    """Padding of factors must be zero."""
    lhs, rhs, acc = op.operands
    for value in (lhs, rhs):
        if value in walk.marks:
            walk.require_only(value, walk.has_bits(value, 0))
    return walk.marks.get(acc)


def _reduced(walk: _Following, op: Op) -> None:
    """Padding must be neutral, bit by bit."""
    assert isinstance(op, Reduce | Scan), "the rule is that of reductions"
    for value, identity in zip(op.sources, op.identities):
        if value in walk.marks:
            assert isinstance(identity, BoolAttr | FloatAttr | IntegerAttr), "identities are numbers"
            bits = identity.bits if isinstance(identity, FloatAttr) else int(identity.value)
            walk.require_only(value, walk.has_bits(value, bits))


def _stored(walk: _Following, op: Op) -> None:
    """Padding must not be stored, nor tell where."""
    access = MemoryAccess.of(op)
    assert access.value is not None, "a store has a value"
    walk.require_none([value for value in op.operands if value is not access.value])
    if access.value in walk.marks:
        stored = walk.inside(access) if isinstance(op, StoreView) else access.mask
        read = walk.read(access.value)
        walk.require(read if stored is None else walk.either(read, walk.no(stored)))


_RULES: dict[type[Op], Rule] = {
    **dict.fromkeys((AddF, AddI, Fma, MaxF, MaxI, MinF, MinI, OrI), _accumulated),
    **dict.fromkeys((Broadcast, Cat, Permute, Reshape), _moved),
    **dict.fromkeys((MmaF, MmaI), _multiplied),
    **dict.fromkeys((Reduce, Scan), _reduced),
    **dict.fromkeys((StorePtr, StoreView), _stored),
    Assume: _elementwise,
    Select: _selected,
}
