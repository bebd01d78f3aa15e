"""TTIR of the miscellaneous operations (spec: misc#top)."""

from __future__ import annotations

from tileir.gpu.ttir.lib.assumptions import assumed
from tileir.gpu.ttir.lib.posting import post_record
from tileir.gpu.ttir.lowering import Lower, TtirLowering
from tileir.ir.rules import Rules
from tileir.ops.misc import Assume, PrintTko

rules: Rules[Lower] = Rules()


@rules(Assume)
def lower_assume(lowering: TtirLowering, op: Assume) -> None:
    lowering.bind(op.result, assumed(lowering, lowering.values[op.value], op.predicate))


@rules(PrintTko)
def lower_print(lowering: TtirLowering, op: PrintTko) -> None:
    post_record(lowering, lowering.site(op), op.args)
    lowering.bind_token(op.result_token)
