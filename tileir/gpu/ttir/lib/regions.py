"""Regions as TTIR: loops and branches, and early exits from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tileir.analysis.structure import EXITS, RegionExit, runs_once
from tileir.gpu.ttir.analysis.late_loads import with_late_loads
from tileir.gpu.ttir.forms import flat_types, flattened
from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import I32, I64, TtirBlock, TtirType, TtirValue
from tileir.gpu.ttir.lib.mailbox_writes import post_failure
from tileir.gpu.ttir.lib.subtiles import reduced
from tileir.gpu.ttir.lowering import TtirLowering
from tileir.ir import core
from tileir.ir.core import Block, Op
from tileir.ir.loc import Location
from tileir.ops import control

_GOES_ON = frozenset({RegionExit.YIELD})


# ---------------------------------------------------------------- what the program says


def exits_of(block: Block) -> frozenset[RegionExit]:
    """Return the exits that the region may take."""
    found: frozenset[RegionExit] = frozenset()
    for op in block.ops:
        if type(op) in EXITS:
            return found | {EXITS[type(op)]}
        through = exits_through(op)
        found |= through - _GOES_ON
        if RegionExit.YIELD not in through:
            return found
    return found | _GOES_ON


def exits_through(op: Op) -> frozenset[RegionExit]:
    """Return the exits by which control leaves an operation; `RegionExit.YIELD` stands for the operation after it."""
    if isinstance(op, control.If):
        otherwise = _GOES_ON if op.otherwise is None else exits_of(op.otherwise)
        return exits_of(op.then) | otherwise
    if isinstance(op, control.Loop):
        return _GOES_ON | (exits_of(op.body) & {RegionExit.RETURN})
    if isinstance(op, control.Assert) and runs_once(op):
        # A failure ends the tile block. Elsewhere the block goes on, as it may (spec: control#assert-failure), so that
        # loops do not pay for it.
        return _GOES_ON | {RegionExit.RETURN}
    return _GOES_ON


def leaves(op: Op) -> bool:
    """Return whether the code behind the operation may be skipped."""
    return exits_through(op) != _GOES_ON


# ---------------------------------------------------------------- what the code says


@dataclass(frozen=True)
class RegionOutcome:
    """The end of a piece of code: the values that travel with each exit that it may take.

    `code` is the exit taken, if there is more than one; then the values come from `ResultLayout.unpacked`. Code that
    may take no exit at all never ends.
    """

    values: dict[RegionExit, list[TtirValue]]
    code: TtirValue | None = None

    def without(self, exit: RegionExit) -> RegionOutcome:
        """Return the outcome where `exit` is known not to be taken."""
        others = {other: values for other, values in self.values.items() if other is not exit}
        return RegionOutcome(others, self.code if len(others) > 1 else None)

    def is_by(self, build: Builder, exit: RegionExit) -> TtirValue:
        """Emit an i1 that is set if `exit` is taken."""
        if self.code is None:
            return build.truth(exit in self.values)
        return build.compare("eq", self.code, build.integer(I32, exit))


Slot = tuple[TtirType, int]
"""The n-th value of a type."""


class ResultLayout:
    """The results that hold any of some outcomes: the code if there is more than one exit, then the slots."""

    def __init__(self, outcomes: Iterable[RegionOutcome]) -> None:
        values = {exit: values for outcome in outcomes for exit, values in outcome.values.items()}
        self._places = {exit: list(_slots(values[exit])) for exit in sorted(values)}
        self._slots = list(dict.fromkeys(slot for slots in self._places.values() for slot in slots))
        self._coded = len(self._places) > 1

    @property
    def types(self) -> list[TtirType]:
        return [I32] * self._coded + [type for type, _ in self._slots]

    def packed(self, build: Builder, outcome: RegionOutcome) -> list[TtirValue]:
        """Return the results for an outcome."""
        held = {slot: value for values in outcome.values.values() for slot, value in zip(_slots(values), values)}
        values = [held[slot] if slot in held else placeholder(build, slot[0]) for slot in self._slots]
        return [self._code(build, outcome), *values] if self._coded else values

    def unpacked(self, results: Sequence[TtirValue]) -> RegionOutcome:
        """Return the outcome that the results hold."""
        held = dict(zip(self._slots, results[self._coded :]))
        values = {exit: [held[slot] for slot in slots] for exit, slots in self._places.items()}
        return RegionOutcome(values, results[0] if self._coded else None)

    def _code(self, build: Builder, outcome: RegionOutcome) -> TtirValue:
        if outcome.code is not None:
            return outcome.code
        return build.integer(I32, next(iter(outcome.values), RegionExit.YIELD))


def _slots(values: Sequence[TtirValue]) -> Iterator[Slot]:
    seen: Counter[TtirType] = Counter()
    for value in values:
        yield value.type, seen[value.type]
        seen[value.type] += 1


def placeholder(build: Builder, type: TtirType) -> TtirValue:
    """Return a value of `type` that nobody looks at."""
    if type.is_pointer:
        return build.op("tt.int_to_ptr", build.integer(type.of(I64.element), 0), type=type)
    return build.bits(type, 0)


def carried(lowering: TtirLowering, values: Sequence[core.Value]) -> list[TtirValue]:
    """Return the TTIR values that carry values of the program into another region."""
    return [part for value in values for part in flattened(lowering.values[value])]


# ---------------------------------------------------------------- regions


def run(lowering: TtirLowering, ops: Sequence[Op]) -> RegionOutcome:
    """Return the code of the operations of a region, which ends with one of the exits of the outcome."""
    walk = _Walk(lowering, with_late_loads(ops, lowering.users, lowering.order)[::-1], [])
    outcome = None
    while outcome is None:
        outcome = walk.step()
    for branch in reversed(walk.opened):
        outcome = branch.closed(lowering.build, outcome)
    return outcome


@dataclass
class _Opened:
    """An ``scf.if`` that is being made: what follows stands in `rest`, `other` ends by `outcome`."""

    condition: TtirValue
    around: TtirBlock
    rest: TtirBlock
    other: TtirBlock
    outcome: RegionOutcome
    rest_first: bool
    loc: Location

    def closed(self, build: Builder, outcome: RegionOutcome) -> RegionOutcome:
        """Join the ends of both branches, given that of `rest`."""
        build.block, build.loc = self.around, self.loc
        branches = [(self.rest, outcome), (self.other, self.outcome)]
        return _chosen(build, self.condition, branches if self.rest_first else branches[::-1])


@dataclass
class _Walk:
    """The operations yet to be lowered, next one last, and the branches opened on the way to them.

    The operations of a branch that alone goes on stand in front of those behind the `if`.
    """

    lowering: TtirLowering
    waiting: list[Op]
    opened: list[_Opened]

    def step(self) -> RegionOutcome | None:
        """Lower the next operation; how the code ends if nothing can follow."""
        lowering, op = self.lowering, self.waiting.pop()
        exit = EXITS.get(type(op))
        if exit is RegionExit.YIELD and self.waiting:
            assert op.parent_op is not None
            lowering.rebuilt_all(op.parent_op.results, carried(lowering, op.operands))
        elif exit is not None:
            return RegionOutcome({exit: carried(lowering, op.operands)})
        elif leaves(op):
            lowering.build.loc = op.loc
            lowering.put_in_order(op)
            return self._leaving(op)
        else:
            lowering.lower(op)
        return None

    def _leaving(self, op: Op) -> RegionOutcome | None:
        """Lower an operation that may be left, and go on where it does."""
        lowering, build = self.lowering, self.lowering.build
        if isinstance(op, control.Loop):
            return self._go_on(op, loop_outcome(lowering, op), RegionExit.BREAK)
        if isinstance(op, control.Assert):
            condition = lowering.value(op.condition)
            holds = all_hold(build, condition)
            with build.region() as other:
                post_failure(lowering, lowering.site(op), condition)
            self._open(holds, other, RegionOutcome({RegionExit.RETURN: []}), rest_first=True)
            return None
        assert isinstance(op, control.If)
        then, otherwise = _goes_on(op.then), _goes_on(op.otherwise)
        if then == otherwise:
            return self._go_on(op, if_outcome(lowering, op), RegionExit.YIELD)
        left, rest = (op.otherwise, op.then) if then else (op.then, op.otherwise)
        assert left is not None
        with build.region() as other:
            outcome = run(lowering, left.ops)
        self._open(lowering.value(op.condition), other, outcome, rest_first=then)
        self.waiting += [] if rest is None else reversed(rest.ops)
        return None

    def _go_on(self, op: Op, outcome: RegionOutcome, exit: RegionExit) -> RegionOutcome | None:
        """Go on behind an operation if it ended by `exit`."""
        if exit not in outcome.values:
            return outcome
        self.lowering.rebuilt_all(op.results, outcome.values[exit])
        others = outcome.without(exit)
        if others.values:
            self._open(outcome.is_by(self.lowering.build, exit), TtirBlock(), others, rest_first=True)
        return None

    def _open(self, condition: TtirValue, other: TtirBlock, outcome: RegionOutcome, rest_first: bool) -> None:
        build = self.lowering.build
        branch = _Opened(condition, build.block, TtirBlock(), other, outcome, rest_first, build.loc)
        self.opened.append(branch)
        build.block = branch.rest


def _goes_on(region: core.Block | None) -> bool:
    return region is None or RegionExit.YIELD in exits_of(region)


def _chosen(build: Builder, condition: TtirValue, branches: Sequence[tuple[TtirBlock, RegionOutcome]]) -> RegionOutcome:
    """Make two blocks the branches of an ``scf.if``."""
    layout = ResultLayout(outcome for _, outcome in branches)
    for block, outcome in branches:
        with build.at(block):
            build.effect("scf.yield", *layout.packed(build, outcome))
    return layout.unpacked(build.insert("scf.if", [condition], layout.types, regions=[block for block, _ in branches]))


# ---------------------------------------------------------------- if and loop


def if_outcome(lowering: TtirLowering, op: control.If) -> RegionOutcome:
    """Return the code of an `if` and how it ends."""
    made = []
    for region in (op.then, op.otherwise):
        with lowering.build.region() as block:
            outcome = RegionOutcome({RegionExit.YIELD: []}) if region is None else run(lowering, region.ops)
        made.append((block, outcome))
    lowering.build.loc = op.loc
    return _chosen(lowering.build, lowering.value(op.condition), made)


def loop_outcome(lowering: TtirLowering, op: control.Loop) -> RegionOutcome:
    """Return the code of a `loop`, left by `RegionExit.BREAK` or `RegionExit.RETURN`."""
    build, initial = lowering.build, carried(lowering, op.initial)
    if RegionExit.CONTINUE not in exits_of(op.body):
        lowering.rebuilt_all(op.body.args, initial)
        return run(lowering, op.body.ops)
    with build.region(*(value.type for value in initial)) as body:
        lowering.rebuilt_all(op.body.args, body.arguments)
        outcome = run(lowering, op.body.ops)
        build.loc = op.loc
        layout = ResultLayout([outcome])
        build.effect("scf.condition", outcome.is_by(build, RegionExit.CONTINUE), *layout.packed(build, outcome))
    with build.region(*layout.types) as again:
        values = layout.unpacked(again.arguments).values.get(RegionExit.CONTINUE)
        build.effect("scf.yield", *(values or [placeholder(build, value.type) for value in initial]))
    results = build.insert("scf.while", initial, layout.types, regions=[body, again])
    return layout.unpacked(results).without(RegionExit.CONTINUE)


def bind_results(
    lowering: TtirLowering, results: Sequence[core.Value], outcome: RegionOutcome, exit: RegionExit
) -> None:
    """Bind results to what travelled with `exit`. What follows code that never takes it has values, but never runs."""
    values = outcome.values.get(exit)
    if values is None:
        types = [type for result in results for type in flat_types(result.type)]
        values = [placeholder(lowering.build, type) for type in types]
    lowering.rebuilt_all(results, values)


# ---------------------------------------------------------------- assert


def all_hold(build: Builder, condition: TtirValue) -> TtirValue:
    """Emit a scalar that is true if every element is."""
    if not condition.type.is_tensor:
        return condition
    found = build.resized(condition, "i32", signed=False)
    for axis in reversed(range(len(found.type.shape))):
        found = reduced(build, found, axis, "arith.minui")
    return build.compare("ne", found, build.integer(found.type, 0))
