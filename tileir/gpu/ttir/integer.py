"""TTIR of integer operations (specification 8.8)."""

from __future__ import annotations

from tileir.gpu.ttir.lowering import Lower, Lowering
from tileir.ir.rules import Rules
from tileir.ops import integer

rules: Rules[Lower] = Rules()


@rules(integer.AddI)
def lower_addi(lowering: Lowering, op: integer.AddI) -> None:
    lowering.bind(op.result, lowering.build.op("arith.addi", lowering.value(op.lhs), lowering.value(op.rhs)))
