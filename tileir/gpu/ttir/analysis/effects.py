"""Between which two operations a barrier must stand if tokens order them.

Knows: what the memory model makes of what operations do to memory (spec: tokens#effects). Does not know: where
tokens come from (`barriers`), nor how an operation becomes code.
"""

from __future__ import annotations

from dataclasses import dataclass

from tileir.analysis.effects import access_of, own_effect
from tileir.ir.core import Op
from tileir.ir.effects import Effect


@dataclass(frozen=True)
class OrderedEffect:
    """An operation writes memory or only reads it, with an ordering other than weak (`strong`), and may acquire. Or it
    waits for another kernel, which accesses nothing itself."""

    writes: bool = False
    strong: bool = False
    acquires: bool = False
    accesses: bool = True

    def waits_for(self, earlier: OrderedEffect) -> bool:
        """Whether a barrier must stand between `earlier` and this one, which a token orders after it.

        Two loads need none if one of them is weak: what a weak one reads nobody else writes meanwhile. Of two strong
        ones the later must not read an older value (CoRR1, spec: litmus#coherence). What follows an acquire
        comes after what another block did before its release, whichever thread of this block has acquired.
        """
        if not self.accesses:
            return False
        return self.writes or earlier.writes or earlier.acquires or (self.strong and earlier.strong)


_WAIT = OrderedEffect(acquires=True, accesses=False)


def ordered_effect(op: Op) -> OrderedEffect | None:
    """The effect of an operation on the order; None if it has none."""
    if own_effect(op) is Effect.WAIT:
        return _WAIT
    access = access_of(op)
    return None if access is None else OrderedEffect(access.writes, access.is_strong, access.acquires)
