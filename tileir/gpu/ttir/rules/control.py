"""TTIR of control flow (spec: control#top), of calls and of modules: structured operations that no exit leads past."""

from __future__ import annotations

from tileir.analysis.placement import CodeSizes
from tileir.analysis.structure import RegionExit
from tileir.gpu.ttir.analysis.hints import loop_stages, takes_up_products
from tileir.gpu.ttir.ir.code import ConstantBits, TtirAttribute
from tileir.gpu.ttir.lib.mailbox_writes import post_failure
from tileir.gpu.ttir.lib.regions import all_hold, bind_left, branches, carried, count_of, repeated, run, unforeseen
from tileir.gpu.ttir.lowering import Lower, TtirLowering
from tileir.ir.escaping import shown
from tileir.ir.rules import Rules
from tileir.ops import control
from tileir.ops.calls import Call, PreviewCall
from tileir.ops.module import Entry

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
    with build.where(build.inverted(all_hold(build, condition))):
        post_failure(lowering, lowering.site(op), condition)


# ---------------------------------------------------------------- calls


MAX_CALLED = 1 << 16
"""Operations that all calls of an entry may stand for."""


def require_calls_fit(lowering: TtirLowering, entry: Entry) -> None:
    """Raise UnsupportedError at the largest call if the calls of the entry stand for too much code."""
    measured = CodeSizes()
    sizes = {op: measured.size_of(measured.callee(op)) for op in entry.walk() if isinstance(op, Call)}
    if sum(sizes.values()) > MAX_CALLED:
        largest = max(sizes, key=sizes.__getitem__)
        stands_for = f"calls @{shown(largest.callee)}, which stands for {sizes[largest]} operations"
        limit = f"calls become code in place, of at most {MAX_CALLED} operations in all"
        raise lowering.unsupported(largest, f"{stands_for}: {limit}")


@rules(Call)
def lower_call(lowering: TtirLowering, op: Call) -> None:
    """Lower a call; the verifier has seen that the function exists and does not call itself."""
    function = lowering.functions[op.callee]
    for parameter, argument in zip(function.body.args, op.args):
        lowering.bind(parameter, lowering.values[argument])
    outcome = run(lowering, function.body.ops)
    lowering.build.loc = op.loc
    bind_left(lowering, op.outputs, outcome, RegionExit.RETURN)


@rules(PreviewCall)
def lower_preview_call(lowering: TtirLowering, op: PreviewCall) -> None:
    why = f"calls '{shown(op.callee)}', code of a GPU that is linked in; target 'interp' runs a registered stand-in"
    raise lowering.unsupported(op, why)


# ---------------------------------------------------------------- modules


@rules(Entry)
def lower_entry(lowering: TtirLowering, op: Entry) -> None:
    """Lower an entry; all its returns lead to the end of the code."""
    require_calls_fit(lowering, op)
    run(lowering, op.body.ops)
    lowering.build.effect("tt.return")
