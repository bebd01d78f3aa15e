"""TTIR of calls of device functions (spec: calls#top): the code of the function stands where it is called.

However the function returns, what it hands back travels as out of a region that is left early. Calls in functions
multiply, so the code that calls stand for is measured before there is any.
"""

from __future__ import annotations

from tileir.analysis.placement import CodeSizes
from tileir.analysis.structure import RegionExit
from tileir.gpu.ttir.lib.regions import bind_left, run
from tileir.gpu.ttir.lowering import Lower, TtirLowering
from tileir.ir.escaping import shown
from tileir.ir.rules import Rules
from tileir.ops.calls import Call, PreviewCall
from tileir.ops.module import Entry

rules: Rules[Lower] = Rules()

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
