"""The pass ``raise``: loads and stores through tiles of pointers that grow evenly go through views.

    %at = offset %base, %index : ...                  %first = offset %base, %start : ...
    %mask = cmpi less_than %lanes, %ns, signed        %tensor = make_tensor_view %first, shape = [%n], strides = [1]
    %v, %t = load_ptr_tko weak %at, %mask       =>    %tiles = make_partition_view %tensor : ...
                                                      %v, %t = load_view_tko weak %tiles[%zero]

The tensor begins at the first element of the tile and ends where the mask does, so that exactly the elements that are
not masked off lie in it. Views may not be without elements, nor step backwards, so that all of this is proved. Where
that needs to know that a store has an element, the block around it gets a guard: it does nothing otherwise.

    %first = muli %block, %size                       %first = muli %block, %size
    %index = addi %firsts, %lanes                     %some = cmpi less_than %first, %n, signed
    %mask = cmpi less_than %index, %ns, signed   =>   if %some { %index = ...
    store_ptr_tko weak %at, %v, %mask                            store_ptr_tko weak %at, %v, %mask }
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

from tileir.analysis.effects import MemoryAccess, own_effect
from tileir.analysis.structure import encloses, exits_from, home_of
from tileir.ir import types as t
from tileir.ir.attributes import MemoryOrdering, Predicate, Signedness
from tileir.ir.core import Block, Op, Value
from tileir.ir.effects import Effect
from tileir.ir.loc import Location
from tileir.ir.types import TOKEN
from tileir.ops.calls import Call
from tileir.ops.control import For, If, Loop, Return, Yield
from tileir.ops.integer import AndI, CmpI
from tileir.ops.module import Entry
from tileir.ops.pointers import JoinTokens, LoadPtr, MakeToken, StorePtr
from tileir.ops.views import MakePartitionView
from tileir.passes.facts import is_needed, is_speculatable
from tileir.passes.inequalities import Known, Proofs, Prover, inequalities
from tileir.passes.rebuilding import ChangeLog, Exactness, Rebuilding, Row
from tileir.passes.scalars import (
    KnownScalar,
    bits_of,
    emitted,
    extended,
    known_number,
    values_in,
)
from tileir.passes.windows import TileWindow, access_through, common_bits, made_tensor, window

_WHY = "the elements not masked off are those of the tensor, at the same addresses"
_WHEN = (
    "addresses grow by the same positive step along each dimension, without overflow; the mask is a bound along "
    "dimensions; it is proved that the first element is not masked off"
)
LOADED = Row(
    "affine-load", "raise", "weak load_ptr_tko p, m, c", "load_view_tko of a view of what m leaves of p",
    Exactness.PROMISED, _WHY, f"{_WHEN}; c is missing or a padding value",
)  # fmt: skip
STORED = Row(
    "affine-store", "raise", "weak store_ptr_tko p, v, m", "store_view_tko to a view of what m leaves of p",
    Exactness.PROMISED, _WHY, _WHEN,
)  # fmt: skip
GUARDED = Row(
    "empty-stores", "raise", "block of which only weak store_ptr_tko p, v, m can be seen", "if C { the block }",
    Exactness.PROMISED, "where C does not hold every m is 0 everywhere, so that nothing is stored",
    "C is what the first element of each m must keep, and lets an access in the block become a view",
)  # fmt: skip
ROWS = (LOADED, STORED, GUARDED)


class Raising(Rebuilding):
    """The walk that puts views in the place of tiles of pointers."""

    def __init__(self, log: ChangeLog) -> None:
        super().__init__(log)
        self.plan: RaisingPlan | None = None
        """The plan of the enclosing entry."""
        self.outer: dict[Op | None, Block] = {}
        """The block that a loop will stand in, while its body is made."""

    def visit(self, op: Op) -> None:
        if isinstance(op, Entry):
            self.plan = RaisingPlan(op)
            super().visit(op)
            self.plan = None  # What is known of the body of a function is that of one call.
        elif not (isinstance(op, LoadPtr | StorePtr) and self._raise(op)):
            super().visit(op)

    def _raise(self, op: LoadPtr | StorePtr) -> bool:
        found = None if self.plan is None else self.plan.windows.get(op)
        if self.plan is None or found is None:
            return False
        around, self.block = self.block, self.outer.get(self.plan.homes[op], self.block)
        tile, loc = MemoryAccess.of(op).address.tile, self.place(op.loc)
        tensor = made_tensor(tile, found.base, found.extents, found.strides, self, loc)
        type = t.PartitionViewType(tile.shape, tensor.tensor_view, found.padding)
        (view,) = self.emit(MakePartitionView.build([type], loc, tensor_view=tensor))
        self.block = around
        bits = common_bits(found.indices)
        index = [emitted(extended(one, bits), self, loc) for one in found.indices]
        results = self.emit(access_through(view, index, op, self, loc))
        self.log.note(LOADED if isinstance(op, LoadPtr) else STORED, op, results)
        self.bind(op.results, results)
        return True

    # ------------------------------------------------------------ guards

    def region(self, block: Block) -> Block:
        self.outer[block.parent] = self.block
        guard = None if self.plan is None else self.plan.guards.get(block)
        if guard is None:
            return super().region(block)
        made = self.empty_like(block)
        self.bind(block.args, made.args)
        around, self.block = self.block, made
        self.rebuild(guard.outside)
        self._guarded(guard)
        self.rebuild(block.ops[-1:])
        self.block = around
        return made

    def _guarded(self, guard: EmptyStoresGuard) -> None:
        """Put the operations inside a guard into an `if`; where it does not hold, their tokens are those they wait
        for."""
        loc, types = self.place(guard.inside[0].loc), [value.type for value in guard.tokens]
        tests = [self._tested(one, loc) for one in guard.conditions]
        holds = reduce(lambda a, b: self.emit(AndI.build([a.type], loc, lhs=a, rhs=b))[0], tests)
        then, otherwise = Block(), Block()
        waiting = self.given(guard.waiting)
        self.into(then, guard.inside)
        then.append(_yield(self.given(guard.tokens), loc))
        if len(waiting) != 1:
            kind, fields = (JoinTokens, {"tokens": waiting}) if waiting else (MakeToken, {})
            waiting = list(otherwise.append(kind.build([TOKEN], loc, **fields)).results)
        otherwise.append(_yield(waiting * len(types), loc))
        made = If([holds], types, {}, (then, otherwise if types else None), loc)
        self.bind(guard.tokens, self.emit(made))
        self.log.note(GUARDED, guard.inside[0], [holds])

    def _tested(self, condition: Known, loc: Location) -> Value:
        less, more, gap = condition
        predicate = Predicate.LESS_THAN if gap else Predicate.LESS_THAN_OR_EQUAL
        fields = {"lhs": emitted(less, self, loc), "rhs": emitted(more, self, loc)}
        attributes = {"comparison_predicate": predicate, "signedness": Signedness.SIGNED}
        return self.emit(CmpI.build([t.tile(t.I1)], loc, **fields, **attributes))[0]


def _yield(values: Sequence[Value], loc: Location) -> Op:
    return Yield(list(values), [], {}, (), loc, (len(values),))


# ---------------------------------------------------------------- which accesses, and behind which guards


class RaisingPlan:
    """The outcome for an entry: windows of accesses that become views, and guards of the blocks around them."""

    def __init__(self, entry: Entry) -> None:
        self.windows: dict[Op, TileWindow] = {}
        self.homes: dict[Op, For | None] = {}
        """The outermost loop before which the view of an access can be made."""
        self.guards: dict[Block, EmptyStoresGuard] = {}
        self._accesses = [op for op in entry.walk() if isinstance(op, LoadPtr | StorePtr) and may_be_raised(op)]
        if not self._accesses:
            return
        self._proofs = Proofs(entry)
        self._find_guards(entry.body, ())
        used = {block for op in self._accesses if op in self._proofs for block in self._decide(op)}
        self.guards = {block: guard for block, guard in self.guards.items() if block in used}
        self.homes = {op: self._home(op, found) for op, found in self.windows.items()}

    def _find_guards(self, block: Block, known: tuple[Known, ...]) -> None:
        """Find the guards of a block, in which `known` holds, and of those in it."""
        stores = [op for op in self._accesses if isinstance(op, StorePtr) and encloses(block, op.parent)]
        provers: dict[Op, Prover] = {op: self._proofs.prover(op, known) for op in stores if op in self._proofs}
        guard = guard_of(block, provers) if stores else None
        if guard is not None:
            self.guards[block] = guard
        for op in block.ops:
            inside = guard is not None and op in guard.inside
            for region in op.regions if isinstance(op, For | If | Loop) else ():
                if region is not None:
                    self._find_guards(region, (*known, *guard.conditions) if inside and guard is not None else known)

    def _decide(self, op: LoadPtr | StorePtr) -> Iterator[Block]:
        """Find the window of an access; gives the blocks that it needs the guards of."""
        found = window(op, self._proofs.prover(op))
        if found is None:
            found = window(op, self._proofs.prover(op, self._guarded(op)))
            yield from self._guards_of(op) if found is not None else ()
        if found is not None:
            self.windows[op] = found

    def _guards_of(self, op: Op) -> list[Block]:
        return [block for block, guard in self.guards.items() if _is_among(op, guard.inside)]

    def _guarded(self, op: Op) -> list[Known]:
        """Return the conditions of the guards around an operation."""
        return [one for block in self._guards_of(op) for one in self.guards[block].conditions]

    def _home(self, op: Op, found: TileWindow) -> For | None:
        """Return the outermost loop around before which a view can be made: its tensor is known there, and has
        elements."""
        home, loop = None, op.parent_op
        values = [value for formula in (found.base, *found.numbers) for value in values_in(formula)]
        while isinstance(loop, For) and not any(encloses(loop.body, home_of(value)) for value in values):
            prover = self._proofs.prover(loop, self._guarded(loop))
            if not all(prover.proves(KnownScalar(0, bits_of(one)), one, 1) for one in found.numbers):
                return home
            home, loop = loop, loop.parent_op
        return home


def _is_among(op: Op, ops: Sequence[Op]) -> bool:
    """Return whether an operation is one of `ops` or nested in one."""
    around: Op | None = op
    while around is not None and around not in ops:
        around = around.parent_op
    return around is not None


def may_be_raised(op: LoadPtr | StorePtr) -> bool:
    """Return whether an access could be made through a view."""
    pointers = (op.source if isinstance(op, LoadPtr) else op.destination).tile
    if op.memory_ordering_semantics is not MemoryOrdering.WEAK or op.discardable or pointers.count == 1:
        return False
    return pointers.pointer.attr is None and pointers.pointer.pointee.memory_bits >= 8


# ---------------------------------------------------------------- blocks that do nothing where their stores are empty


@dataclass(frozen=True)
class EmptyStoresGuard:
    """The operations `inside` do nothing unless all `conditions` hold, and stand behind those `outside`.

    `tokens` are those that `inside` gives and the end of the block takes, `waiting` those from before that it takes.
    """

    conditions: tuple[Known, ...]
    outside: tuple[Op, ...]
    inside: tuple[Op, ...]
    tokens: tuple[Value, ...]
    waiting: tuple[Value, ...]


def guard_of(block: Block, provers: dict[Op, Prover]) -> EmptyStoresGuard | None:
    """Return the guard of a block; None if it does something in any case, or nothing is to be tested.

    `provers` knows what holds at each store.
    """
    stores = _only_stores(block)
    if not stores or any(store not in provers for store in stores):
        return None
    shared: list[Known] = []
    for number, store in enumerate(stores):
        found = _needed(store, provers[store])
        shared = found if number == 0 else [one for one in shared if one in found]
    conditions = [one for one in shared if _is_computed_in(one, block)]
    return _split(block, conditions) if conditions else None


def _only_stores(block: Block) -> list[StorePtr]:
    """Return the stores that are all that a block does to the world; none if it does anything else, or may not end."""
    ops, end = [inner for op in block.ops[:-1] for inner in op.walk()], block.ops[-1]
    stores = [op for op in ops if isinstance(op, StorePtr) and op.mask is not None and not op.discardable]
    others = [op for op in ops if is_needed(op) and op not in stores]
    if others or any(isinstance(op, Call | Loop | Return) or own_effect(op) & Effect.ALLOCATE for op in ops):
        return []
    return stores if all(exit is end for exit in exits_from(block)) else []


def _needed(store: StorePtr, prover: Prover) -> list[Known]:
    """Return the conditions, not known to hold, that hold if any element of a store is not masked off."""
    found = []
    for part in () if store.mask is None else inequalities(store.mask, prover.tiles).parts:
        rising = all((known_number(step) or 0) >= 0 and known_number(step) is not None for step in part.less.steps)
        if rising and part.more.is_uniform and not prover.proves(part.less.base, part.more.base, part.gap):
            found.append((part.less.base, part.more.base, part.gap))
    return found


def _is_computed_in(condition: Known, block: Block) -> bool:
    """Return whether everything in a condition is defined in `block` or around it."""
    values = (value for formula in condition[:2] for value in values_in(formula))
    return all(home_of(value) is block or not encloses(block, home_of(value)) for value in values)


def _split(block: Block, conditions: Sequence[Known]) -> EmptyStoresGuard | None:
    """Return the operations behind those that the conditions are made of go inside, but for what the end of the block
    takes; None if that cannot be computed outside."""
    ops, end = block.ops[:-1], block.ops[-1]
    values = {value for one in conditions for formula in one[:2] for value in values_in(formula)}
    start = max((at + 1 for at, op in enumerate(ops) if not values.isdisjoint(op.results)), default=0)
    kept = _needed_by([value for value in end.operands if value.type is not TOKEN], ops[start:])
    if kept is None:
        return None
    inside = [op for op in ops[start:] if op not in kept]
    made = {result for op in inside for result in op.results}
    tokens = [value for value in dict.fromkeys(end.operands) if value in made]
    outside = (*ops[:start], *(op for op in ops[start:] if op in kept))
    return EmptyStoresGuard(tuple(conditions), outside, tuple(inside), tuple(tokens), tuple(_tokens_taken(inside)))


def _needed_by(values: Iterable[Value], ops: Sequence[Op]) -> set[Op] | None:
    """Return the members of `ops` that values are computed from; None if some of them cannot be moved."""
    needed, waiting, among = set(), [value.op for value in values], set(ops)
    while waiting:
        op = waiting.pop()
        if op is not None and op in among and op not in needed:
            if not is_speculatable(op):
                return None
            needed.add(op)
            waiting += [value.op for value in op.operands]
    return needed


def _tokens_taken(ops: Sequence[Op]) -> list[Value]:
    """Return the tokens from elsewhere that operations wait for."""
    walked = [inner for op in ops for inner in op.walk()]
    made = {result for op in walked for result in op.results}
    made |= {value for op in walked for region in op.regions if region is not None for value in region.args}
    taken = (value for op in walked for value in op.operands if value.type is TOKEN and value not in made)
    return list(dict.fromkeys(taken))
