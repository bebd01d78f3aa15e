"""Native code for calls of device functions (spec: calls#top): the code of the function stands where it is called.

In large kernels only that of small functions does (`analysis.placement`); others are called. Results cross from each
`return` to the caller in slots, as from the branches of an `if`.
"""

from __future__ import annotations

from tileir.analysis.effects import reachable
from tileir.analysis.placement import LARGEST_KERNEL
from tileir.cpu.emit.tiles import Lowered, Tile, materialized
from tileir.cpu.lowering.functions import call_function
from tileir.cpu.lowering.safepoints import may_wait
from tileir.cpu.lowering.state import JumpTarget, Lower, Lowering
from tileir.cpu.rules.control import read_into, slots_of
from tileir.ir.core import Op
from tileir.ir.diagnostics import UnsupportedError
from tileir.ir.rules import Rules
from tileir.ir.shown import shown
from tileir.ops.calls import Call, PreviewCall

rules: Rules[Lower] = Rules()


@rules(Call)
def lower_call(lowering: Lowering, op: Call) -> None:
    function = lowering.placement.sizes.callee(op)
    if not _is_part(lowering, op, function):
        call_function(lowering, function, [lowering.values[argument] for argument in op.args], op.outputs)
        return
    body = function.regions[0]
    assert body is not None, "a function has a body"
    for parameter, argument in zip(body.args, op.args):
        lowering.values[parameter] = _argument(lowering, lowering.values[argument])
    results = slots_of(lowering, op.outputs)
    end = lowering.builder.append_basic_block("returned")
    with lowering.function(body, JumpTarget(end, results)), lowering.emit.region():
        lowering.run(body)
    lowering.builder.position_at_end(end)
    read_into(lowering, results, op.outputs)


def _is_part(lowering: Lowering, op: Call, function: Op) -> bool:
    """Whether the code of the function stands here. Code that may wait is left in the middle, so it always does."""
    if lowering.placement.is_part(function):
        return True
    waits = lowering.emit.counts_changes and may_wait(reachable(function))
    if waits and lowering.placement.sizes.size_of(function) > LARGEST_KERNEL:
        raise UnsupportedError("calls that multiply the code of a function in which tile blocks wait", "cpu", op.loc)
    return waits


def _argument(lowering: Lowering, value: Lowered) -> Lowered:
    return materialized(lowering.emit, value) if isinstance(value, Tile) else value


@rules(PreviewCall)
def lower_preview_call(lowering: Lowering, op: PreviewCall) -> None:
    what = f"'{op.spec.name}' calls '{shown(op.callee)}', code of a GPU that is linked in"
    raise UnsupportedError(f"{what}; target 'interp' runs a registered stand-in", "cpu", op.loc)
