"""Programs over arrays, most of which have one thing wrong with their memory accesses.

Knows: the kinds of accesses, and how often each comes. Does not know: what should happen; targets are compared with
each other.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tileir.fuzz.faulty.draft import (
    FaultyDraft,
    FaultyProgram,
)
from tileir.fuzz.faulty.pointer_accesses import carried, chosen, computed, computed_address, gathered, pointers, storage
from tileir.fuzz.faulty.view_accesses import rows_of_a_view, view

KINDS: tuple[Callable[[FaultyDraft], None], ...] = (
    view,
    view,
    rows_of_a_view,
    pointers,
    pointers,
    gathered,
    computed_address,
    chosen,
    carried,
    storage,
    computed,
)


def program(seed: int) -> FaultyProgram:
    """The program of that seed."""
    random = Random(seed)
    draft = FaultyDraft(random)
    random.choice(KINDS)(draft)
    return FaultyProgram(draft.text(), draft.grid, draft.arguments, seed)
