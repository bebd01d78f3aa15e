"""What an operation does to memory, and between which two a barrier must stand if tokens order them.

Knows: the memory operations (specification, semantics 7) and what the memory model makes of them. Does not know: where
tokens come from (`order`), nor how an operation becomes code.
"""

from __future__ import annotations

from dataclasses import dataclass

from tileir.ir.attributes import MemoryOrdering
from tileir.ir.core import Op
from tileir.ops import atomics, extension, memory, multimem, views

READS = (memory.LoadPtr, views.LoadView, multimem.MultimemLoadReduceView, extension.GatherLoad)
WRITES = (memory.StorePtr, views.StoreView, multimem.MultimemStoreView, extension.ScatterStore)
UPDATES = (atomics.AtomicRmw, atomics.AtomicCas, atomics.AtomicRedView, multimem.MultimemReduceView)

_ACQUIRING = (MemoryOrdering.ACQUIRE, MemoryOrdering.ACQ_REL)


@dataclass(frozen=True)
class Effect:
    """An operation writes memory or only reads it, with an ordering other than weak (`strong`), and may acquire. Or it
    waits for another kernel, which accesses nothing itself."""

    writes: bool = False
    strong: bool = False
    acquires: bool = False
    accesses: bool = True

    def waits_for(self, earlier: Effect) -> bool:
        """Whether a barrier must stand between `earlier` and this one, which a token orders after it.

        Two loads need none if one of them is weak: what a weak one reads nobody else writes meanwhile. Of two strong
        ones the later must not read an older value (specification, memory model 12.4, CoRR1). What follows an acquire
        comes after what another block did before its release, whichever thread of this block has acquired.
        """
        if not self.accesses:
            return False
        return self.writes or earlier.writes or earlier.acquires or (self.strong and earlier.strong)


_WAIT = Effect(acquires=True, accesses=False)


def effect_of(op: Op) -> Effect | None:
    """What the operation does; None if nothing of this."""
    if isinstance(op, memory.GdcWait):
        return _WAIT
    if not isinstance(op, READS + WRITES + UPDATES):
        return None
    ordering = getattr(op, "memory_ordering_semantics", MemoryOrdering.WEAK)
    return Effect(not isinstance(op, READS), ordering is not MemoryOrdering.WEAK, ordering in _ACQUIRING)
