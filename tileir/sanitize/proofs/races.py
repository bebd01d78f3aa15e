"""Proofs that tile blocks do not race (spec: memory-model#data-races), and for which launches."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, product
from math import inf

from tileir.analysis.disjoint import Proved, Refuted, Undecided
from tileir.analysis.expressions import Expression, Symbol, number
from tileir.analysis.footprint import Footprint
from tileir.analysis.narrowing import Grid
from tileir.analysis.ranges import Range
from tileir.analysis.symbols import BlockId, GridExtent, NoWrap, ScalarParameter, Storage, StorageKind, Turn, Unknown
from tileir.ir.core import Op
from tileir.ir.diagnostics import place_text
from tileir.ops.module import Entry
from tileir.sanitize.clocks import Site
from tileir.sanitize.findings import Finding, at
from tileir.sanitize.proofs import smt
from tileir.sanitize.proofs.launch import Keep, KnownLaunch
from tileir.sanitize.proofs.pairs import KnownAccess, PairResult, apart, conflicting
from tileir.sanitize.proofs.synchronisation import CriticalSection, Handover, synchronised
from tileir.sanitize.proofs.verdict import Answer, ProofVerdict, Scope, Scoped, grid_text, widest

MOST_PAIRS = 1 << 11
"""Pairs of different accesses that are compared."""
MOST_OPEN = 1 << 6
"""Pairs that are compared once one is open: only a certain race changes the verdict then."""


@dataclass(frozen=True)
class Collision:
    """Two accesses that touch one byte in two tile blocks, as `refuted` says, of the launches of `scope`."""

    one: KnownAccess
    other: KnownAccess
    refuted: Refuted
    scope: Scope

    def finding(self) -> Finding:
        """Return the finding that a run of this grid would have."""
        first, second = Site(self.one.op, self.one.access), Site(self.other.op, self.other.access)
        found = Finding(
            "race",
            f"{second.verb} by tile block {self.refuted.second} meets {first.verb} by tile block {self.refuted.first} "
            f"on a grid of {grid_text(self.refuted.grid)}",
            hint="let each tile block write elements of its own, or combine with an atomic operation",
            loc=second.op.loc,
            op=second.op.spec.name,
            blocks=(self.refuted.second, self.refuted.first),
            because="nothing in the program orders tile blocks",
        )
        return at(found, first.op)


@dataclass(frozen=True)
class RaceProof:
    """The verdict, and a collision that was found in a scope that it does not hold in."""

    verdict: ProofVerdict
    collision: Collision | None = None


def prove_races(entry: Entry, accesses: Sequence[KnownAccess], scopes: Sequence[Scoped], keep: Keep) -> RaceProof:
    """Prove in the widest of `scopes` that no tile blocks race; else name the obstacle."""
    ordering = [synchronised(entry, accesses, launch) for _, launch in scopes]

    def role(op: Op) -> Hashable:
        return tuple(one.role(op) for orders in ordering for one in orders)

    pairs = list(islice(conflicting(accesses, role), MOST_PAIRS + 1))
    if len(pairs) > MOST_PAIRS:
        return RaceProof(_open(f"there are more than {MOST_PAIRS:,} pairs of accesses"))
    tries = [
        keep(("races", scope, launch.key, *orders), partial(_try, pairs, scope, launch, orders))
        for (scope, launch), orders in zip(scopes, ordering)
    ]
    last = tries[-1]
    collision = next((one.collision for one in reversed(tries) if one.collision is not None), None)
    verdict = widest([one.verdict for one in tries], scopes)
    if verdict is not None:
        return RaceProof(_fragile(verdict, collision), collision)
    synchronising = _synchronising(accesses)
    if last.collision is not None and synchronising is None:
        return RaceProof(ProofVerdict("races", Answer.PRESENT, *_at(last.collision)), last.collision)
    return RaceProof(_open(_because(pairs, last.results, synchronising)), collision)


@dataclass(frozen=True)
class _Try:
    """The results for one scope: for each pair, and their consequence."""

    results: list[PairResult]
    verdict: ProofVerdict | None
    collision: Collision | None


def _try(
    pairs: Sequence[tuple[KnownAccess, KnownAccess]],
    scope: Scope,
    launch: KnownLaunch,
    orders: Sequence[CriticalSection | Handover],
) -> _Try:
    results = list(_results(pairs, launch, orders, launch.given and launch.extents is not None))
    verdict = _absent(scope, launch, results) if all(result.proved for result in results) else None
    if launch.given and any(result.assumes_numbers for result in results):
        verdict = None
    return _Try(results, verdict, _collision(pairs, results, scope))


def _at(collision: Collision) -> tuple[Scope, Grid]:
    return collision.scope, collision.refuted.grid


def _results(
    pairs: Iterable[tuple[KnownAccess, KnownAccess]],
    launch: KnownLaunch,
    orders: Sequence[CriticalSection | Handover],
    to_the_end: bool,
) -> Iterator[PairResult]:
    """Yield the result for each pair, up to one that certainly meets. Unless `to_the_end`, the solver is not asked once
    a pair is open, and only some more are compared."""
    compared = 0
    for one, other in pairs:
        ordered = (each.orders(one, other) for each in orders)
        found = next(filter(None, ordered), None) or apart(one, other, launch)
        if not compared and (not found.proved or found.assumes_numbers):
            found = smt.apart(one, other, launch, found)
        if not to_the_end and (compared or not found.proved):
            compared += 1
        found = _checked(found, one, launch)
        yield found
        if isinstance(found.verdict, Refuted) or compared > MOST_OPEN:
            return


def _checked(found: PairResult, one: KnownAccess, launch: KnownLaunch) -> PairResult:
    """Assume that accesses stay in their arrays, as one outside does not happen and tile blocks do not race there."""
    if not isinstance(found.verdict, Refuted):
        return found
    low, high = _room(one.footprint, launch)
    return found if low <= found.verdict.offset < high else PairResult(Undecided("they meet outside their array"))


def _room(footprint: Footprint, launch: KnownLaunch) -> tuple[int, float]:
    """Return the first byte of the memory of an access and the one behind the last."""
    assert footprint.storage is not None, "an access that meets another lies in a memory"
    array = launch.arrays.get(footprint.storage.number)
    if footprint.storage.kind is StorageKind.PARAMETER and array is not None:
        return array.low, array.high
    return 0, inf if footprint.room is None else footprint.room


def _absent(scope: Scope, launch: KnownLaunch, results: Sequence[PairResult]) -> ProofVerdict | None:
    """Return the verdict on pairs that are proved; None if no launch of several tile blocks can meet the conditions."""
    assuming = {text for result in results for text in result.assuming}
    needs = {need for result in results if isinstance(result.verdict, Proved) for need in result.verdict.assuming}
    if not _met_by_some_launch(needs, launch.grid):
        return None
    limits = tuple(sorted(fits_text(need, launch) for need in needs))
    bounds_grid = any(need.form.mentions(_of_the_grid) for need in needs)
    texts = (*sorted(assuming), *limits)
    return ProofVerdict("races", Answer.ABSENT, scope, launch.grid, texts, limits=limits, bounds_grid=bounds_grid)


SAMPLES = (1, 0, 2, 16, 128, 1024, -1)
"""The numbers that are tried for arguments and loaded values."""


def _met_by_some_launch(needs: Iterable[NoWrap], grid: Grid) -> bool:
    """Return whether conditions hold together in a launch with two tile blocks along each axis that may have any
    number of them. One that is found is a witness; conditions that only far larger numbers meet have none."""
    blocks = list(product(*((0, 1) if extent is None else (0, extent - 1) for extent in grid)))
    return not needs or any(
        all(_holds(need, sample, block) for need in needs for block in blocks) for sample in SAMPLES
    )


def _holds(need: NoWrap, sample: int, block: tuple[int, ...]) -> bool:
    """Return whether a condition holds for all elements in one tile block of a launch with these numbers."""

    def given(symbol: Symbol) -> Expression | None:
        if isinstance(symbol, BlockId):
            return number(block[symbol.axis])
        if isinstance(symbol, GridExtent):
            return number(2)
        free = isinstance(symbol, ScalarParameter | Unknown | Storage)
        return number(min(max(sample, symbol.range.low), symbol.range.high)) if free else None

    def known(symbol: Symbol) -> Range:
        return Range(1, 0, min(symbol.range.high, 1)) if isinstance(symbol, Turn) else symbol.range

    return need.of(need.form.substituted(given)).holds(known)


def _of_the_grid(symbol: Symbol) -> bool:
    return isinstance(symbol, BlockId | GridExtent)


def fits_text(need: NoWrap, launch: KnownLaunch) -> str:
    """Return a condition in the words of the program."""
    text = repr(need.form)
    for index, name in sorted(enumerate(launch.parameters), reverse=True):
        text = text.replace(f"arg{index}", name)
    return f"{text} lies in [{need.low}, {need.high}]"


def _fragile(verdict: ProofVerdict, collision: Collision | None) -> ProofVerdict:
    """Return whether the launch is safe only because of the grid: larger ones with the same arguments are not."""
    if verdict.scope is not Scope.LAUNCH or collision is None:
        return verdict
    met = collision.refuted
    text = f"on a grid of {grid_text(met.grid)} tile blocks {met.first} and {met.second} touch the same bytes"
    return replace(verdict, fragile=f"{text} at {_places(collision)}")


def _places(collision: Collision) -> str:
    ops = dict.fromkeys((collision.one.op, collision.other.op))
    return " and ".join(f"'{op.spec.name}' {place_text(op.loc)}".strip() for op in ops)


def _collision(
    pairs: Sequence[tuple[KnownAccess, KnownAccess]], results: Sequence[PairResult], scope: Scope
) -> Collision | None:
    for (one, other), result in zip(pairs, results):
        if isinstance(result.verdict, Refuted):
            return Collision(one, other, result.verdict, scope)
    return None


# ---------------------------------------------------------------- open


def _synchronising(accesses: Sequence[KnownAccess]) -> KnownAccess | None:
    """Return an access that may order others: an acquire. Without one nothing orders tile blocks."""
    return next((one for one in accesses if one.access.acquires), None)


def _open(because: str) -> ProofVerdict:
    return ProofVerdict("races", Answer.OPEN, Scope.OPEN, because=because)


def _because(
    pairs: Sequence[tuple[KnownAccess, KnownAccess]], results: Sequence[PairResult], synchronising: KnownAccess | None
) -> str:
    for (one, other), result in zip(pairs, results):
        if not result.proved or result.assumes_numbers:
            names = " and ".join(_named(access) for access in dict.fromkeys((one, other)))
            hint = smt.missing() if smt.can_be_asked(one, other) else ""
            return f"{names}: {_why(result, synchronising)}{hint}"
    return "nothing was found in any scope"


def _named(access: KnownAccess) -> str:
    return f"'{access.op.spec.name}' {place_text(access.op.loc)}".strip()


def _why(result: PairResult, synchronising: KnownAccess | None) -> str:
    if isinstance(result.verdict, Refuted):
        flag = "" if synchronising is None else f"; whether {_named(synchronising)} orders them is not known"
        return f"tile blocks {result.verdict.first} and {result.verdict.second} touch the same bytes{flag}"
    if isinstance(result.verdict, Undecided):
        return result.verdict.why
    return "index arithmetic may wrap around, or does on every grid of several tile blocks"
