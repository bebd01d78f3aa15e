"""Native code for the miscellaneous chapter (spec: misc#top): promises and output."""

from __future__ import annotations

from tileir.cpu.emit.elements import I1
from tileir.cpu.lowering.host_calls import hand_over
from tileir.cpu.lowering.promises import check_promise
from tileir.cpu.lowering.reports import warn_if
from tileir.cpu.lowering.state import Lower, Lowering
from tileir.host.printing import formatter
from tileir.ir.rules import Rules
from tileir.ops import misc

rules: Rules[Lower] = Rules()
strict: Rules[Lower] = Rules()


@rules(misc.Assume)
def lower_assume(lowering: Lowering, op: misc.Assume) -> None:
    """The value itself, once the promise has been checked."""
    if lowering.checked:
        check_promise(lowering, op)
    lowering.values[op.result] = lowering.values[op.value]


@rules(misc.PrintTko)
def lower_print(lowering: Lowering, op: misc.PrintTko) -> None:
    hand_over(lowering, op, [lowering.tile(value) for value in op.args])
    lowering.values[op.result_token] = None


@strict(misc.PrintTko)
def look_at_format(lowering: Lowering, op: misc.PrintTko) -> None:
    """A format that does not suit what it prints."""
    _, mismatch = formatter(op.text, [value.tile.element for value in op.args])
    if mismatch:
        warn_if(lowering, I1(1), op, mismatch)
