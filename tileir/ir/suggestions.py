"""Words that a reader may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

MAX_WORD = 60
"""A longer word is no misspelt one."""
_MAX_COMPARED = 1000
"""Known words that a word is compared with: the latest ones."""


def did_you_mean(word: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return a hint with the nearest known word, if its similarity is at least `cutoff`; 1 is the same word."""
    if len(word) > MAX_WORD:
        return None
    near = difflib.get_close_matches(word, list(known)[-_MAX_COMPARED:], n=1, cutoff=cutoff)
    return f"did you mean '{near[0]}'?" if near else None
