"""TTIR of the miscellaneous operations (specification 8.12)."""

from __future__ import annotations

from tileir.gpu.ttir.assumptions import assumed
from tileir.gpu.ttir.lowering import Lower, Lowering
from tileir.gpu.ttir.posting import post_record
from tileir.ir.rules import Rules
from tileir.ops.misc import Assume, PrintTko

rules: Rules[Lower] = Rules()


@rules(Assume)
def lower_assume(lowering: Lowering, op: Assume) -> None:
    lowering.bind(op.result, assumed(lowering, lowering.values[op.value], op.predicate))


@rules(PrintTko)
def lower_print(lowering: Lowering, op: PrintTko) -> None:
    post_record(lowering, lowering.site(op), op.args)
    lowering.bind_token(op.result_token)
