"""Native code for control flow (spec: control#top) and calls (spec: calls#top): blocks, jumps, and slots for values."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from tileir.analysis.effects import allocations_in
from tileir.analysis.placement import LARGEST_KERNEL
from tileir.cpu.emit.algebra import Int
from tileir.cpu.emit.elements import I8
from tileir.cpu.emit.emitter import Index, as_i64
from tileir.cpu.emit.record import TrapKind, TrapSite
from tileir.cpu.emit.slots import Slot, new_slot, pass_values
from tileir.cpu.emit.tiles import (
    Tile,
    materialized,
    new_buffer,
    to_memory,
)
from tileir.cpu.lowering.functions import call_function
from tileir.cpu.lowering.products import (
    begin_iteration_of_products,
    begin_products,
    bound_sums,
)
from tileir.cpu.lowering.safepoints import begin_iteration, count_changes
from tileir.cpu.lowering.state import JumpTarget, LoopTargets, Lower, Lowering
from tileir.cpu.memory.carried_pointers import carried_slots
from tileir.host import undefined
from tileir.ir.core import Block, Value
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.escaping import shown
from tileir.ir.rules import Rules
from tileir.ops import control
from tileir.ops.calls import Call, Func, PreviewCall

rules: Rules[Lower] = Rules()


def slots_of(lowering: Lowering, values: Sequence[Value]) -> list[Slot]:
    """Return a slot for each of the values."""
    return [new_slot(lowering.emit, value.type, lowering.checked) for value in values]


def read_into(lowering: Lowering, slots: list[Slot], values: Sequence[Value]) -> None:
    """Bind the values to what the slots hold."""
    for slot, value in zip(slots, values):
        lowering.values[value] = slot.read(lowering.emit)


def _jump(lowering: Lowering, target: JumpTarget, operands: Sequence[Value]) -> None:
    pass_values(lowering.emit, target.slots, [lowering.values[operand] for operand in operands])
    lowering.builder.branch(target.block)


def _jump_back(lowering: Lowering, target: JumpTarget, operands: Sequence[Value]) -> None:
    """Emit the jump to the next iteration."""
    for slot, operand in zip(target.slots, operands):
        slot.write(lowering.emit, lowering.values[operand])
    count_changes(lowering, target.slots)
    for slot in target.slots:
        slot.publish(lowering.emit)
    lowering.builder.branch(target.block)


def _region(lowering: Lowering, block: Block) -> None:
    """Emit the code of a region, ending with the jump of its terminator."""
    emit = lowering.emit
    with emit.region():
        lowering.run(block)
        used = emit.arena_used
    # Memory allocated in the region of an `if` lives on until the enclosing loop or function ends.
    if isinstance(block.parent, control.If) and any(allocations_in(block)):
        emit.arena_used = used


@rules(control.If)
def lower_if(lowering: Lowering, op: control.If) -> None:
    builder = lowering.builder
    condition = lowering.number(op.condition)
    results = slots_of(lowering, op.outputs)
    then, merge = builder.append_basic_block("then"), builder.append_basic_block("merge")
    otherwise = builder.append_basic_block("else") if op.otherwise is not None else merge
    builder.cbranch(condition, then, otherwise)
    lowering.yields.append(JumpTarget(merge, results))
    for start, block in ((then, op.then), (otherwise, op.otherwise)):
        if block is not None:
            builder.position_at_end(start)
            _region(lowering, block)
    lowering.yields.pop()
    builder.position_at_end(merge)
    read_into(lowering, results, op.outputs)


@rules(control.For)
def lower_for(lowering: Lowering, op: control.For) -> None:
    emit, builder = lowering.emit, lowering.builder
    lower, upper, step = _bounds(lowering, op)
    compare = builder.icmp_unsigned if op.unsigned else builder.icmp_signed
    slots = carried_slots(lowering, op)
    begin_products(lowering, op)
    induction, *carried = op.body.args
    pass_values(emit, slots, [lowering.values[value] for value in op.initial])
    bound_sums(lowering, op, slots)
    counter = emit.stack(step.type)
    builder.store(lower, counter)
    head, body, latch, done = (builder.append_basic_block(name) for name in ("for", "for.body", "for.next", "for.end"))
    builder.branch(head)
    builder.position_at_end(head)
    position = builder.load(counter, typ=step.type)
    builder.cbranch(compare("<", position, upper), body, done)
    builder.position_at_end(body)
    begin_iteration(lowering, op)
    begin_iteration_of_products(lowering, op, position, step, upper)
    lowering.bind_number(induction, position)
    read_into(lowering, slots, carried)
    lowering.loops.append(LoopTargets(None, JumpTarget(latch, slots)))
    _region(lowering, op.body)
    lowering.loops.pop()
    builder.position_at_end(latch)
    _advance(lowering, op, counter, position, step, head, done)
    builder.position_at_end(done)
    read_into(lowering, slots, op.outputs)


def _bounds(lowering: Lowering, op: control.For) -> tuple[ir.Value, ir.Value, ir.Value]:
    """Return the bounds and the step, which must lead upward."""
    emit, builder = lowering.emit, lowering.builder
    lower, upper, step = map(lowering.number, (op.lower, op.upper, op.step))
    no_step = builder.icmp_signed("<=", step, step.type(0))
    emit.trap_with(no_step, op, undefined.no_step("{1}"), TrapKind.COUNTER, _counter(builder, op, lower, step))
    return lower, upper, step


def _counter(builder: ir.IRBuilder, op: control.For, position: ir.Value, step: ir.Value) -> list[ir.Value]:
    """Return the counter and the step as i64; the step is always signed."""
    return [as_i64(builder, position, signed=not op.unsigned), as_i64(builder, step, signed=True)]


def _advance(
    lowering: Lowering,
    op: control.For,
    counter: ir.Value,
    position: ir.Value,
    step: ir.Value,
    head: ir.Block,
    done: ir.Block,
) -> None:
    """Add the step; the loop also ends where the sum would leave the type (spec: undefined#catalogue)."""
    builder = lowering.builder
    add = builder.uadd_with_overflow if op.unsigned else builder.sadd_with_overflow
    pair = add(position, step)
    if lowering.strict:
        words = _counter(builder, op, position, step)
        message = undefined.counter_overflow(op.lower.type.number, "{}", "{}")
        lowering.emit.trap_with(builder.extract_value(pair, 1), op, message, TrapKind.COUNTER, words)
    builder.store(builder.extract_value(pair, 0), counter)
    builder.cbranch(builder.extract_value(pair, 1), done, head)


@rules(control.Loop)
def lower_loop(lowering: Lowering, op: control.Loop) -> None:
    emit, builder = lowering.emit, lowering.builder
    slots, results = slots_of(lowering, op.initial), slots_of(lowering, op.outputs)
    pass_values(emit, slots, [lowering.values[value] for value in op.initial])
    head, done = builder.append_basic_block("loop"), builder.append_basic_block("loop.end")
    builder.branch(head)
    builder.position_at_end(head)
    begin_iteration(lowering, op)
    read_into(lowering, slots, op.body.args)
    lowering.loops.append(LoopTargets(JumpTarget(done, results), JumpTarget(head, slots)))
    _region(lowering, op.body)
    lowering.loops.pop()
    builder.position_at_end(done)
    read_into(lowering, results, op.outputs)


@rules(control.Break)
def lower_break(lowering: Lowering, op: control.Break) -> None:
    target = lowering.loops[-1].leave
    assert target is not None
    _jump(lowering, target, op.values)


@rules(control.Continue)
def lower_continue(lowering: Lowering, op: control.Continue) -> None:
    _jump_back(lowering, lowering.loops[-1].again, op.values)


@rules(control.Yield)
def lower_yield(lowering: Lowering, op: control.Yield) -> None:
    _jump(lowering, lowering.yields[-1], op.values)


@rules(control.Return)
def lower_return(lowering: Lowering, op: control.Return) -> None:
    if lowering.returns:
        _jump(lowering, lowering.returns[-1], op.values)
    else:
        lowering.builder.branch(lowering.emit.exit)


@rules(control.Assert)
def lower_assert(lowering: Lowering, op: control.Assert) -> None:
    """Trap if an element is 0; the condition is left in the arena, for the report to say which."""
    emit, builder = lowering.emit, lowering.builder
    if op.condition.type.count == 1:
        emit.trap_if(builder.not_(lowering.number(op.condition)), op, op.message)
        return
    condition = lowering.tile(op.condition)
    holds = emit.collector(I8(1))
    with emit.region():
        place = emit.free_place()
        kept = new_buffer(emit, op.condition.type)

        def keep(index: Index) -> None:
            element = condition.at(emit, index)
            kept.put(emit, index, element)
            holds.add(Int.__and__, to_memory(builder, element))

        emit.loop_nest(op.condition.type.shape, keep)
        fails = builder.icmp_unsigned("==", holds.value, I8(0))
        emit.trap_at(fails, TrapSite(op, op.message, TrapKind.ASSERTION), place)


# ---------------------------------------------------------------- calls
#
# The code of a device function stands where it is called; in large kernels only that of small functions does
# (`analysis.placement`), and others are called. Results cross from each `return` to the caller in slots.


@rules(Call)
def lower_call(lowering: Lowering, op: Call) -> None:
    function = lowering.plan.placement.sizes.callee(op)
    if not _is_part(lowering, op, function):
        call_function(lowering, function, [lowering.values[argument] for argument in op.args], op.outputs)
        return
    for parameter, argument in zip(function.body.args, op.args):
        value = lowering.values[argument]
        lowering.values[parameter] = materialized(lowering.emit, value) if isinstance(value, Tile) else value
    results = slots_of(lowering, op.outputs)
    end = lowering.builder.append_basic_block("returned")
    with lowering.function(function.body, JumpTarget(end, results)), lowering.emit.region():
        lowering.run(function.body)
    lowering.builder.position_at_end(end)
    read_into(lowering, results, op.outputs)


def _is_part(lowering: Lowering, op: Call, function: Func) -> bool:
    """Return whether the function is inlined here. Code that may wait is suspended in the middle, so it always is."""
    plan = lowering.plan
    found = function in plan.parts
    if found and not plan.placement.is_part(function) and plan.placement.sizes.size_of(function) > LARGEST_KERNEL:
        raise UnsupportedError("calls that multiply the code of a function in which tile blocks wait", "cpu", op.loc)
    return found


@rules(PreviewCall)
def lower_preview_call(lowering: Lowering, op: PreviewCall) -> None:
    what = f"'{op.spec.name}' calls '{shown(op.callee)}', code of a GPU that is linked in"
    raise UnsupportedError(f"{what}; target 'interp' runs a registered stand-in", "cpu", op.loc)
