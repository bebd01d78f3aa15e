"""The rule that several chapters share: which rounding modes an operation takes (types and syntax 5.3)."""

from __future__ import annotations

from tileir.ir.attributes import Rounding
from tileir.ir.core import Op
from tileir.verify.rule import Check, Fault, Scope, listed


def rounding_rule(*allowed: Rounding, name: str = "rounding_mode") -> Check:
    """E0701 for operations whose attribute `name` may only be one of `allowed`; an absent one is the default."""
    modes = frozenset(allowed)
    expected = listed([mode.text for mode in allowed])

    def check(op: Op, scope: Scope) -> Fault | None:
        mode = op.attributes.get(name)
        return None if mode is None or mode in modes else Fault(f"attribute '{name}'", expected, mode.text)

    return check
