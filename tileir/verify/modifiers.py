"""Rules of rounding and flushing that chapters share (spec: attributes#rounding, spec: floating#modifiers)."""

from __future__ import annotations

from tileir.ir.attributes import Rounding
from tileir.ir.core import Op
from tileir.ir.types import F32
from tileir.ops.floating import DivF
from tileir.verify.rule import Check, CheckContext, Violation, listed


def rounding_rule(*allowed: Rounding, name: str = "rounding_mode") -> Check:
    """E0701 for operations whose attribute `name` may only be one of `allowed`; an absent one is the default."""
    modes = frozenset(allowed)
    expected = listed([mode.text for mode in allowed])

    def check(op: Op, context: CheckContext) -> Violation | None:
        mode = op.attributes.get(name)
        return None if mode is None or mode in modes else Violation(f"attribute '{name}'", expected, mode.text)

    return check


def flush_needs_f32(op: Op, context: CheckContext) -> Violation | None:
    """E0702."""
    if not op.attributes.get("flush_to_zero") or op.results[0].tile.element is F32:
        return None
    return Violation("attribute 'flush_to_zero'", "f32 elements", repr(op.results[0].type))


def approximation_needs_f32(op: Op, context: CheckContext) -> Violation | None:
    """E0703."""
    mode = op.attributes.get("rounding_mode")
    if mode not in _f32_modes(op) or op.results[0].tile.element is F32:
        return None
    return Violation(f"rounding mode {mode.text}", "f32 elements", repr(op.results[0].type))


def _f32_modes(op: Op) -> tuple[Rounding, ...]:
    return (Rounding.APPROX, Rounding.FULL) if isinstance(op, DivF) else (Rounding.APPROX,)
