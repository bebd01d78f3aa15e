"""TTIR of calls of device functions (spec: calls#top): the code of the function stands where it is called.

However the function returns, what it hands back travels as out of a region that is left early.
"""

from __future__ import annotations

from tileir.analysis.exits import RegionExit
from tileir.gpu.ttir.lib.regions import bind_left, run
from tileir.gpu.ttir.lowering import Lower, TtirLowering
from tileir.ir.rules import Rules
from tileir.ir.shown import shown
from tileir.ops.calls import Call, PreviewCall

rules: Rules[Lower] = Rules()


@rules(Call)
def lower_call(lowering: TtirLowering, op: Call) -> None:
    """The verifier has seen that the function is there and does not call itself."""
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
