"""Rules of the floating-point operations: rounding modes and modifiers (spec: floating#modifiers)."""

from __future__ import annotations

from tileir.ir.attributes import Rounding
from tileir.ops.floating import AddF, DivF, Fma, MaxF, MinF, MulF, Sqrt, SubF
from tileir.verify.modifiers import approximation_needs_f32, flush_needs_f32, rounding_rule
from tileir.verify.rule import RuleTable

rules = RuleTable()

IEEE = (Rounding.NEAREST_EVEN, Rounding.ZERO, Rounding.NEGATIVE_INF, Rounding.POSITIVE_INF)

rules.add("E0701", rounding_rule(*IEEE), AddF, SubF, MulF, Fma)
rules.add("E0701", rounding_rule(*IEEE, Rounding.APPROX, Rounding.FULL), DivF)
rules.add("E0701", rounding_rule(*IEEE, Rounding.APPROX), Sqrt)
rules.add("E0702", flush_needs_f32, AddF, SubF, MulF, DivF, Fma, Sqrt, MaxF, MinF)
rules.add("E0703", approximation_needs_f32, DivF, Sqrt)
