"""Rules of the mathematical functions: rounding modes and modifiers (spec: floating#modifiers)."""

from __future__ import annotations

from tileir.ir.attributes import Rounding
from tileir.ops.functions import Exp, Exp2, Rsqrt, Tanh
from tileir.verify.modifiers import approximation_needs_f32, flush_needs_f32, rounding_rule
from tileir.verify.rule import RuleTable

rules = RuleTable()

rules.add("E0701", rounding_rule(Rounding.APPROX, Rounding.FULL), Exp, Tanh)
rules.add("E0702", flush_needs_f32, Rsqrt, Exp2)
rules.add("E0703", approximation_needs_f32, Exp, Tanh)
