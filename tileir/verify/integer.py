"""Rules of the integer operations (operations-2, 2.2)."""

from __future__ import annotations

from tileir.ir.attributes import Overflow, Rounding, Signedness
from tileir.ops.integer import DivI, NegI
from tileir.verify.rounding import rounding_rule
from tileir.verify.rule import Fault, Rules, Scope

rules = Rules()

rules.add("E0701", rounding_rule(Rounding.ZERO, Rounding.NEGATIVE_INF, Rounding.POSITIVE_INF, name="rounding"), DivI)


@rules("E0704", DivI)
def floor_needs_signed(op: DivI, scope: Scope) -> Fault | None:
    if op.rounding is not Rounding.NEGATIVE_INF or op.signedness is not Signedness.UNSIGNED:
        return None
    hint = "the quotient of unsigned integers is never negative: 'zero' rounds the same way"
    return Fault("rounding mode negative_inf", "signed", "unsigned", hint=hint)


@rules("E0705", NegI)
def negation_is_signed(op: NegI, scope: Scope) -> Fault | None:
    if op.overflow is not Overflow.NO_UNSIGNED_WRAP:
        return None
    return Fault("attribute 'overflow'", "none, no_signed_wrap or no_wrap", op.overflow.text)
