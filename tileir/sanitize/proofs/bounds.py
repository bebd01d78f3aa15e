"""Proofs that accesses stay inside their arrays, and for which launches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

from tileir.analysis.disjoint import Block, only
from tileir.analysis.evaluation import Program, Unmapped
from tileir.analysis.expressions import TooLarge
from tileir.analysis.extents import Extent
from tileir.analysis.footprint import Footprint
from tileir.analysis.narrowing import NarrowedFootprint, specialised
from tileir.analysis.ranges import MAX_GRID
from tileir.analysis.symbols import StorageKind
from tileir.ir.diagnostics import place_text
from tileir.sanitize.clocks import Site
from tileir.sanitize.findings import Finding
from tileir.sanitize.proofs import smt
from tileir.sanitize.proofs.launch import Keep, KnownArray, KnownLaunch
from tileir.sanitize.proofs.pairs import PROMISES, KnownAccess
from tileir.sanitize.proofs.verdict import Answer, ProofVerdict, Scope, Scoped, grid_text, widest

FITS = "each array holds the views that are made of it"
UNSIZED = "without arguments it is not known how large arrays are"


@dataclass(frozen=True)
class Escape:
    """An access that certainly leaves its memory in tile block `block` of a grid, at byte `offset`."""

    one: KnownAccess
    block: Block
    grid: tuple[int, int, int]
    offset: int
    name: str
    scope: Scope

    def finding(self) -> Finding:
        site = Site(self.one.op, self.one.access)
        return Finding(
            "out-of-bounds",
            f"{site.verb} by tile block {self.block} on a grid of {grid_text(self.grid)} leaves '{self.name}', at byte "
            f"{self.offset}",
            hint="mask the elements that lie outside, or access through a view",
            loc=site.op.loc,
            op=site.op.spec.name,
            array=self.name,
            blocks=(self.block,),
        )


@dataclass(frozen=True)
class Inside:
    """The result that an access stays in its memory, under conditions."""

    assuming: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Unclear:
    why: str


Reach = Inside | Escape | Unclear


@dataclass(frozen=True)
class BoundsProof:
    """The verdict, and an escape that was found in a scope that it does not hold in."""

    verdict: ProofVerdict
    escape: Escape | None = None


def prove_bounds(accesses: Sequence[KnownAccess], scopes: Sequence[Scoped], keep: Keep) -> BoundsProof:
    """Prove in the widest of `scopes` that every access stays in its memory; else name the obstacle."""
    tries = [
        keep(("bounds", scope, launch.key), partial(_reaches, accesses, launch, scope)) for scope, launch in scopes
    ]
    escapes = [reach for reaches in reversed(tries) for reach in reaches if isinstance(reach, Escape)]
    escape = next(iter(escapes), None)
    verdict = widest([_absent(reaches, *scoped) for reaches, scoped in zip(tries, scopes)], scopes)
    if verdict is not None:
        fragile = _fragile_text(escape) if verdict.scope is Scope.LAUNCH and escape is not None else None
        return BoundsProof(replace(verdict, fragile=fragile), escape)
    if escape is not None and escape.scope is scopes[-1][0]:
        return BoundsProof(ProofVerdict("bounds", Answer.PRESENT, escape.scope, escape.grid), escape)
    because = next(_because(accesses, tries[-1]))
    return BoundsProof(ProofVerdict("bounds", Answer.OPEN, Scope.OPEN, because=because), escape)


def _absent(reaches: Sequence[Reach], scope: Scope, launch: KnownLaunch) -> ProofVerdict | None:
    """Return the verdict of a scope in which every access stays in its memory."""
    texts = {text for reach in reaches if isinstance(reach, Inside) for text in reach.assuming}
    if not all(isinstance(reach, Inside) for reach in reaches):
        return None
    return ProofVerdict("bounds", Answer.ABSENT, scope, launch.grid, tuple(sorted(texts)))


def _because(accesses: Sequence[KnownAccess], reaches: Sequence[Reach]) -> Iterator[str]:
    for one, reach in zip(accesses, reaches):
        if isinstance(reach, Unclear):
            hint = smt.missing() if smt.can_be_asked(one, one) else ""
            yield f"'{one.op.spec.name}' {place_text(one.op.loc)}: {reach.why}{hint}"
    yield "nothing was found in any scope"


def _fragile_text(escape: Escape) -> str:
    place = f"'{escape.one.op.spec.name}' {place_text(escape.one.op.loc)}".strip()
    return f"on a grid of {grid_text(escape.grid)} tile block {escape.block} leaves '{escape.name}' at {place}"


# ---------------------------------------------------------------- one access


def _reaches(accesses: Sequence[KnownAccess], launch: KnownLaunch, scope: Scope) -> list[Reach]:
    program = Program([one.footprint for one in accesses])
    grid = launch.extents
    careful = program.extents(launch.numbers, grid, trust=False)
    trusting = program.extents(launch.numbers, grid)
    return [_reach(one, launch, scope, careful[at], trusting[at]) for at, one in enumerate(accesses)]


def _reach(
    one: KnownAccess, launch: KnownLaunch, scope: Scope, careful: Extent | Unmapped, trusting: Extent | Unmapped
) -> Reach:
    footprint = one.footprint
    if footprint.unknown:
        return Unclear(footprint.unknown)
    if not _keeps_inside(footprint, launch):
        return Unclear("whether 'inbounds' is kept is not known")
    memory = _memory(footprint, launch)
    if isinstance(memory, Inside | Unclear):
        return memory
    for found, assuming in ((careful, frozenset[str]()), (trusting, frozenset({PROMISES}))):
        if isinstance(found, Extent) and _holds(memory, found):
            return Inside(assuming)
    return _outside(one, launch, scope, memory) or _solved(footprint, launch, memory) or _unclear(trusting)


def is_inside(one: KnownAccess, launch: KnownLaunch, extent: Extent | Unmapped) -> bool:
    """Return whether an access of a known launch, of some extent, stays in its array and keeps `inbounds`."""
    memory = _memory(one.footprint, launch)
    if not isinstance(extent, Extent) or isinstance(memory, Inside | Unclear):
        return False
    return _holds(memory, extent) and _keeps_inside(one.footprint, launch)


def _solved(footprint: Footprint, launch: KnownLaunch, memory: Memory) -> Inside | None:
    """Return the solver's result."""
    limits = _limits(memory)
    for trust, assuming in ((False, frozenset[str]()), (True, frozenset({PROMISES}))):
        if smt.INSTALLED and limits is not None and smt.stays_within(footprint, launch, *limits, trust):
            return Inside(assuming)
    return None


