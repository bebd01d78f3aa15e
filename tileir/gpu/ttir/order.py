"""Which operations a barrier must precede, so that the threads of a block keep the order that tokens ask for.

Knows: how tokens flow through an entry and the functions it calls, and where barriers end what is pending. Does not
know: which two operations need a barrier between them (`effects`), nor how one is made (`lowering`).

Why there must be barriers. The elements of a tile are spread over the threads of a block, each load, store or atomic
over its own way, and elements may have copies in several threads. Triton orders what the threads do in shared memory,
but not what they do in global memory. So two accesses to one address by different threads are ordered only if a
barrier of the block stands between them; it orders the memory accesses of all threads before it and after it, and no
pass of Triton moves a load across one, nor lets a loop with one in it load ahead of time. What must be ordered:

- Two accesses with a path of tokens from the first to the second (specification, memory model 3 and 9: "tok"), unless
  `Effect.waits_for` says that nobody can tell. That loads do not alias stores is never known, and that a value is
  loaded from where it is stored does not help: a copy of it may be in a thread that has yet to load.
- What comes by token before a release, which one thread performs for all others (memory model 14.3): a release writes,
  so it waits for every access. What comes by token after an acquire: every access waits for one.
- Without a path of tokens nothing is ordered (semantics 7): neither program order nor data, address or control
  dependences count. So there is no barrier for those.
- What comes by token after `gdc_wait_tko`. Every thread waits, but only a barrier keeps loads of a loop behind it.
- `memory_fence_alias_tko` is executed by every thread, after a barrier, so that it stands between any two accesses that
  it separates. `print_tko` leaves records in the order in which the code runs. These and all other operations with
  tokens pass on what comes before them.
- The memory of an `alloca` in a loop is that of the iteration before, which no token tells of (semantics 6.2): all of
  that iteration's accesses must have ended.

How barriers are placed. `pending` is the set of accesses since the last barrier on any way to a point of the program;
a token stands for the set of accesses that its holder comes after. An operation needs a barrier in front if it waits
for one that is in both. A loop is looked at until nothing new flows around it, first as if a barrier stood in front of
it: if only what happened before the loop asks for more barriers inside, one stands in front instead. Sets are bits of
an int, one for each access of the program text; instances of one in different iterations share it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tileir.gpu.ttir.effects import Effect, effect_of
from tileir.ir import types as t
from tileir.ir.core import Block, Op, Value
from tileir.ops import control, memory
from tileir.ops.extension import Call, Func
from tileir.ops.module import Entry

Accesses = int
"""A set of them, by bits."""


class Order:
    """What tokens ask of the operations of one entry; nothing of any if made without one."""

    def __init__(self, flow: _Flow | None = None) -> None:
        self._barriers = frozenset[Op]() if flow is None else frozenset(flow.barriers)
        self._before = {} if flow is None else flow.before
        self._bits = {} if flow is None else flow.bits
        self._stale = 0 if flow is None else flow.stale
        self._followed = 0 if flow is None else flow.followed

    @staticmethod
    def of(entry: Entry, functions: Mapping[str, Func]) -> Order:
        """The order of an entry that may call the functions, by their names."""
        flow = _Flow(_effects([entry, *functions.values()]), functions)
        flow.run(entry)
        return Order(flow)

    def needs_barrier(self, op: Op) -> bool:
        """Whether a barrier must stand in front of the operation, which may be a loop."""
        return op in self._barriers

    def follows_write(self, op: Op) -> bool:
        """Whether the access may come by token after a write of this block, or after an acquire.

        Then the copy engine may not read for it without a proxy fence: what threads have written, or made visible to
        themselves, a barrier alone does not make visible to the engine.
        """
        return bool(self._before.get(op, 0) & self._stale)

    def follows_access(self, op: Op) -> bool:
        """Whether the access may come by token after any other. Then the copy engine may not write for it."""
        return bool(self._before.get(op, 0))

    def is_followed(self, op: Op) -> bool:
        """Whether an access may come by token after this one, which then must have ended: a store by the copy engine,
        whose end nobody waits for, will not do."""
        return bool(self._bits.get(op, 0) & self._followed)


def _effects(roots: Sequence[Op]) -> dict[Op, Effect]:
    found = ((op, effect_of(op)) for root in roots for op in root.walk())
    return {op: effect for op, effect in found if effect is not None}


@dataclass(frozen=True)
class Point:
    """Where ways meet: what each of some values may come after, and what is pending (None: no way leads here)."""

    after: tuple[Accesses, ...]
    pending: Accesses | None

    def joined(self, other: Point) -> Point:
        after = tuple(mine | theirs for mine, theirs in zip(self.after, other.after))
        return Point(after, _either(self.pending, other.pending))


def _either(first: Accesses | None, second: Accesses | None) -> Accesses | None:
    if first is None or second is None:
        return second if first is None else first
    return first | second


def _nowhere(values: Sequence[Value]) -> Point:
    return Point((0,) * len(values), None)


class _Flow:
    """Follows control through the program. `barriers` holds the operations that need one, for the loop looked at."""

    def __init__(self, effects: Mapping[Op, Effect], functions: Mapping[str, Func]) -> None:
        self.functions = functions
        self.bits = {op: 1 << position for position, op in enumerate(effects)}
        self.waits = dict(_waits(effects, self.bits))
        self.accesses = sum(self.bits[op] for op, effect in effects.items() if effect.accesses)
        self.stale = self.accesses & sum(
            self.bits[op] for op, effect in effects.items() if effect.writes or effect.acquires
        )
        self.after: dict[Value, Accesses] = {}
        self.before: dict[Op, Accesses] = {}
        self.followed = 0
        self.barriers: set[Op] = set()
        self.targets: dict[type[Op], list[Point]] = {kind: [] for kind in _EXITS}

    def run(self, entry: Entry) -> None:
        self._to(control.Return, _nowhere([]), entry.body, 0)

    # ------------------------------------------------------------ blocks

    def _block(self, block: Block, pending: Accesses) -> None:
        """Up to the operation that ends the block, or that control never gets past."""
        now: Accesses | None = pending
        for op in block.ops:
            if now is None:
                return
            now = _VISITS.get(type(op), _Flow._plain)(self, op, now)

    def _to(self, exit: type[Op], start: Point, block: Block, pending: Accesses) -> Point:
        """Where the exits of one kind that are taken in the block lead, joined with `start`."""
        self.targets[exit].append(start)
        self._block(block, pending)
        return self.targets[exit].pop()

    def _exit(self, op: Op, pending: Accesses) -> None:
        targets = self.targets[type(op)]
        targets[-1] = targets[-1].joined(Point(self._all_after(op.operands), pending))

    def _bind(self, values: Sequence[Value], after: Sequence[Accesses]) -> None:
        self.after.update(zip(values, after))

    def _all_after(self, values: Sequence[Value]) -> tuple[Accesses, ...]:
        return tuple(self.after.get(value, 0) for value in values)

    # ------------------------------------------------------------ operations

    def _plain(self, op: Op, pending: Accesses) -> Accesses:
        before = 0
        for accesses in self._all_after(op.operands):
            before |= accesses
        own = self.bits.get(op, 0)
        if own & self.accesses:
            self.before[op] = self.before.get(op, 0) | before & self.accesses
            self.followed |= before
        if before & pending & self._waited_for(op):
            self.barriers.add(op)
            pending = 0
        self._bind([result for result in op.results if isinstance(result.type, t.TokenType)], [before | own])
        return pending | own

    def _waited_for(self, op: Op) -> Accesses:
        return self.accesses if isinstance(op, memory.MemoryFenceAlias) else self.waits.get(op, 0)

    def _alloca(self, op: Op, pending: Accesses) -> Accesses:
        """In a loop any access may be to the memory of the iteration before."""
        if not self.targets[control.Continue]:
            return pending
        self.before = dict.fromkeys(self.bits, self.accesses)
        self.followed = self.accesses
        if pending:
            self.barriers.add(op)
        return 0

    def _if(self, op: control.If, pending: Accesses) -> Accesses | None:
        end = self._to(control.Yield, _nowhere(op.outputs), op.then, pending)
        if op.otherwise is None:
            end = end.joined(Point((), pending))
        else:
            end = self._to(control.Yield, end, op.otherwise, pending)
        self._bind(op.outputs, end.after)
        return end.pending

    def _call(self, op: Call, pending: Accesses) -> Accesses | None:
        function = self.functions[op.callee]
        self._bind(function.body.args, self._all_after(op.args))
        end = self._to(control.Return, _nowhere(op.outputs), function.body, pending)
        self._bind(op.outputs, end.after)
        return end.pending

    def _loop(self, op: control.For | control.Loop, pending: Accesses) -> Accesses | None:
        """One barrier in front if otherwise there would have to be more inside."""
        around = self.barriers
        end, inside = self._rounds(op, 0)
        if pending:
            end_without, inside_without = self._rounds(op, pending)
            if inside_without == inside:
                end = end_without
            else:
                around.add(op)
        self.barriers = around | inside
        self._bind(op.outputs, end.after)
        return end.pending

    def _rounds(self, op: control.For | control.Loop, pending: Accesses) -> tuple[Point, set[Op]]:
        """Where a loop ends and the operations in it that need barriers, if `pending` is so in front of it."""
        arguments = op.body.args[1:] if isinstance(op, control.For) else op.body.args
        head = Point(self._all_after(op.initial), pending)
        while True:
            self.barriers = set()
            self._bind(arguments, head.after)
            again, end = self._round(op, head)
            grown = head.joined(again)
            if grown == head:
                return (head if isinstance(op, control.For) else end), self.barriers
            head = grown

    def _round(self, op: control.For | control.Loop, head: Point) -> tuple[Point, Point]:
        """Where one iteration leads: to the next one, and out of the loop by `break`."""
        assert head.pending is not None
        self.targets[control.Break].append(_nowhere(op.outputs))
        again = self._to(control.Continue, _nowhere(op.initial), op.body, head.pending)
        return again, self.targets[control.Break].pop()


def _waits(effects: Mapping[Op, Effect], bits: Mapping[Op, int]) -> Iterator[tuple[Op, Accesses]]:
    """The accesses that each one waits for."""
    groups: dict[Effect, Accesses] = {}
    for op, effect in effects.items():
        groups[effect] = groups.get(effect, 0) | bits[op]
    for op, effect in effects.items():
        yield op, sum(group for earlier, group in groups.items() if effect.waits_for(earlier))


Visit = Callable[..., "Accesses | None"]

_EXITS = (control.Yield, control.Continue, control.Break, control.Return)
_VISITS: dict[type[Op], Visit] = {
    control.If: _Flow._if,
    control.For: _Flow._loop,
    control.Loop: _Flow._loop,
    Call: _Flow._call,
    memory.Alloca: _Flow._alloca,
    **dict.fromkeys(_EXITS, _Flow._exit),
}
