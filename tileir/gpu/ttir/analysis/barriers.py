"""Barriers in front of operations, so that the threads of a block keep the order that tokens ask for.

Knows: why there must be barriers, and where they end what is pending. Does not know: which two operations need one
between them (`effects`), how tokens flow (`tokens`), nor how a barrier is made (`lowering`).

Why there must be barriers. The elements of a tile are spread over the threads of a block, each load, store or atomic
over its own way, and elements may have copies in several threads. Triton orders what the threads do in shared memory,
but not what they do in global memory. So two accesses to one address by different threads are ordered only if a
barrier of the block stands between them; it orders the memory accesses of all threads before it and after it, and no
pass of Triton moves a load across one, nor lets a loop with one in it load ahead of time. What must be ordered:

- Two accesses with a path of tokens from the first to the second ("tok", spec: memory-model#relations), unless
  `OrderedEffect.waits_for` says that nobody can tell. That loads do not alias stores is never known, and that a value
  is loaded from where it is stored does not help: a copy of it may be in a thread that has yet to load.
- What comes by token before a release, which one thread performs for all others (spec: implementations#gpu): a release
  writes, so it waits for every access. What comes by token after an acquire: every access waits for one.
- Without a path of tokens nothing is ordered (spec: tokens#effects): neither program order nor data, address or control
  dependences count. So there is no barrier for those.
- What comes by token after `gdc_wait_tko`. Every thread waits, but only a barrier keeps loads of a loop behind it.
- `memory_fence_alias_tko` is executed by every thread, after a barrier, so that it stands between any two accesses that
  it separates. `print_tko` leaves records in the order in which the code runs. These and all other operations with
  tokens pass on what comes before them.
- The memory of an `alloca` in a loop is that of the iteration before, which no token tells of (spec: memory#alloca):
  all of that iteration's accesses must have ended.

How barriers are placed. `pending` is the set of accesses since the last barrier on any way to a point of the program.
An operation needs a barrier in front if it waits for an access that is pending and that its token comes after. A loop
is looked at until nothing new flows around it, first as if a barrier stood in front of it: if only what happened before
the loop asks for more barriers inside, one stands in front instead. Instances of an operation in different iterations
count as one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import or_

from tileir.analysis.effects import own_effect
from tileir.analysis.exits import EXITS, RegionExit
from tileir.gpu.ttir.analysis.effects import OrderedEffect, ordered_effect
from tileir.gpu.ttir.analysis.tokens import Accesses, tokens_after
from tileir.ir.core import Block, Op
from tileir.ir.effects import Effect
from tileir.ops import control
from tileir.ops.calls import Call, Func
from tileir.ops.module import Entry


class TokenOrder:
    """The order that tokens ask of the operations of one entry; none if made without an entry."""

    def __init__(self, barriers: frozenset[Op] = frozenset(), relations: _Relations | None = None) -> None:
        self._barriers = barriers
        self._relations = relations or _Relations()

    @staticmethod
    def of(entry: Entry, functions: Mapping[str, Func]) -> TokenOrder:
        """The order of an entry that may call the functions, by their names."""
        relations = _relations(entry, functions)
        return TokenOrder(_Flow(relations, functions).block(entry.body, 0).barriers, relations)

    def needs_barrier(self, op: Op) -> bool:
        """Whether a barrier must stand in front of the operation, which may be a loop."""
        return op in self._barriers

    def follows_write(self, op: Op) -> bool:
        """Whether the access may come by token after a write of this block, or after an acquire.

        Then the copy engine may not read for it without a proxy fence: what threads have written, or made visible to
        themselves, a barrier alone does not make visible to the engine.
        """
        relations = self._relations
        return relations.reuses or bool(relations.before.get(op, 0) & relations.stale)

    def follows_access(self, op: Op) -> bool:
        """Whether the access may come by token after any other. Then the copy engine may not write for it."""
        relations = self._relations
        return relations.reuses or bool(relations.before.get(op, 0) & relations.accesses)

    def is_followed(self, op: Op) -> bool:
        """Whether an access may come by token after this one, which then must have ended: a store by the copy engine,
        whose end nobody waits for, will not do."""
        relations = self._relations
        return relations.reuses or bool(relations.bits.get(op, 0) & relations.followed)


# ------------------------------------------------------------ what operations do


@dataclass(frozen=True)
class _Relations:
    """The relations of operations: the `bits` of those that do something; which each may come after by tokens
    (`before`), and which it waits for if so; all `accesses`, those that leave behind what the copy engine does not see
    (`stale`), those that another access may come after. `reuses`: there is memory that is taken again."""

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
    """The accesses that each one waits for."""
    groups: dict[OrderedEffect, Accesses] = {}
    for op, effect in effects.items():
        groups[effect] = groups.get(effect, 0) | bits[op]
    for op, effect in effects.items():
        yield op, _union(group for earlier, group in groups.items() if effect.waits_for(earlier))


def _takes_memory_again(op: Op) -> bool:
    """Whether this is an `alloca` that may be run more than once, in a loop or a function: its memory is the same."""
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
        """One barrier in front if otherwise there would have to be more inside."""
        fresh = self._rounds(op, 0)
        if not pending:
            return fresh
        without = self._rounds(op, pending)
        if without.barriers == fresh.barriers:
            return without
        return _Ways(fresh.behind, fresh.exits, fresh.barriers | {op})

    def _rounds(self, op: control.For | control.Loop, pending: Accesses) -> _Ways:
        """The ways out of a loop, if `pending` is so in front of it."""
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