def _unclear(found: Extent | Unmapped) -> Unclear:
    why = found.why if isinstance(found, Unmapped) else f"bytes {found.low} to {found.high} are not all in the array"
    return Unclear(why)


Memory = KnownArray | int
"""The memory that an access may touch: an array, or so many bytes from the beginning."""


def _memory(footprint: Footprint, launch: KnownLaunch) -> Memory | Inside | Unclear:
    assert footprint.storage is not None, "a footprint that is known lies in a memory"
    if footprint.storage.kind is not StorageKind.PARAMETER:
        return Unclear("the size of the memory is not known") if footprint.room is None else footprint.room
    if not launch.given:
        return Inside(frozenset({FITS})) if footprint.through_view else Unclear(UNSIZED)
    found = launch.arrays.get(footprint.storage.number)
    return Unclear("a raw address does not say how far its memory reaches") if found is None else found


def _holds(memory: Memory, extent: Extent) -> bool:
    return extent.within(memory) if isinstance(memory, int) else memory.holds(extent)


def _limits(memory: Memory) -> tuple[int, int] | None:
    """Return the first byte and the one behind the last, if all between them may be accessed."""
    if isinstance(memory, int):
        return 0, memory
    return (memory.low, memory.high) if memory.memory.dense else None


def _keeps_inside(footprint: Footprint, launch: KnownLaunch) -> bool:
    """Return whether the tile lies in the view along every dimension for which the program promises it."""
    if not footprint.kept_inside:
        return True
    loose = replace(footprint, guards=())
    try:
        narrowed = NarrowedFootprint(specialised(loose, launch.numbers, launch.grid), launch.grid, trust=False)
        bounds = [
            (narrowed.bounds(coordinate.form).low, narrowed.bounds(limit - coordinate.form).low)
            for coordinate, limit in narrowed.footprint.kept_inside
        ]
    except TooLarge:
        return False
    return not narrowed.assumed and all(least >= 0 and left >= 0 for least, left in bounds)


def _outside(one: KnownAccess, launch: KnownLaunch, scope: Scope, memory: Memory) -> Escape | None:
    """Return a tile block that certainly leaves the memory: at a corner of the grid, or the first on a larger one."""
    if isinstance(memory, int):
        return None
    program = Program([one.footprint])

    def escape(block: Block, grid: Block) -> Escape | None:
        (found,) = program.extents(launch.numbers, grid, only(block))
        if not isinstance(found, Extent) or not found.exact or found.empty or _holds(memory, found):
            return None
        offset = found.low if found.low < memory.low else max(found.high - 1, memory.high)
        return Escape(one, block, grid, offset, memory.memory.name, scope)

    if launch.extents is not None:
        corners = product(*({0, extent - 1} for extent in launch.extents))
        return next(filter(None, (escape((x, y, z), launch.extents) for x, y, z in corners)), None)
    firsts = (_first_outside(axis, escape) for axis, extent in enumerate(launch.grid) if extent is None)
    return next(filter(None, firsts), None)


def _first_outside(axis: int, escape: Callable[[Block, Block], Escape | None]) -> Escape | None:
    """Return the first tile block along an axis that leaves the memory, on the smallest grid that has it."""

    def at(extent: int) -> Escape | None:
        block, grid = [0, 0, 0], [1, 1, 1]
        block[axis], grid[axis] = extent - 1, extent
        return escape((block[0], block[1], block[2]), (grid[0], grid[1], grid[2]))

    low, high = 0, MAX_GRID
    found = at(high)
    while found is not None and high - low > 1:
        middle = (low + high) // 2
        nearer = at(middle)
        low, high, found = (low, middle, nearer) if nearer is not None else (middle, high, found)
    return found
