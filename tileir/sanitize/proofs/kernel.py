"""The proof of one kernel, and what a run adds to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tileir.ir.loc import Source
from tileir.ops.module import Entry
from tileir.sanitize.findings import Finding
from tileir.sanitize.proofs.bounds import BoundsProof, Escape, prove_bounds
from tileir.sanitize.proofs.launch import Keep, KnownLaunch, open_grid
from tileir.sanitize.proofs.pairs import INSIDE, KnownAccess
from tileir.sanitize.proofs.races import Collision, RaceProof, prove_races
from tileir.sanitize.proofs.verdict import STATIC, Answer, ProofFinding, ProofReport, ProofVerdict, Scope, Scoped
from tileir.sanitize.report import SanitizerReport

SUBJECTS = {"races": "race", "bounds": "out-of-bounds"}
"""The kind of finding that a verdict is about, by its subject."""


@dataclass(frozen=True)
class KernelProof:
    """The results found without a run."""

    races: RaceProof
    bounds: BoundsProof

    @property
    def witnesses(self) -> Iterator[Collision | Escape]:
        """Yield the faults found, in the launches asked for or on other grids."""
        return iter([one for one in (self.races.collision, self.bounds.escape) if one is not None])

    def report(self, kernel: str, sources: tuple[Source, ...], ran: SanitizerReport | None = None) -> ProofReport:
        """Return the report; `ran` is that of the launch, if it was run to see what is open."""
        found: list[ProofFinding] = []
        verdicts = []
        pairs = ((self.races.verdict, self.races.collision), (self.bounds.verdict, self.bounds.escape))
        for verdict, witness in pairs:
            seen = [] if ran is None else [one for one in ran if one.kind == SUBJECTS[verdict.subject]]
            verdicts.append(_after(verdict, ran, seen))
            if verdicts[-1].outcome is Answer.PRESENT:
                found += [ProofFinding(one, True) for one in seen]
                found += [ProofFinding(witness.finding(), False)] if witness is not None and not seen else []
        return ProofReport(kernel, verdicts[0], verdicts[1], tuple(found), sources)


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
    races = prove_races(accesses, scopes, keep)
    return KernelProof(replace(races, verdict=_inside(races.verdict, bounds.verdict)), bounds)


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
