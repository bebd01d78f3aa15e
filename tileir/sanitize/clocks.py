"""Happens-before between the accesses of one run (spec: memory-model#derived-relations, spec: race-detector#state).

Order inside a tile block is partial: the unit is the dynamic instruction, and tokens carry the clocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from tileir.analysis.effects import MemoryAccess
from tileir.interp.api import Coordinates
from tileir.ir.attributes import MemoryOrdering, MemoryScope
from tileir.ir.core import Op


class Past(NamedTuple):
    """The instructions before a point: a bit for each of the same tile block, and of others by tile block."""

    own: int
    others: Mapping[Coordinates, int]


NOTHING = Past(0, {})


def union(pasts: Iterable[Past | None]) -> Past:
    """Return the union of pasts; tokens made before the run are None, and empty."""
    given = [past for past in pasts if past is not None and past is not NOTHING]
    if not given:
        return NOTHING
    found = given[0]
    for past in given[1:]:
        found = Past(found.own | past.own, _merged(found.others, past.others))
    return found


def _merged(one: Mapping[Coordinates, int], other: Mapping[Coordinates, int]) -> Mapping[Coordinates, int]:
    if not other or one is other:
        return one
    if not one:
        return other
    merged = dict(one)
    for block, bits in other.items():
        merged[block] = merged.get(block, 0) | bits
    return merged


@dataclass(frozen=True, eq=False)
class Site:
    """An operation that accesses memory."""

    op: Op
    access: MemoryAccess

    @property
    def verb(self) -> str:
        if self.access.updates:
            return "update"
        return "store" if self.access.writes else "load"


class AccessEvent:
    """One execution of a memory operation by a tile block; `number` counts those of the block."""

    __slots__ = ("acquires", "block", "number", "past", "releases", "scope", "site", "size", "strong")

    def __init__(self, site: Site, block: Coordinates, number: int, past: Past, size: int) -> None:
        self.site = site
        self.block = block
        self.number = number
        self.past = past
        self.size = size
        access = site.access
        self.strong = access.ordering is not MemoryOrdering.WEAK
        self.scope = access.scope
        self.acquires = access.acquires
        self.releases = access.releases

    @property
    def strength(self) -> tuple[bool, MemoryScope | None, int]:
        """Return the properties that decide which other accesses it is morally strong with."""
        return self.strong, self.scope, self.size

    def follows(self, earlier: AccessEvent) -> bool:
        """Return whether `earlier` happens before this event."""
        past = self.past
        bits = past.own if earlier.block == self.block else past.others.get(earlier.block, 0)
        return bool(bits >> earlier.number & 1)

    def stands_for(self, earlier: AccessEvent) -> bool:
        """Return whether all that would conflict with an earlier access conflicts with this one too, which is a write
        or reads as that does. Strong accesses conflict with fewer."""
        if not self.follows(earlier):
            return False
        same_block = earlier.block == self.block or self.scope is not MemoryScope.TL_BLK
        return not self.strong or (earlier.strength == self.strength and same_block)

    def with_itself(self) -> Past:
        """Return the past of what waits for this instruction."""
        return Past(self.past.own | 1 << self.number, self.past.others)

    def synchronise(self, head: AccessEvent) -> None:
        """Take the past of a release of another tile block into the own one."""
        others = dict(head.past.others)
        mine = others.pop(self.block, 0)
        others[head.block] = others.get(head.block, 0) | head.past.own | 1 << head.number
        self.past = Past(self.past.own | mine, _merged(self.past.others, others))
