"""Rules of element-wise arithmetic: integer, division, floating point, functions (spec: floating#modifiers)."""

from __future__ import annotations

from tileir.ir.attributes import Overflow, Rounding, Signedness
from tileir.ops.division import DivI
from tileir.ops.floating import AddF, DivF, Fma, MaxF, MinF, MulF, Sqrt, SubF
from tileir.ops.functions import Exp, Exp2, Rsqrt, Tanh
from tileir.ops.integer import NegI
from tileir.verify.modifiers import approximation_needs_f32, flush_needs_f32, rounding_rule
from tileir.verify.rule import CheckContext, RuleTable, Violation

rules = RuleTable()


@rules("E0705", NegI)
def negation_is_signed(op: NegI, context: CheckContext) -> Violation | None:
    if op.overflow is not Overflow.NO_UNSIGNED_WRAP:
        return None
    return Violation("attribute 'overflow'", "none, no_signed_wrap or no_wrap", op.overflow.text)


rules.add("E0701", rounding_rule(Rounding.ZERO, Rounding.NEGATIVE_INF, Rounding.POSITIVE_INF, name="rounding"), DivI)


@rules("E0704", DivI)
def floor_needs_signed(op: DivI, context: CheckContext) -> Violation | None:
    if op.rounding is not Rounding.NEGATIVE_INF or op.signedness is not Signedness.UNSIGNED:
        return None
    hint = "the quotient of unsigned integers is never negative: 'zero' rounds the same way"
    return Violation("rounding mode negative_inf", "signed", "unsigned", hint=hint)


IEEE = (Rounding.NEAREST_EVEN, Rounding.ZERO, Rounding.NEGATIVE_INF, Rounding.POSITIVE_INF)

rules.add("E0701", rounding_rule(*IEEE), AddF, SubF, MulF, Fma)
rules.add("E0701", rounding_rule(*IEEE, Rounding.APPROX, Rounding.FULL), DivF)
rules.add("E0701", rounding_rule(*IEEE, Rounding.APPROX), Sqrt)
rules.add("E0702", flush_needs_f32, AddF, SubF, MulF, DivF, Fma, Sqrt, MaxF, MinF)
rules.add("E0703", approximation_needs_f32, DivF, Sqrt)


rules.add("E0701", rounding_rule(Rounding.APPROX, Rounding.FULL), Exp, Tanh)
rules.add("E0702", flush_needs_f32, Rsqrt, Exp2)
rules.add("E0703", approximation_needs_f32, Exp, Tanh)
