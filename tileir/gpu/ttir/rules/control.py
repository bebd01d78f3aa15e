"""TTIR of control flow (spec: control#top), of calls and of modules: structured operations that no exit leads past."""

from __future__ import annotations

from collections.abc import Callable

from tileir.analysis.placement import CodeSizes
from tileir.analysis.structure import RegionExit
from tileir.gpu.ttir.analysis.hints import loop_stages, takes_up_products
from tileir.gpu.ttir.ir.builder import Builder
from tileir.gpu.ttir.ir.code import I32, I64, TtirValue
from tileir.gpu.ttir.lib.mailbox_writes import post_failure
from tileir.gpu.ttir.lib.regions import all_hold, bind_results, carried, if_outcome, loop_outcome, run
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
    bind_results(lowering, op.outputs, if_outcome(lowering, op), RegionExit.YIELD)


@rules(control.Loop)
def lower_loop(lowering: TtirLowering, op: control.Loop) -> None:
    """Lower a `loop` without `return`."""
    bind_results(lowering, op.outputs, loop_outcome(lowering, op), RegionExit.BREAK)


@rules(control.For)
def lower_for(lowering: TtirLowering, op: control.For) -> None:
    """Lower a `for`: no exit leads out of it; its body may start the next iteration early."""
    build, initial = lowering.build, carried(lowering, op.initial)
    (lower, upper, step), induction_at = _count_of(lowering, op)
    if takes_up_products(op):
        upper = _unforeseen(lowering, upper)
    types = [value.type for value in initial]
    with build.region(lower.type, *types) as body:
        position, *values = body.arguments
        induction, *arguments = op.body.args
        lowering.known.count(position, lower, upper, step)
        lowering.bind(induction, induction_at(position))
        lowering.rebuilt_all(arguments, values)
        outcome = run(lowering, op.body.ops)
        build.loc = op.loc
        build.effect("scf.yield", *outcome.values.get(RegionExit.CONTINUE, values))
    stages = loop_stages(op, lowering.arch)
    attributes = {} if stages is None else {"tt.num_stages": stages}
    results = build.insert("scf.for", [lower, upper, step, *initial], types, attributes, [body])
    lowering.rebuilt_all(op.outputs, results)


Count = tuple[tuple[TtirValue, TtirValue, TtirValue], Callable[[TtirValue], TtirValue]]
"""Lower bound, upper bound and step of a ``scf.for``, and the induction value of the program for each position."""


def _count_of(lowering: TtirLowering, op: control.For) -> Count:
    lower, upper, step = lowering.tiles((op.lower, op.upper, op.step))
    if lower.type.bits < 32 or (op.unsigned and lower.type.bits < 64):
        return _widened(lowering, op, lower, upper, step)
    if not op.unsigned and _ends_inside(lowering, upper, step):
        return (lower, upper, step), lambda position: position
    return _counted(lowering, op, lower, upper, step)


def _unforeseen(lowering: TtirLowering, upper: TtirValue) -> TtirValue:
    """Return the upper bound of a range, hiding from the compiler that the range has an element.

    If the compiler knew that of a second loop of products, it would compute values that both loops use on the path
    around the first one, and set the sums there instead of in front of both. The assembler would then make each
    ``wgmma`` wait for the one before.
    """
    hidden = lowering.build.vendor.unforeseen(upper)
    known = lowering.known.of(upper)
    lowering.known.promise(hidden, known.divisor, known.low, known.high)
    return hidden


def _widened(lowering: TtirLowering, op: control.For, lower: TtirValue, upper: TtirValue, step: TtirValue) -> Count:
    """Return the same range in a type that has room for the sum."""
    build, narrow = lowering.build, lower.type.element
    wide = I32 if lower.type.bits < 32 else I64
    lower, upper = (build.resized(bound, wide.element, signed=not op.unsigned) for bound in (lower, upper))
    step = build.resized(step, wide.element, signed=True)
    if lowering.known.of(step).low <= 0:
        upper = build.select(_is_positive(build, step), upper, lower)
        step = build.op("arith.maxsi", step, build.integer(wide, 1))
    return (lower, upper, step), lambda position: build.resized(position, narrow, signed=True)


def _counted(lowering: TtirLowering, op: control.For, lower: TtirValue, upper: TtirValue, step: TtirValue) -> Count:
    """Return the iterations by number; more than the type has room for cannot be run to the end."""
    build, type = lowering.build, lower.type
    zero, one = build.integer(type, 0), build.integer(type, 1)
    any_run = build.compare("ult" if op.unsigned else "slt", lower, upper)
    if lowering.known.of(step).low <= 0:
        any_run = build.op("arith.andi", any_run, _is_positive(build, step))
        step = build.op("arith.maxsi", step, one)
    span = build.op("arith.subi", build.op("arith.subi", upper, lower), one)
    number = build.op("arith.addi", build.op("arith.divui", span, step), one)
    number = build.op("arith.minui", number, build.integer(type, (1 << (type.bits - 1)) - 1))

    def induction(position: TtirValue) -> TtirValue:
        found = build.op("arith.addi", lower, build.op("arith.muli", position, step))
        if not op.unsigned:
            lowering.known.count(found, lower, upper, step)
        return found

    return (zero, build.select(any_run, number, zero), one), induction


def _is_positive(build: Builder, step: TtirValue) -> TtirValue:
    return build.compare("sgt", step, build.integer(step.type, 0))


def _ends_inside(lowering: TtirLowering, upper: TtirValue, step: TtirValue) -> bool:
    """Return whether the sum of an induction value and the step never overflows the type, read as signed."""
    known, limit = lowering.known.of(step), 1 << (step.type.bits - 1)
    return known.low > 0 and (known.high == 1 or lowering.known.of(upper).high <= limit - known.high)


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
    bind_results(lowering, op.outputs, outcome, RegionExit.RETURN)


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
