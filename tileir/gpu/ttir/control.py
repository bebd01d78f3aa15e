"""TTIR of control flow (specification 8.5): structured regions, whatever exits the program takes.

Knows: what follows an operation that may be left early, and where an exit ends. Does not know: how an exit is told to
the code around (`exits`), nor how `for` counts (`counting`).

What follows an operation that may be left stands in a region that runs only if it was not. If one branch of an `if`
goes on and the other never does, that region is the branch itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from tileir.gpu.ttir.builder import Builder
from tileir.gpu.ttir.code import Block, Value
from tileir.gpu.ttir.counting import count_of
from tileir.gpu.ttir.exits import EXIT_OF, Exit, Layout, Outcome, exits_of, leaves, placeholder
from tileir.gpu.ttir.forms import flat_types, flattened
from tileir.gpu.ttir.lowering import Lower, Lowering
from tileir.gpu.ttir.posting import post_failure, where
from tileir.ir import core
from tileir.ir.core import Op
from tileir.ir.rules import Rules
from tileir.ops import control
from tileir.ops.module import Entry

rules: Rules[Lower] = Rules()

Code = Callable[[], Outcome]
"""Emits code that takes its exits."""
Rest = Callable[[list[Value]], Outcome]
"""Emits the code behind a region, given what the region yields."""


def _yielded(values: list[Value]) -> Outcome:
    return Outcome({Exit.YIELD: values})


def run(lowering: Lowering, ops: Sequence[Op], rest: Rest = _yielded) -> Outcome:
    """The code of the operations up to the end of their region; where they yield, the code of `rest` follows."""
    for position, op in enumerate(ops):
        if type(op) in EXIT_OF:
            return _left(EXIT_OF[type(op)], carried(lowering, op.operands), rest)
        if leaves(op):
            return _run_leaving(lowering, op, lambda: run(lowering, ops[position + 1 :], rest))  # noqa: B023
        lowering.lower(op)
    return rest([])


def _left(exit: Exit, values: list[Value], rest: Rest) -> Outcome:
    return rest(values) if exit is Exit.YIELD else Outcome({exit: values})


def carried(lowering: Lowering, values: Sequence[core.Value]) -> list[Value]:
    """What carries values of the program into another region."""
    return [part for value in values for part in flattened(lowering.values[value])]


def _run_leaving(lowering: Lowering, op: Op, rest: Code) -> Outcome:
    """The code of an operation that may be left, and of what follows it."""
    lowering.build.loc = op.loc
    lowering.put_in_order(op)
    if isinstance(op, control.Loop):
        return _followed(lowering, op, repeated(lowering, op), Exit.BREAK, rest)
    if isinstance(op, control.Assert):
        return _asserted(lowering, op, rest)
    assert isinstance(op, control.If)
    if _goes_on(op.then) and _goes_on(op.otherwise):
        return _followed(lowering, op, branches(lowering, op, _yielded), Exit.YIELD, rest)

    def after(values: list[Value]) -> Outcome:
        lowering.rebuilt_all(op.outputs, values)
        return rest()

    return branches(lowering, op, after)


def _goes_on(region: core.Block | None) -> bool:
    return region is None or Exit.YIELD in exits_of(region)


def _followed(lowering: Lowering, op: Op, outcome: Outcome, exit: Exit, rest: Code) -> Outcome:
    """The code behind an operation, which runs if the operation ended by `exit`."""
    if exit not in outcome.values:
        return outcome
    others = outcome.without(exit)
    lowering.rebuilt_all(op.results, outcome.values[exit])
    if not others.values:
        return rest()
    return chosen(lowering.build, outcome.is_by(lowering.build, exit), rest, lambda: others)


def chosen(build: Builder, condition: Value, first: Code, second: Code) -> Outcome:
    """The code of `first` where `condition` holds, of `second` elsewhere."""
    loc = build.loc
    with build.region() as then:
        one = first()
    with build.region() as otherwise:
        other = second()
    build.loc = loc
    layout = Layout([one, other])
    for block, outcome in ((then, one), (otherwise, other)):
        with _at_end(build, block):
            build.effect("scf.yield", *layout.packed(build, outcome))
    return layout.unpacked(build.insert("scf.if", [condition], layout.types, regions=[then, otherwise]))


@contextmanager
def _at_end(build: Builder, block: Block) -> Iterator[None]:
    outer, build.block = build.block, block
    try:
        yield
    finally:
        build.block = outer


# ---------------------------------------------------------------- if, loop, for


def branches(lowering: Lowering, op: control.If, rest: Rest) -> Outcome:
    """The code of an `if`; `rest` follows each branch that yields."""

    def then() -> Outcome:
        return run(lowering, op.then.ops, rest)

    def otherwise() -> Outcome:
        return rest([]) if op.otherwise is None else run(lowering, op.otherwise.ops, rest)

    return chosen(lowering.build, lowering.value(op.condition), then, otherwise)


@rules(control.If)
def lower_if(lowering: Lowering, op: control.If) -> None:
    """An `if` that goes on behind both branches."""
    outcome = branches(lowering, op, _yielded)
    lowering.rebuilt_all(op.outputs, outcome.values[Exit.YIELD])


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
        values = layout.unpacked(again.arguments).values
        build.effect("scf.yield", *values.get(Exit.CONTINUE, body.arguments))
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
    results = build.insert("scf.for", [*count.bounds, *initial], types, regions=[body])
    lowering.rebuilt_all(op.outputs, results)


# ---------------------------------------------------------------- assert


def _asserted(lowering: Lowering, op: control.Assert, rest: Code) -> Outcome:
    """The code of an `assert` that ends the tile block if it fails, and of what follows."""

    def stop() -> Outcome:
        post_failure(lowering, lowering.site(op), lowering.value(op.condition))
        return Outcome({Exit.RETURN: []})

    return chosen(lowering.build, _all_hold(lowering.build, lowering.value(op.condition)), rest, stop)


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
