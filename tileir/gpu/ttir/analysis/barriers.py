"""The places that need a barrier of the tile block: between accesses to one memory that only tokens order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from typing import NamedTuple

from tileir.analysis.effects import access_of, own_effect, token_operands, token_results
from tileir.analysis.structure import EXITS, RegionExit, passed_on, runs_once
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


def ordered_effect(op: Op) -> OrderedEffect | None:
    """Return the effect of an operation on the order; None if it has none."""
    if own_effect(op) is Effect.WAIT:
        return OrderedEffect(acquires=True, accesses=False)
    access = access_of(op)
    return None if access is None else OrderedEffect(access.writes, access.is_strong, access.acquires)


Accesses = int
"""A set of memory operations, by bits."""


def tokens_after(entry: Entry, functions: Mapping[str, Func], bits: Mapping[Op, Accesses]) -> dict[Value, Accesses]:
    """Return, for each token, the operations of `bits` that it may come after: those before its operation, and that
    operation. A function has one answer for all its calls."""
    ops = [op for root in (*functions.values(), entry) for op in root.walk()]
    edges = [edge for op in ops for edge in _edges(op, functions)]
    found = {result: bits[op] for op in ops if op in bits for result in token_results(op)}
    changed = True
    while changed:
        changed = False
        for source, target in edges:
            given, before = found.get(source, 0), found.get(target, 0)
            if given | before != before:
                found[target] = given | before
                changed = True
    return found


def _edges(op: Op, functions: Mapping[str, Func]) -> Iterator[tuple[Value, Value]]:
    """Yield pairs of values: the second, if it is a token, may come after all that the first comes after."""
    yield from passed_on(op)
    if isinstance(op, Call):
        function = functions[op.callee]
        yield from zip(op.args, function.body.args)
        for inner in function.walk():
            if isinstance(inner, control.Return):
                yield from zip(inner.operands, op.outputs)
    elif not op.regions:
        yield from ((source, target) for source in token_operands(op) for target in token_results(op))


@dataclass(frozen=True)
class TokenOrder:
    """The order that tokens ask of the operations of one entry; none if made without an entry.

    It has the `bits` of operations with effects; those that each may come after by tokens (`before`), and those it then
    waits for; all `accesses`, those whose results the copy engine does not see (`stale`), and those that another access
    may come after. `reuses`: some memory is allocated again.
    """

    bits: Mapping[Op, Accesses] = field(default_factory=dict)
    before: Mapping[Op, Accesses] = field(default_factory=dict)
    waits: Mapping[Op, Accesses] = field(default_factory=dict)
    accesses: Accesses = 0
    stale: Accesses = 0
    followed: Accesses = 0
    reuses: bool = False
    barriers: frozenset[Op] = frozenset()
    """The operations, loops among them, that need a barrier in front."""

    @staticmethod
    def of(entry: Entry, functions: Mapping[str, Func]) -> TokenOrder:
        """Return the order of an entry that may call the functions, by their names."""
        ops = [op for root in (entry, *functions.values()) for op in root.walk()]
        effects = {op: effect for op in ops if (effect := ordered_effect(op)) is not None}
        bits = {op: 1 << position for position, op in enumerate(effects)}
        tokens = tokens_after(entry, functions, bits)
        before = {op: _union(tokens.get(operand, 0) for operand in op.operands) for op in ops if not op.regions}
        accesses = [op for op, effect in effects.items() if effect.accesses]
        every = _union(bits[op] for op in accesses)
        order = TokenOrder(
            bits,
            before,
            dict(_waits(effects, bits)) | {op: every for op in ops if own_effect(op) is Effect.FENCE},
            every,
            _union(bits[op] for op in accesses if effects[op].writes or effects[op].acquires),
            _union(before[op] for op in accesses),
            any(map(_takes_memory_again, ops)),
        )
        return replace(order, barriers=_Flow(order, functions).block(entry.body, 0).barriers)

    def needs_barrier(self, op: Op) -> bool:
        """Return whether a barrier must stand in front of the operation, which may be a loop."""
        return op in self.barriers

    def follows_write(self, op: Op) -> bool:
        """Return whether the access may be ordered by tokens after a write of this block, or after an acquire.

        The copy engine may then read for it only after a proxy fence: a barrier alone does not make the writes of
        threads, or writes visible to them, visible to the engine.
        """
        return self.reuses or bool(self.before.get(op, 0) & self.stale)

    def follows_access(self, op: Op) -> bool:
        """Return whether the access may be ordered by tokens after any other. The copy engine may then not write for
        it."""
        return self.reuses or bool(self.before.get(op, 0) & self.accesses)

    def is_followed(self, op: Op) -> bool:
        """Return whether an access may be ordered by tokens after this one, which then must have ended: a store by the
        copy engine, whose end nobody waits for, is not enough."""
        return self.reuses or bool(self.bits.get(op, 0) & self.followed)


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
    """Return whether this is an `alloca` that may run more than once: its memory is the same."""
    return own_effect(op) is Effect.ALLOCATE and not runs_once(op)


# ------------------------------------------------------------ what is pending


Pending = dict[RegionExit, Accesses]
"""The accesses that no barrier has followed yet at each exit by which control leaves an operation or a block;
`RegionExit.YIELD` stands for what is behind it."""


def _joined(first: Pending, second: Pending) -> Pending:
    return {exit: first.get(exit, 0) | second.get(exit, 0) for exit in (*first, *second)}


class _Ways(NamedTuple):
    """The ways out of an operation or a block, and the operations inside that need a barrier in front."""

    exits: Pending
    barriers: frozenset[Op] = frozenset()


class _Flow:
    """Follows what is pending through the program; for an operation with regions once for each set that is."""

    def __init__(self, order: TokenOrder, functions: Mapping[str, Func]) -> None:
        self.order = order
        self.functions = functions
        self.found: dict[tuple[Op, Accesses], _Ways] = {}

    def block(self, block: Block, pending: Accesses) -> _Ways:
        exits = {RegionExit.YIELD: pending}
        barriers: set[Op] = set()
        for op in block.ops:
            if RegionExit.YIELD not in exits:
                break
            ways = self._op(op, exits.pop(RegionExit.YIELD))
            exits = _joined(exits, ways.exits)
            barriers.update(ways.barriers)
        return _Ways(exits, frozenset(barriers))

    def _op(self, op: Op, pending: Accesses) -> _Ways:
        if type(op) in EXITS:
            return _Ways({EXITS[type(op)]: pending})
        rule = _NESTED.get(type(op))
        if rule is None:
            return self._simple(op, pending)
        if (op, pending) not in self.found:
            self.found[op, pending] = rule(self, op, pending)
        return self.found[op, pending]

    def _simple(self, op: Op, pending: Accesses) -> _Ways:
        order, own = self.order, self.order.bits.get(op, 0)
        waits = pending if _takes_memory_again(op) else order.before.get(op, 0) & order.waits.get(op, 0)
        if waits & pending:
            return _Ways({RegionExit.YIELD: own}, frozenset({op}))
        return _Ways({RegionExit.YIELD: pending | own})

    def _if(self, op: control.If, pending: Accesses) -> _Ways:
        then = self.block(op.then, pending)
        other = _Ways({RegionExit.YIELD: pending}) if op.otherwise is None else self.block(op.otherwise, pending)
        return _Ways(_joined(then.exits, other.exits), then.barriers | other.barriers)

    def _call(self, op: Call, pending: Accesses) -> _Ways:
        exits, barriers = self.block(self.functions[op.callee].body, pending)
        returned = exits.get(RegionExit.RETURN)
        return _Ways({} if returned is None else {RegionExit.YIELD: returned}, barriers)

    def _loop(self, op: control.For | control.Loop, pending: Accesses) -> _Ways:
        """Place one barrier in front of the loop if otherwise more would be needed inside."""
        fresh = self._rounds(op, 0)
        if not pending:
            return fresh
        without = self._rounds(op, pending)
        return without if without.barriers == fresh.barriers else _Ways(fresh.exits, fresh.barriers | {op})

    def _rounds(self, op: control.For | control.Loop, pending: Accesses) -> _Ways:
        """Return the ways out of a loop, if `pending` is so in front of it."""
        head, known = pending, -1
        while head != known:
            known = head
            exits, barriers = self.block(op.body, head)
            head |= exits.pop(RegionExit.CONTINUE, 0)
        if isinstance(op, control.For):
            exits[RegionExit.YIELD] = head
        elif RegionExit.BREAK in exits:
            exits[RegionExit.YIELD] = exits.pop(RegionExit.BREAK)
        return _Ways(exits, barriers)


_NESTED: dict[type[Op], Callable[..., _Ways]] = {
    control.If: _Flow._if,
    control.For: _Flow._loop,
    control.Loop: _Flow._loop,
    Call: _Flow._call,
}
