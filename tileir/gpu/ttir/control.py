"""TTIR of control flow (specification 8.5): structured regions, whatever exits the program takes.

Knows: what follows an operation that may be left early, and where an exit ends. Does not know: how an exit is told to
the code around (`exits`), nor how `for` counts (`counting`).

What follows an operation that may be left stands in a region that runs only if it was not. If one branch of an `if`
goes on and the other never does, that region is the branch itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from tileir.gpu.ttir.builder import Builder
from tileir.gpu.ttir.code import Attribute, Block, Number, Value
from tileir.gpu.ttir.counting import count_of, unforeseen
from tileir.gpu.ttir.exits import EXIT_OF, Exit, Layout, Outcome, exits_of, leaves, placeholder
from tileir.gpu.ttir.forms import flat_types, flattened
from tileir.gpu.ttir.hints import loop_stages
from tileir.gpu.ttir.lowering import Lower, Lowering
from tileir.gpu.ttir.posting import post_failure, where
from tileir.gpu.ttir.users import takes_up_products
from tileir.ir import core
from tileir.ir.core import Op
from tileir.ir.loc import Location
from tileir.ir.rules import Rules
from tileir.ops import control
from tileir.ops.module import Entry

rules: Rules[Lower] = Rules()


def carried(lowering: Lowering, values: Sequence[core.Value]) -> list[Value]:
    """What carries values of the program into another region."""
    return [part for value in values for part in flattened(lowering.values[value])]


# ---------------------------------------------------------------- regions


def run(lowering: Lowering, ops: Sequence[Op]) -> Outcome:
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

    condition: Value
    around: Block
    rest: Block
    other: Block
    outcome: Outcome
    rest_first: bool
    loc: Location

    def closed(self, build: Builder, outcome: Outcome) -> Outcome:
        """How both branches together end, given how `rest` does."""
        build.block, build.loc = self.around, self.loc
        branches = [(self.rest, outcome), (self.other, self.outcome)]
        return _chosen(build, self.condition, branches if self.rest_first else branches[::-1])


@dataclass
class _Walk:
    """The operations yet to be lowered, next one last, and the branches opened on the way to them.

    The operations of a branch that alone goes on stand in front of those behind the `if`.
    """

    lowering: Lowering
    waiting: list[Op]
    opened: list[_Opened]

    def step(self) -> Outcome | None:
        """Lower the next operation; how the code ends if nothing can follow."""
        lowering, op = self.lowering, self.waiting.pop()
        exit = EXIT_OF.get(type(op))
        if exit is Exit.YIELD and self.waiting:
            assert op.parent_op is not None
            lowering.rebuilt_all(op.parent_op.results, carried(lowering, op.operands))
        elif exit is not None:
            return Outcome({exit: carried(lowering, op.operands)})
        elif leaves(op):
            lowering.build.loc = op.loc
            lowering.put_in_order(op)
            return self._leaving(op)
        else:
            lowering.lower(op)
        return None

    def _leaving(self, op: Op) -> Outcome | None:
        """Lower an operation that may be left."""
        if isinstance(op, control.Loop):
            return self._go_on(op, repeated(self.lowering, op), Exit.BREAK)
        if isinstance(op, control.If):
            then, otherwise = _goes_on(op.then), _goes_on(op.otherwise)
            if then == otherwise:
                return self._go_on(op, branches(self.lowering, op), Exit.YIELD)
            self._go_on_in(op, op.then if then else op.otherwise, then)
        else:
            assert isinstance(op, control.Assert)
            self._assert(op)
        return None

    def _go_on(self, op: Op, outcome: Outcome, exit: Exit) -> Outcome | None:
        """Go on behind an operation if it ended by `exit`."""
        if exit not in outcome.values:
            return outcome
        self.lowering.rebuilt_all(op.results, outcome.values[exit])
        others = outcome.without(exit)
        if others.values:
            self._open(outcome.is_by(self.lowering.build, exit), Block(), others, rest_first=True)
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
        holds = _all_hold(build, condition)
        with build.region() as other:
            post_failure(self.lowering, self.lowering.site(op), condition)
        self._open(holds, other, Outcome({Exit.RETURN: []}), rest_first=True)

    def _open(self, condition: Value, other: Block, outcome: Outcome, rest_first: bool) -> None:
        build = self.lowering.build
        branch = _Opened(condition, build.block, Block(), other, outcome, rest_first, build.loc)
        self.opened.append(branch)
        build.block = branch.rest


def _goes_on(region: core.Block | None) -> bool:
    return region is None or Exit.YIELD in exits_of(region)


def _chosen(build: Builder, condition: Value, branches: Sequence[tuple[Block, Outcome]]) -> Outcome:
    """Make two blocks the branches of an ``scf.if``."""
    layout = Layout(outcome for _, outcome in branches)
    for block, outcome in branches:
        with _at_end(build, block):
            build.effect("scf.yield", *layout.packed(build, outcome))
    return layout.unpacked(build.insert("scf.if", [condition], layout.types, regions=[block for block, _ in branches]))


@contextmanager
def _at_end(build: Builder, block: Block) -> Iterator[None]:
    outer, build.block = build.block, block
    try:
        yield
    finally:
        build.block = outer


# ---------------------------------------------------------------- if, loop, for


def branches(lowering: Lowering, op: control.If) -> Outcome:
    """The code of an `if` and how it ends."""
    made = []
    for region in (op.then, op.otherwise):
        with lowering.build.region() as block:
            outcome = Outcome({Exit.YIELD: []}) if region is None else run(lowering, region.ops)
        made.append((block, outcome))
    lowering.build.loc = op.loc
    return _chosen(lowering.build, lowering.value(op.condition), made)


@rules(control.If)
def lower_if(lowering: Lowering, op: control.If) -> None:
    """An `if` that goes on behind both branches."""
    bind_left(lowering, op.outputs, branches(lowering, op), Exit.YIELD)


def repeated(lowering: Lowering, op: control.Loop) -> Outcome:
    """The code of a `loop`, left by `Exit.BREAK` or `Exit.RETURN`."""
    build, initial = lowering.build, carried(lowering, op.initial)
    if Exit.CONTINUE not in exits_of(op.body):
        lowering.rebuilt_all(op.body.args, initial)
        return run(lowering, op.body.ops)
    with build.region(*(value.type for value in initial)) as body:
        lowering.rebuilt_all(op.body.args, body.arguments)
        outcome = run(lowering, op.body.ops)
        build.loc = op.loc
        layout = Layout([outcome])
        build.effect("scf.condition", outcome.is_by(build, Exit.CONTINUE), *layout.packed(build, outcome))
    with build.region(*layout.types) as again:
        values = layout.unpacked(again.arguments).values.get(Exit.CONTINUE)
        build.effect("scf.yield", *(values or [placeholder(build, value.type) for value in initial]))
    results = build.insert("scf.while", initial, layout.types, regions=[body, again])
    return layout.unpacked(results).without(Exit.CONTINUE)


@rules(control.Loop)
def lower_loop(lowering: Lowering, op: control.Loop) -> None:
    """A `loop` without `return`."""
    bind_left(lowering, op.outputs, repeated(lowering, op), Exit.BREAK)


def bind_left(lowering: Lowering, results: Sequence[core.Value], outcome: Outcome, exit: Exit) -> None:
    """Bind results to what travelled with `exit`. What follows code that never takes it has values, but never runs."""
    values = outcome.values.get(exit)
    if values is None:
        types = [type for result in results for type in flat_types(result.type)]
        values = [placeholder(lowering.build, type) for type in types]
    lowering.rebuilt_all(results, values)


@rules(control.For)
def lower_for(lowering: Lowering, op: control.For) -> None:
    """No exit leads out of a `for`; its body may start the next iteration early."""
    build, initial = lowering.build, carried(lowering, op.initial)
    count = count_of(lowering, op)
    if takes_up_products(op):
        count = unforeseen(lowering, count)
    types = [value.type for value in initial]
    with build.region(count.type, *types) as body:
        position, *values = body.arguments
        induction, *arguments = op.body.args
        lowering.known.count(position, *count.bounds)
        lowering.bind(induction, count.induction(position))
        lowering.rebuilt_all(arguments, values)
        outcome = run(lowering, op.body.ops)
        build.loc = op.loc
        build.effect("scf.yield", *outcome.values.get(Exit.CONTINUE, values))
    stages = loop_stages(op, lowering.arch)
    attributes: dict[str, Attribute | Number] = {} if stages is None else {"tt.num_stages": stages}
    results = build.insert("scf.for", [*count.bounds, *initial], types, attributes, [body])
    lowering.rebuilt_all(op.outputs, results)


# ---------------------------------------------------------------- assert


@rules(control.Assert)
def lower_assert(lowering: Lowering, op: control.Assert) -> None:
    """An `assert` that reports only."""
    build, condition = lowering.build, lowering.value(op.condition)
    with where(build, build.inverted(_all_hold(build, condition))):
        post_failure(lowering, lowering.site(op), condition)


def _all_hold(build: Builder, condition: Value) -> Value:
    """Whether every element is true, as a scalar."""
    if not condition.type.is_tensor:
        return condition
    found = build.resized(condition, "i32", signed=False)
    while found.type.is_tensor:
        found = _least_along_last(build, found)
    return build.compare("ne", found, build.integer(found.type, 0))


def _least_along_last(build: Builder, tile: Value) -> Value:
    *rest, _ = tile.type.shape
    with build.region(tile.type.shaped(), tile.type.shaped()) as body:
        build.effect("tt.reduce.return", build.op("arith.minui", *body.arguments))
    return build.insert("tt.reduce", [tile], [tile.type.shaped(*rest)], {"axis": len(rest)}, [body])[0]


# ---------------------------------------------------------------- the entry


@rules(Entry)
def lower_entry(lowering: Lowering, op: Entry) -> None:
    """Wherever the program returns, the code does so at its end."""
    run(lowering, op.body.ops)
    lowering.build.effect("tt.return")
