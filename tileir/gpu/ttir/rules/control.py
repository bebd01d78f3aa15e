"""TTIR of control flow (spec: control#top): structured operations that no exit leads past, and `for`."""

from __future__ import annotations

from tileir.analysis.structure import RegionExit
from tileir.gpu.ttir.analysis.hints import loop_stages, takes_up_products
from tileir.gpu.ttir.ir.code import ConstantBits, TtirAttribute
from tileir.gpu.ttir.lib.mailbox_writes import post_failure, where
from tileir.gpu.ttir.lib.regions import all_hold, bind_left, branches, carried, count_of, repeated, run, unforeseen
from tileir.gpu.ttir.lowering import Lower, TtirLowering
from tileir.ir.rules import Rules
from tileir.ops import control

rules: Rules[Lower] = Rules()


@rules(control.If)
def lower_if(lowering: TtirLowering, op: control.If) -> None:
    """Lower an `if` that continues behind both branches."""
    bind_left(lowering, op.outputs, branches(lowering, op), RegionExit.YIELD)


@rules(control.Loop)
def lower_loop(lowering: TtirLowering, op: control.Loop) -> None:
    """Lower a `loop` without `return`."""
    bind_left(lowering, op.outputs, repeated(lowering, op), RegionExit.BREAK)


@rules(control.For)
def lower_for(lowering: TtirLowering, op: control.For) -> None:
    """Lower a `for`: no exit leads out of it; its body may start the next iteration early."""
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
        build.effect("scf.yield", *outcome.values.get(RegionExit.CONTINUE, values))
    stages = loop_stages(op, lowering.arch)
    attributes: dict[str, TtirAttribute | ConstantBits] = {} if stages is None else {"tt.num_stages": stages}
    results = build.insert("scf.for", [*count.bounds, *initial], types, attributes, [body])
    lowering.rebuilt_all(op.outputs, results)


@rules(control.Assert)
def lower_assert(lowering: TtirLowering, op: control.Assert) -> None:
    """Lower an `assert` that reports only."""
    build, condition = lowering.build, lowering.value(op.condition)
    with where(build, build.inverted(all_hold(build, condition))):
        post_failure(lowering, lowering.site(op), condition)
