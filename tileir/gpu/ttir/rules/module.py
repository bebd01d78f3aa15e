"""TTIR of entries (spec: module#entry)."""

from __future__ import annotations

from tileir.gpu.ttir.lib.regions import run
from tileir.gpu.ttir.lowering import Lower, TtirLowering
from tileir.gpu.ttir.rules.calls import require_calls_fit
from tileir.ir.rules import Rules
from tileir.ops.module import Entry

rules: Rules[Lower] = Rules()


@rules(Entry)
def lower_entry(lowering: TtirLowering, op: Entry) -> None:
    """Lower an entry; all its returns lead to the end of the code."""
    require_calls_fit(lowering, op)
    run(lowering, op.body.ops)
    lowering.build.effect("tt.return")
