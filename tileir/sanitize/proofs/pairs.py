"""Pairs of accesses that would race if they met in two tile blocks."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from tileir.analysis.disjoint import Proved, Refuted, Undecided, Verdict, disjoint
from tileir.analysis.effects import MemoryAccess
from tileir.analysis.footprint import Footprint, op_footprints
from tileir.analysis.symbols import StorageKind
from tileir.ir.attributes import MemoryScope
from tileir.ir.core import Op
from tileir.ops.module import Entry
from tileir.sanitize.proofs.launch import KnownLaunch

PROMISES = "the program keeps its promises (assume, overflow flags)"
UNFOLDED = "no two elements of a view have one address"
APART = "arrays of different parameters do not overlap"
INSIDE = "every access stays in its array"


@dataclass(frozen=True)
class KnownAccess:
    """An access of a kernel and the memory that it can touch."""

    op: Op
    footprint: Footprint

    @cached_property
    def access(self) -> MemoryAccess:
        return MemoryAccess.of(self.op)

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for accesses that meet any other in the same way. Coordinates have names only, so their sums count."""
        access, sums = self.access, tuple(one.form for one in self.footprint.coordinates)
        return replace(self.footprint, position=0, operation=""), sums, access.writes, access.is_strong, access.scope


def known_accesses(entry: Entry) -> list[KnownAccess]:
    """Return the accesses of an entry, in program order."""
    return [KnownAccess(op, footprint) for footprint, op in op_footprints(entry)]


def conflicting(
    accesses: Sequence[KnownAccess], role: Callable[[Op], Hashable]
) -> Iterator[tuple[KnownAccess, KnownAccess]]:
    """Yield pairs of accesses, also of one with itself, that would race if they met in two tile blocks: of accesses
    that are alike, and have the same `role` in what orders them, only the first."""
    firsts: dict[tuple[object, ...], KnownAccess] = {}
    for one in accesses:
        firsts.setdefault((*one.key, role(one.op)), one)
    different = list(firsts.values())
    for at, one in enumerate(different):
        for other in different[at:]:
            if (one.access.writes or other.access.writes) and not _at_once(one, other):
                yield one, other


def _at_once(one: KnownAccess, other: KnownAccess) -> bool:
    """Return whether the two may happen at the same time (spec: memory-model#moral-strength): an aligned element of one
    is one of the other, or disjoint from it."""
    a, b = one.access, other.access
    if not (a.is_strong and b.is_strong) or MemoryScope.TL_BLK in (a.scope, b.scope):
        return False
    size = one.footprint.size
    return size == other.footprint.size and size >= 8


@dataclass(frozen=True)
class PairResult:
    """A verdict on a pair, and the conditions that it holds under."""

    verdict: Verdict
    assuming: frozenset[str] = frozenset()

    @property
    def proved(self) -> bool:
        return isinstance(self.verdict, Proved)

    @property
    def assumes_numbers(self) -> bool:
        """True if it holds only if some arithmetic does not wrap around."""
        return isinstance(self.verdict, Proved) and bool(self.verdict.assuming)


def apart(one: KnownAccess, other: KnownAccess, launch: KnownLaunch) -> PairResult:
    """Return whether two accesses touch no byte in common in two different tile blocks."""
    for footprint in (one.footprint, other.footprint):
        if footprint.unknown:
            return PairResult(Undecided(footprint.unknown))
    found = _distance(one.footprint, other.footprint, launch)
    return found if isinstance(found, PairResult) else _in_one_memory(one.footprint, _moved(one, other, found), launch)


def same_memory(one: KnownAccess, other: KnownAccess, launch: KnownLaunch) -> tuple[Footprint, Footprint] | None:
    """Return the footprints of two accesses that count from one address; None if that is not known."""
    if one.footprint.unknown or other.footprint.unknown:
        return None
    found = _distance(one.footprint, other.footprint, launch)
    return None if isinstance(found, PairResult) else (one.footprint, _moved(one, other, found))


def _moved(one: KnownAccess, other: KnownAccess, distance: int) -> Footprint:
    """Return the other footprint, counted from where the memory of the one begins."""
    found = other.footprint
    by_byte = max(1, 8 // found.size)
    return replace(found, storage=one.footprint.storage, form=found.form + distance * by_byte)


def _distance(a: Footprint, b: Footprint, launch: KnownLaunch) -> PairResult | int:
    """Return the bytes from the beginning of one memory to that of another that it shares bytes with."""
    one, other = a.storage, b.storage
    assert one is not None and other is not None, "a footprint that is known lies in a memory"
    if one == other:
        return 0
    if one.kind is not StorageKind.PARAMETER or other.kind is not StorageKind.PARAMETER:
        return PairResult(Proved(), frozenset({INSIDE}))
    first, second = launch.arrays.get(one.number), launch.arrays.get(other.number)
    if not launch.given:
        return PairResult(Proved(), frozenset({APART, INSIDE}))
    if first is None or second is None:
        return PairResult(Undecided("a raw address may lead to the memory of another parameter"))
    return second.address - first.address if first.overlaps(second) else PairResult(Proved(), frozenset({INSIDE}))


def _in_one_memory(a: Footprint, b: Footprint, launch: KnownLaunch) -> PairResult:
    """Compare two accesses without conditions, then under the program's promises, then under usual properties of
    arrays."""
    best: PairResult | None = None
    for trust, unfolded, assuming in _CONDITIONS[: 2 if launch.given else 4]:
        found = disjoint(a, b, arguments=launch.numbers, grid=launch.grid, trust=trust, unfolded=unfolded)
        if isinstance(found, Refuted):
            return PairResult(found)
        if best is None or (isinstance(found, Proved) and not best.proved) or found == Proved():
            best = PairResult(found, assuming if isinstance(found, Proved) else frozenset())
        if found == Proved():
            break
    assert best is not None, "there is a first condition"
    return best


_CONDITIONS = (
    (False, False, frozenset[str]()),
    (True, False, frozenset({PROMISES})),
    (False, True, frozenset({UNFOLDED})),
    (True, True, frozenset({PROMISES, UNFOLDED})),
)
