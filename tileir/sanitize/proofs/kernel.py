"""The proof of one kernel, and what a run adds to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from types import MappingProxyType

from tileir.analysis.disjoint import Block
from tileir.analysis.effects import accesses_of, own_effect, reachable, writes
from tileir.analysis.provenance import ANYWHERE, deciding_accesses
from tileir.ir.effects import Effect
from tileir.ir.loc import Source
from tileir.ops.module import Entry
from tileir.sanitize.findings import Finding
from tileir.sanitize.proofs.bounds import BoundsProof, prove_bounds
from tileir.sanitize.proofs.launch import Keep, KnownLaunch, open_grid
from tileir.sanitize.proofs.pairs import INSIDE, KnownAccess
from tileir.sanitize.proofs.races import RaceProof, prove_races
from tileir.sanitize.proofs.verdict import STATIC, Answer, ProofFinding, ProofReport, ProofVerdict, Scope, Scoped
from tileir.sanitize.report import SanitizerReport

SUBJECTS = {"races": "race", "bounds": "out-of-bounds"}
"""The kind of finding that a verdict is about, by its subject."""
MOST_BLOCKS = 1 << 12
"""Tile blocks of a grid that is run to confirm a fault."""


@dataclass(frozen=True)
class KernelProof:
    """The results found without a run. ``settling`` are the parameters of the arrays whose values decide what a launch
    touches; None if something else decides, or tile blocks may wait for each other."""

    races: RaceProof
    bounds: BoundsProof
    settling: frozenset[str] | None = None

    @property
    def _parts(self) -> tuple[RaceProof | BoundsProof, ...]:
        return self.races, self.bounds

    def asked_runs(self, grid: Block | None) -> set[Block]:
        """Return the grids on which runs would tell more: that of the launch, else those of the faults."""
        verdicts = [part.verdict for part in self._parts if part.verdict.outcome is not Answer.ABSENT]
        if grid is not None:
            return {grid} if verdicts else set()
        grids = (_extents(verdict) for verdict in verdicts)
        return {one for one in grids if one is not None and prod(one) <= MOST_BLOCKS}

    def report(
        self,
        kernel: str,
        sources: tuple[Source, ...],
        ran: Mapping[Block, SanitizerReport] = MappingProxyType({}),
        grid: Block | None = None,
    ) -> ProofReport:
        """Return the report; `ran` are the runs that were asked for, by their grids, `grid` that of the launch."""
        found: list[ProofFinding] = []
        verdicts = []
        for part in self._parts:
            verdict, witness = part.verdict, part.collision if isinstance(part, RaceProof) else part.escape
            run = ran.get(grid or _extents(verdict) or (0, 0, 0))
            seen = [] if run is None else [one for one in run if one.kind == SUBJECTS[verdict.subject]]
            verdicts.append(self._settled(_after(verdict, run, seen), run))
            if verdicts[-1].outcome is Answer.PRESENT:
                found += [ProofFinding(one, True) for one in seen]
                found += [ProofFinding(witness.finding(), False)] if witness is not None and not seen else []
        return ProofReport(kernel, verdicts[0], verdicts[1], tuple(found), sources)

    def _settled(self, verdict: ProofVerdict, ran: SanitizerReport | None) -> ProofVerdict:
        """Return what a run without a fault says of all orders of its tile blocks: the same, if what decides about
        accesses is never written. The first write to it would have been one of the run."""
        clean = verdict.scope is Scope.RUN and verdict.outcome is Answer.ABSENT and ran is not None and ran.ok
        if not clean or ran is None or ran.runs > 1 or not ran.kinds.issuperset(SUBJECTS.values()):
            return verdict
        if self.settling is None or not self.settling <= ran.kept:
            return verdict
        assuming = {*verdict.assuming, *(f"'{name}' holds the values of the run" for name in self.settling)}
        return replace(verdict, scope=Scope.LAUNCH, assuming=tuple(sorted(assuming)), holds_here=True)


def _extents(verdict: ProofVerdict) -> Block | None:
    """Return the grid that a fault is on."""
    x, y, z = verdict.grid
    return None if x is None or y is None or z is None else (x, y, z)


def _after(verdict: ProofVerdict, ran: SanitizerReport | None, seen: Sequence[Finding]) -> ProofVerdict:
    """Return a verdict, once the launch has been run and done what is `seen`."""
    if ran is None or verdict.outcome is Answer.ABSENT or SUBJECTS[verdict.subject] not in ran.kinds:
        return verdict
    if verdict.outcome is Answer.PRESENT:
        because = "a fault that seemed certain did not happen in a run"
        return replace(verdict, outcome=Answer.OPEN, scope=Scope.OPEN, because=because) if ran.ok else verdict
    outcome = Answer.PRESENT if seen else Answer.ABSENT
    return replace(verdict, outcome=outcome, scope=Scope.RUN)


def proved(
    entry: Entry, accesses: Sequence[KnownAccess], launch: KnownLaunch, launched: bool, keep: Keep
) -> KernelProof:
    """Return the verdicts about the launches that are asked for; `launched`: about a grid that is known. What is found
    in a scope is kept, as it is the same for other launches in it."""
    scopes = _scopes(entry, launch, launched)
    bounds = prove_bounds(accesses, scopes, keep)
    races = prove_races(entry, accesses, scopes, keep)
    races = replace(races, verdict=_inside(races.verdict, bounds.verdict))
    return KernelProof(races, bounds, _settling(entry, launch.parameters))


def _settling(entry: Entry, names: Sequence[str]) -> frozenset[str] | None:
    """Return the parameters of the arrays whose values decide what a launch touches."""
    found = deciding_accesses(entry)
    own = any(own_effect(op) & (Effect.ALLOCATE | Effect.HOST) for op in reachable(entry))
    waits = any(access.acquires for access in accesses_of(entry))
    if own or waits or any(ANYWHERE in origins or writes(op) for op, origins in found.items()):
        return None
    return frozenset(names[origin] for origins in found.values() for origin in origins)


def _scopes(entry: Entry, launch: KnownLaunch, launched: bool) -> list[Scoped]:
    grid = open_grid(entry, launch.grid if launched else None)
    scopes = [(Scope.ANY, launch.without_arguments().on(grid))]
    if launch.given:
        scopes.append((Scope.ARGUMENTS, launch.on(grid)))
    if launch.given and launched:
        scopes.append((Scope.LAUNCH, launch))
    return scopes


def _inside(races: ProofVerdict, bounds: ProofVerdict) -> ProofVerdict:
    """Drop the assumption that accesses stay in their arrays where it is proved; add the assumptions of that proof."""
    if INSIDE not in races.assuming:
        return races
    if not bounds.decided or bounds.outcome is not Answer.ABSENT:
        return replace(races, holds_here=False)
    if STATIC.index(bounds.scope) > STATIC.index(races.scope):
        return races
    others = bounds.assuming if races.scope is Scope.ANY else ()
    return replace(races, assuming=tuple(sorted({*races.assuming, *others} - {INSIDE})))
