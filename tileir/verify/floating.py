"""Rules of the floating-point operations: rounding modes and modifiers (operations-2, 1.4)."""

from __future__ import annotations

from tileir.ir.attributes import Rounding
from tileir.ir.core import Op
from tileir.ir.types import F32
from tileir.ops.floating import AddF, DivF, Exp, Exp2, Fma, MaxF, MinF, MulF, Rsqrt, Sqrt, SubF, Tanh
from tileir.verify.rounding import rounding_rule
from tileir.verify.rule import Fault, Rules, Scope

rules = Rules()

IEEE = (Rounding.NEAREST_EVEN, Rounding.ZERO, Rounding.NEGATIVE_INF, Rounding.POSITIVE_INF)

rules.add("E0701", rounding_rule(*IEEE), AddF, SubF, MulF, Fma)
rules.add("E0701", rounding_rule(*IEEE, Rounding.APPROX, Rounding.FULL), DivF)
rules.add("E0701", rounding_rule(*IEEE, Rounding.APPROX), Sqrt)
rules.add("E0701", rounding_rule(Rounding.APPROX, Rounding.FULL), Exp, Tanh)


@rules("E0702", AddF, SubF, MulF, DivF, Fma, Sqrt, Rsqrt, Exp2, MaxF, MinF)
def flush_needs_f32(op: Op, scope: Scope) -> Fault | None:
    if not op.attributes.get("flush_to_zero") or op.results[0].type.element is F32:  # type: ignore[attr-defined]
        return None
    return Fault("attribute 'flush_to_zero'", "f32 elements", repr(op.results[0].type))


@rules("E0703", DivF, Sqrt, Exp, Tanh)
def approximation_needs_f32(op: Op, scope: Scope) -> Fault | None:
    mode = op.attributes.get("rounding_mode")
    if mode not in _f32_modes(op) or op.results[0].type.element is F32:  # type: ignore[attr-defined]
        return None
    return Fault(f"rounding mode {mode.text}", "f32 elements", repr(op.results[0].type))


def _f32_modes(op: Op) -> tuple[Rounding, ...]:
    return (Rounding.APPROX, Rounding.FULL) if isinstance(op, DivF) else (Rounding.APPROX,)
