"""Rules of the integer operations (spec: integer#verification)."""

from __future__ import annotations

from tileir.ir.attributes import Overflow
from tileir.ops.integer import NegI
from tileir.verify.rule import CheckContext, RuleTable, Violation

rules = RuleTable()


@rules("E0705", NegI)
def negation_is_signed(op: NegI, context: CheckContext) -> Violation | None:
    if op.overflow is not Overflow.NO_UNSIGNED_WRAP:
        return None
    return Violation("attribute 'overflow'", "none, no_signed_wrap or no_wrap", op.overflow.text)
