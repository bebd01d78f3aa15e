"""Native code for calls of device functions (spec: calls#top): the code of the function stands where it is called.

Results cross from each `return` to the caller in slots, as from the branches of an `if`.
"""

from __future__ import annotations

from tileir.analysis.effects import callee_of
from tileir.cpu.emit.tiles import Lowered, Tile, materialized
from tileir.cpu.lowering.state import JumpTarget, Lower, Lowering
from tileir.cpu.rules.control import read_into, slots_of
from tileir.ir.rules import Rules
from tileir.ops.calls import Call

rules: Rules[Lower] = Rules()


@rules(Call)
def lower_call(lowering: Lowering, op: Call) -> None:
    body = callee_of(op).regions[0]
    assert body is not None, "a function has a body"
    for parameter, argument in zip(body.args, op.args):
        lowering.values[parameter] = _argument(lowering, lowering.values[argument])
    results = slots_of(lowering, op.outputs)
    end = lowering.builder.append_basic_block("returned")
    with lowering.function(body, JumpTarget(end, results)), lowering.emit.region():
        lowering.run(body)
    lowering.builder.position_at_end(end)
    read_into(lowering, results, op.outputs)


def _argument(lowering: Lowering, value: Lowered) -> Lowered:
    return materialized(lowering.emit, value) if isinstance(value, Tile) else value
