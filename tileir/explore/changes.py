"""Changes that make a program more ordered: an ordering, a scope or a token."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from tileir.explore.events import ModelAccess
from tileir.explore.program import ModelProgram, ProgramChanges
from tileir.ir.attributes import MemoryOrdering, MemoryScope
from tileir.ir.core import Block, Op
from tileir.ir.diagnostics import place_text


class Strengthening(Enum):
    """A change of one access."""

    ACQUIRE = "acquire"
    RELEASE = "release"
    SCOPE = "scope"
    STRONG = "strong"


@dataclass(frozen=True)
class AccessChange:
    """One change: of access `target`, or with a `source` a token from that access to it."""

    target: int
    kind: Strengthening | None = None
    source: int = -1

    @property
    def cost(self) -> int:
        """A weak access becomes a strong one only where nothing cheaper helps: that costs what two changes do."""
        return 2 if self.kind is Strengthening.STRONG else 1


@dataclass(frozen=True)
class Mend:
    """Changes after which every execution is right, in words; `cost` counts them.

    The `weakest` are those of the lowest cost; of another nothing can be left out.
    """

    changes: ProgramChanges
    steps: tuple[str, ...]
    cost: int
    weakest: bool

    def to_json(self) -> dict[str, Any]:
        return {"cost": self.cost, "weakest": self.weakest, "steps": list(self.steps)}


def changes_of(site: ModelAccess) -> Iterator[AccessChange]:
    """Yield the changes that an access can have."""
    access = site.access
    if site.scope is MemoryScope.TL_BLK:
        yield AccessChange(site.number, Strengthening.SCOPE)
    if "memory_ordering_semantics" not in access.op.spec.attr_index or (access.updates and access.result is None):
        return
    if not site.strong:
        yield AccessChange(site.number, Strengthening.STRONG)
    if access.reads and not site.acquires:
        yield AccessChange(site.number, Strengthening.ACQUIRE)
    if access.writes and not site.releases:
        yield AccessChange(site.number, Strengthening.RELEASE)


def strengthened(site: ModelAccess, kinds: frozenset[Strengthening]) -> ModelAccess | None:
    """Return the access after changes; None if they do not go together: a weak one must be made strong first."""
    ordering, scope = site.ordering, site.scope
    if Strengthening.STRONG in kinds:
        ordering, scope = MemoryOrdering.RELAXED, MemoryScope.DEVICE
    if Strengthening.SCOPE in kinds:
        scope = MemoryScope.DEVICE
    acquires = site.acquires or Strengthening.ACQUIRE in kinds
    releases = site.releases or Strengthening.RELEASE in kinds
    if (acquires or releases) and ordering is MemoryOrdering.WEAK:
        return None
    if acquires or releases:
        both = {(True, False): MemoryOrdering.ACQUIRE, (False, True): MemoryOrdering.RELEASE}
        ordering = both.get((acquires, releases), MemoryOrdering.ACQ_REL)
    return replace(site, ordering=ordering, scope=scope)


def combined(program: ModelProgram, chosen: Iterable[AccessChange]) -> ProgramChanges | None:
    """Return several changes as one; None if they do not go together."""
    kinds: dict[int, frozenset[Strengthening]] = {}
    tokens = set()
    for change in chosen:
        if change.kind is None:
            tokens.add((change.source, change.target))
        else:
            kinds[change.target] = kinds.get(change.target, frozenset()) | {change.kind}
    orderings = {}
    for number, found in kinds.items():
        site = strengthened(program.sites[number], found)
        if site is None:
            return None
        orderings[number] = (site.ordering, site.scope)
    return ProgramChanges(orderings, frozenset(tokens))


# ---------------------------------------------------------------- words


def change_words(program: ModelProgram, changes: ProgramChanges) -> list[str]:
    """Return the changes to make, a line for each place."""
    orderings = [_ordering_words(program, number, *how) for number, how in sorted(changes.orderings.items())]
    return orderings + [_token_words(program, source, target) for source, target in sorted(changes.tokens)]


def _ordering_words(program: ModelProgram, number: int, ordering: MemoryOrdering, scope: MemoryScope | None) -> str:
    site = program.sites[number]
    before = " ".join(part.text for part in (site.ordering, site.scope) if part is not None)
    after = " ".join(part.text for part in (ordering, scope) if part is not None)
    return f"{_named(site.access.op)}: '{after}' instead of '{before}'"


def _token_words(program: ModelProgram, source: int, target: int) -> str:
    first, second = program.ops[source], program.ops[target]
    how = ""
    if source >= target:
        how = ", carried to the next iteration"
    elif first.parent is not None and first.parent not in _around(second):
        how = ", through the results of the regions between"
    return f"{_named(second)}: wait for the token of {_named(first)}{how}"


def _around(op: Op) -> Sequence[Block]:
    found, block = [], op.parent
    while block is not None:
        found.append(block)
        block = block.parent.parent if block.parent is not None else None
    return found


def _named(op: Op) -> str:
    return f"{place_text(op.loc)}: '{op.spec.name}'"
