"""TTIR of regions, whatever exits the program takes out of them (spec: control#top).

Knows: what follows an operation that may be left early, and where an exit ends. Does not know: how an exit is told to
the code around (`exits`), nor how `for` counts (`counting`).

What follows an operation that may be left stands in a region that runs only if it was not. If one branch of an `if`
goes on and the other never does, that region is the branch itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from tileir.analysis.exits import EXITS, RegionExit
from tileir.gpu.ttir.forms import flat_types, flattened
from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import TtirBlock, TtirValue
from tileir.gpu.ttir.lib.exits import RegionOutcome, ResultLayout, exits_of, leaves, placeholder
from tileir.gpu.ttir.lib.posting import post_failure
from tileir.gpu.ttir.lowering import TtirLowering
from tileir.ir import core
from tileir.ir.core import Op
from tileir.ir.loc import Location
from tileir.ops import control


def carried(lowering: TtirLowering, values: Sequence[core.Value]) -> list[TtirValue]:
    """The TTIR values that carry values of the program into another region."""
    return [part for value in values for part in flattened(lowering.values[value])]


# ---------------------------------------------------------------- regions


def run(lowering: TtirLowering, ops: Sequence[Op]) -> RegionOutcome:
    """The code of the operations of a region, which ends with one of the exits of the outcome."""
    walk = _Walk(lowering, list(reversed(ops)), [])
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
        """Lower an operation that may be left."""
        if isinstance(op, control.Loop):
            return self._go_on(op, repeated(self.lowering, op), RegionExit.BREAK)
        if isinstance(op, control.If):
            then, otherwise = _goes_on(op.then), _goes_on(op.otherwise)
            if then == otherwise:
                return self._go_on(op, branches(self.lowering, op), RegionExit.YIELD)
            self._go_on_in(op, op.then if then else op.otherwise, then)
        else:
            assert isinstance(op, control.Assert)
            self._assert(op)
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

    def _go_on_in(self, op: control.If, region: core.Block | None, rest_first: bool) -> None:
        """Go on in the one branch that does."""
        left = op.otherwise if rest_first else op.then
        assert left is not None
        with self.lowering.build.region() as other:
            outcome = run(self.lowering, left.ops)
        self._open(self.lowering.value(op.condition), other, outcome, rest_first)
        if region is not None:
            self.waiting += reversed(region.ops)

    def _assert(self, op: control.Assert) -> None:
        """Go on if the assertion holds; otherwise the tile block ends."""
        build, condition = self.lowering.build, self.lowering.value(op.condition)
        holds = all_hold(build, condition)
        with build.region() as other:
            post_failure(self.lowering, self.lowering.site(op), condition)
        self._open(holds, other, RegionOutcome({RegionExit.RETURN: []}), rest_first=True)

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
        with _at_end(build, block):
            build.effect("scf.yield", *layout.packed(build, outcome))
    return layout.unpacked(build.insert("scf.if", [condition], layout.types, regions=[block for block, _ in branches]))


@contextmanager
def _at_end(build: Builder, block: TtirBlock) -> Iterator[None]:
    outer, build.block = build.block, block
    try:
        yield
    finally:
        build.block = outer


# ---------------------------------------------------------------- if and loop


def branches(lowering: TtirLowering, op: control.If) -> RegionOutcome:
    """The code of an `if` and how it ends."""
    made = []
    for region in (op.then, op.otherwise):
        with lowering.build.region() as block:
            outcome = RegionOutcome({RegionExit.YIELD: []}) if region is None else run(lowering, region.ops)
        made.append((block, outcome))
    lowering.build.loc = op.loc
    return _chosen(lowering.build, lowering.value(op.condition), made)


def repeated(lowering: TtirLowering, op: control.Loop) -> RegionOutcome:
    """The code of a `loop`, left by `RegionExit.BREAK` or `RegionExit.RETURN`."""
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


def bind_left(lowering: TtirLowering, results: Sequence[core.Value], outcome: RegionOutcome, exit: RegionExit) -> None:
    """Bind results to what travelled with `exit`. What follows code that never takes it has values, but never runs."""
    values = outcome.values.get(exit)
    if values is None:
        types = [type for result in results for type in flat_types(result.type)]
        values = [placeholder(lowering.build, type) for type in types]
    lowering.rebuilt_all(results, values)


# ---------------------------------------------------------------- assert


def all_hold(build: Builder, condition: TtirValue) -> TtirValue:
    """Whether every element is true, as a scalar."""
    if not condition.type.is_tensor:
        return condition
    found = build.resized(condition, "i32", signed=False)
    while found.type.is_tensor:
        found = _least_along_last(build, found)
    return build.compare("ne", found, build.integer(found.type, 0))


def _least_along_last(build: Builder, tile: TtirValue) -> TtirValue:
    *rest, _ = tile.type.shape
    with build.region(tile.type.shaped(), tile.type.shaped()) as body:
        build.effect("tt.reduce.return", build.op("arith.minui", *body.arguments))
    return build.insert("tt.reduce", [tile], [tile.type.shaped(*rest)], {"axis": len(rest)}, [body])[0]
