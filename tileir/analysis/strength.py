"""Accesses that may happen at once without a race (spec: memory-model#moral-strength).

Knows: when the scopes of two accesses include each other's tile blocks, and when that makes the pair morally strong.
Does not know: what orders two accesses (`sanitize.clocks`, `explore.model`), nor where memory lies.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol

from tileir.ir.attributes import MemoryScope


class ScopedAccess(Protocol):
    """An access by a tile block: `strong` unless weak, `scope` None if weak, `size` in bytes of each element."""

    @property
    def block(self) -> Hashable: ...
    @property
    def strong(self) -> bool: ...
    @property
    def scope(self) -> MemoryScope | None: ...
    @property
    def size(self) -> int: ...


def scopes_include(one: ScopedAccess, other: ScopedAccess) -> bool:
    """Whether the scope of each includes the tile block of the other (spec: memory-model#orderings)."""
    return one.block == other.block or MemoryScope.TL_BLK not in (one.scope, other.scope)


def morally_strong(one: ScopedAccess, other: ScopedAccess) -> bool:
    """Whether two overlapping accesses that no token orders may happen at once."""
    return one.strong and other.strong and one.size == other.size and scopes_include(one, other)
