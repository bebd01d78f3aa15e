"""Rules of integer division (spec: division#verification)."""

from __future__ import annotations

from tileir.ir.attributes import Rounding, Signedness
from tileir.ops.division import DivI
from tileir.verify.modifiers import rounding_rule
from tileir.verify.rule import CheckContext, RuleTable, Violation

rules = RuleTable()

rules.add("E0701", rounding_rule(Rounding.ZERO, Rounding.NEGATIVE_INF, Rounding.POSITIVE_INF, name="rounding"), DivI)


@rules("E0704", DivI)
def floor_needs_signed(op: DivI, context: CheckContext) -> Violation | None:
    if op.rounding is not Rounding.NEGATIVE_INF or op.signedness is not Signedness.UNSIGNED:
        return None
    hint = "the quotient of unsigned integers is never negative: 'zero' rounds the same way"
    return Violation("rounding mode negative_inf", "signed", "unsigned", hint=hint)
