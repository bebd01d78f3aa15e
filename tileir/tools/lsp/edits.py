"""Edits of a text: which part of it became which.

Knows: how to find one between two texts, and how places move. Does not know: what stands in the text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Edit:
    """The text from `begin` up to `end` became one that ends at `new_end`."""

    begin: int
    end: int
    new_end: int

    def moved(self, offset: int) -> int:
        """The new place of what stood at or behind the end of the edit, or in front of it."""
        return offset + self.new_end - self.end if offset >= self.end else offset


def edit_between(old: str, new: str) -> Edit:
    """The smallest edit that makes one text of another."""
    shortest = min(len(old), len(new))
    begin = _largest(shortest, lambda size: old[:size] == new[:size])
    end = _largest(shortest - begin, lambda size: old[len(old) - size :] == new[len(new) - size :])
    return Edit(begin, len(old) - end, len(new) - end)


def _largest(most: int, holds: Callable[[int], bool]) -> int:
    """The largest number up to `most` for which a condition holds, as it does for all smaller ones."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low
