"""The places that need a barrier of the tile block: between accesses to one memory that only tokens order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import or_

from tileir.analysis.effects import access_of, own_effect, token_operands, token_results
from tileir.analysis.structure import EXITS, RegionExit, carried_arguments, target_of
from tileir.ir.core import Block, Op, Value
from tileir.ir.effects import Effect
from tileir.ops import control
from tileir.ops.calls import Call, Func
from tileir.ops.module import Entry


@dataclass(frozen=True)
class OrderedEffect:
    """An operation writes memory or only reads it, with an ordering other than weak (`strong`), and may acquire. Or it
    waits for another kernel, which accesses nothing itself."""

    writes: bool = False
    strong: bool = False
    acquires: bool = False
    accesses: bool = True

    def waits_for(self, earlier: OrderedEffect) -> bool:
        """Return whether a barrier must stand between `earlier` and this effect, which a token orders after it.

        Two loads need none if one of them is weak: nobody else writes meanwhile what it reads. Of two strong ones the
        later must not read an older value (CoRR1, spec: litmus#coherence). Effects after an acquire come after the
        effects of another block before its release, whichever thread of this block has acquired.
        """
        if not self.accesses:
            return False
        return self.writes or earlier.writes or earlier.acquires or (self.strong and earlier.strong)


_WAIT = OrderedEffect(acquires=True, accesses=False)


def ordered_effect(op: Op) -> OrderedEffect | None:
    """Return the effect of an operation on the order; None if it has none."""
    if own_effect(op) is Effect.WAIT:
        return _WAIT
    access = access_of(op)
    return None if access is None else OrderedEffect(access.writes, access.is_strong, access.acquires)


Accesses = int
"""A set of memory operations, by bits."""

Edge = tuple[Value, Value]
"""Two tokens: the second may come after all that the first comes after."""


def tokens_after(entry: Entry, functions: Mapping[str, Func], bits: Mapping[Op, Accesses]) -> dict[Value, Accesses]:
    """Return, for each token, the operations of `bits` that it may come after: those before its operation, and that
    operation. A function has one answer for all its calls."""
    ops = [op for root in (*functions.values(), entry) for op in root.walk()]
    edges = [edge for op in ops for edge in _edges(op, functions)]
    found = {result: bits[op] for op in ops if op in bits for result in token_results(op)}
    while _spread(edges, found):
        pass
    return found


def _spread(edges: Iterable[Edge], found: dict[Value, Accesses]) -> bool:
    """Follow each edge, in the order of the program; whether something new has arrived anywhere."""
    changed = False
    for source, target in edges:
        given, before = found.get(source, 0), found.get(target, 0)
        if given | before != before:
            found[target] = given | before
            changed = True
    return changed


def _edges(op: Op, functions: Mapping[str, Func]) -> Iterator[Edge]:
    if isinstance(op, control.For | control.Loop):
        yield from zip(op.initial, carried_arguments(op))
        if isinstance(op, control.For):
            yield from zip(op.initial, op.outputs)
    elif isinstance(op, control.Yield | control.Continue | control.Break):
        yield from _edges_of_exit(op)
    elif isinstance(op, Call):
        yield from _edges_of_call(op, functions[op.callee])
    elif not op.regions:
        yield from ((source, target) for source in token_operands(op) for target in token_results(op))


def _edges_of_exit(op: control.Yield | control.Continue | control.Break) -> Iterator[Edge]:
    """Yield the values that the exit leads to: results of an enclosing operation, or arguments of its next
    iteration."""
    around = target_of(op)
    if around is None or (isinstance(op, control.Yield) and not isinstance(around, control.If)):
        return
    if isinstance(op, control.Continue):
        assert isinstance(around, control.For | control.Loop)
        yield from zip(op.operands, carried_arguments(around))
    if not isinstance(op, control.Continue) or isinstance(around, control.For):
        yield from zip(op.operands, around.results)


def _edges_of_call(op: Call, function: Func) -> Iterator[Edge]:
    yield from zip(op.args, function.body.args)
    for inner in function.walk():
        if isinstance(inner, control.Return):
            yield from zip(inner.operands, op.outputs)


class TokenOrder:
    """The order that tokens ask of the operations of one entry; none if made without an entry."""

    def __init__(self, barriers: frozenset[Op] = frozenset(), relations: _Relations | None = None) -> None:
        self._barriers = barriers
        self._relations = relations or _Relations()

    @staticmethod
    def of(entry: Entry, functions: Mapping[str, Func]) -> TokenOrder:
        """Return the order of an entry that may call the functions, by their names."""
        relations = _relations(entry, functions)
        return TokenOrder(_Flow(relations, functions).block(entry.body, 0).barriers, relations)

    def needs_barrier(self, op: Op) -> bool:
        """Return whether a barrier must stand in front of the operation, which may be a loop."""
        return op in self._barriers

    def follows_write(self, op: Op) -> bool:
        """Return whether the access may be ordered by tokens after a write of this block, or after an acquire.

        The copy engine may then read for it only after a proxy fence: a barrier alone does not make the writes of
        threads, or writes visible to them, visible to the engine.
        """
        relations = self._relations
        return relations.reuses or bool(relations.before.get(op, 0) & relations.stale)

    def follows_access(self, op: Op) -> bool:
        """Return whether the access may be ordered by tokens after any other. The copy engine may then not write for
        it."""
        relations = self._relations
        return relations.reuses or bool(relations.before.get(op, 0) & relations.accesses)

    def is_followed(self, op: Op) -> bool:
        """Return whether an access may be ordered by tokens after this one, which then must have ended: a store by the
        copy engine, whose end nobody waits for, is not enough."""
        relations = self._relations
        return relations.reuses or bool(relations.bits.get(op, 0) & relations.followed)


# ------------------------------------------------------------ what operations do


@dataclass(frozen=True)
class _Relations:
    """The relations of operations: the `bits` of those with effects; those that each may come after by tokens
    (`before`), and those it then waits for; all `accesses`, those whose results the copy engine does not see
    (`stale`), and those that another access may come after. `reuses`: some memory is allocated again."""

    bits: Mapping[Op, Accesses] = field(default_factory=dict)
    before: Mapping[Op, Accesses] = field(default_factory=dict)
    waits: Mapping[Op, Accesses] = field(default_factory=dict)
    accesses: Accesses = 0
    stale: Accesses = 0
    followed: Accesses = 0
    reuses: bool = False


def _relations(entry: Entry, functions: Mapping[str, Func]) -> _Relations:
    ops = [op for root in (entry, *functions.values()) for op in root.walk()]
    effects = {op: effect for op in ops if (effect := ordered_effect(op)) is not None}
    bits = {op: 1 << position for position, op in enumerate(effects)}
    tokens = tokens_after(entry, functions, bits)
    before = {op: _union(tokens.get(operand, 0) for operand in op.operands) for op in ops if not op.regions}
    accesses = [op for op, effect in effects.items() if effect.accesses]
    every = _union(bits[op] for op in accesses)
    fences: dict[Op, Accesses] = {op: every for op in ops if own_effect(op) is Effect.FENCE}
    return _Relations(
        bits,
        before,
        {**dict(_waits(effects, bits)), **fences},
        every,
        _union(bits[op] for op in accesses if effects[op].writes or effects[op].acquires),
        _union(before[op] for op in accesses),
        any(map(_takes_memory_again, ops)),
    )


def _union(sets: Iterable[Accesses]) -> Accesses:
    return reduce(or_, sets, 0)


def _waits(effects: Mapping[Op, OrderedEffect], bits: Mapping[Op, Accesses]) -> Iterator[tuple[Op, Accesses]]:
    """Yield the accesses that each one waits for."""
    groups: dict[OrderedEffect, Accesses] = {}
    for op, effect in effects.items():
        groups[effect] = groups.get(effect, 0) | bits[op]
    for op, effect in effects.items():
        yield op, _union(group for earlier, group in groups.items() if effect.waits_for(earlier))


def _takes_memory_again(op: Op) -> bool:
    """Return whether this is an `alloca` that may run more than once, in a loop or a function: its memory is the
    same."""
    if own_effect(op) is not Effect.ALLOCATE:
        return False
    around = op.parent_op
    while isinstance(around, control.If):
        around = around.parent_op
    return not isinstance(around, Entry)


# ------------------------------------------------------------ what is pending


@dataclass(frozen=True)
class _Ways:
    """The ways in which control leaves operations: what is pending at each exit, and behind the last if control gets
    there. `barriers` are the operations inside that need one in front."""

    behind: Accesses | None
    exits: Mapping[RegionExit, Accesses] = field(default_factory=dict)
    barriers: frozenset[Op] = frozenset()

    def without(self, *kinds: RegionExit) -> dict[RegionExit, Accesses]:
        return {kind: pending for kind, pending in self.exits.items() if kind not in kinds}


def _joined(first: Mapping[RegionExit, Accesses], second: Mapping[RegionExit, Accesses]) -> dict[RegionExit, Accesses]:
    return {kind: first.get(kind, 0) | second.get(kind, 0) for kind in (*first, *second)}


class _Flow:
    """Follows what is pending through the program; for an operation with regions once for each set that is."""

    def __init__(self, relations: _Relations, functions: Mapping[str, Func]) -> None:
        self.relations = relations
        self.functions = functions
        self.found: dict[tuple[Op, Accesses], _Ways] = {}

    def block(self, block: Block, pending: Accesses) -> _Ways:
        now: Accesses | None = pending
        exits: dict[RegionExit, Accesses] = {}
        barriers: set[Op] = set()
        for op in block.ops:
            if now is None:
                break
            ways = self._op(op, now)
            now = ways.behind
            barriers.update(ways.barriers)
            if ways.exits:
                exits = _joined(exits, ways.exits)
        return _Ways(now, exits, frozenset(barriers))

    def _op(self, op: Op, pending: Accesses) -> _Ways:
        if type(op) in EXITS:
            return _Ways(None, {EXITS[type(op)]: pending})
        rule = _NESTED.get(type(op))
        if rule is None:
            return self._simple(op, pending)
        if (op, pending) not in self.found:
            self.found[op, pending] = rule(self, op, pending)
        return self.found[op, pending]

    def _simple(self, op: Op, pending: Accesses) -> _Ways:
        relations = self.relations
        own = relations.bits.get(op, 0)
        waits = pending if _takes_memory_again(op) else relations.before.get(op, 0) & relations.waits.get(op, 0)
        return _Ways(own, barriers=frozenset({op})) if waits & pending else _Ways(pending | own)

    def _if(self, op: control.If, pending: Accesses) -> _Ways:
        then = self.block(op.then, pending)
        other = _Ways(None, {RegionExit.YIELD: pending}) if op.otherwise is None else self.block(op.otherwise, pending)
        ways = _Ways(None, _joined(then.exits, other.exits), then.barriers | other.barriers)
        return _Ways(ways.exits.get(RegionExit.YIELD), ways.without(RegionExit.YIELD), ways.barriers)

    def _call(self, op: Call, pending: Accesses) -> _Ways:
        ways = self.block(self.functions[op.callee].body, pending)
        return _Ways(ways.exits.get(RegionExit.RETURN), {}, ways.barriers)

    def _loop(self, op: control.For | control.Loop, pending: Accesses) -> _Ways:
        """Place one barrier in front of the loop if otherwise more would be needed inside."""
        fresh = self._rounds(op, 0)
        if not pending:
            return fresh
        without = self._rounds(op, pending)
        if without.barriers == fresh.barriers:
            return without
        return _Ways(fresh.behind, fresh.exits, fresh.barriers | {op})

    def _rounds(self, op: control.For | control.Loop, pending: Accesses) -> _Ways:
        """Return the ways out of a loop, if `pending` is so in front of it."""
        head = pending
        while True:
            ways = self.block(op.body, head)
            grown = head | ways.exits.get(RegionExit.CONTINUE, 0)
            if grown == head:
                break
            head = grown
        behind = head if isinstance(op, control.For) else ways.exits.get(RegionExit.BREAK)
        return _Ways(behind, ways.without(RegionExit.CONTINUE, RegionExit.BREAK), ways.barriers)


_NESTED: dict[type[Op], Callable[..., _Ways]] = {
    control.If: _Flow._if,
    control.For: _Flow._loop,
    control.Loop: _Flow._loop,
    Call: _Flow._call,
}
