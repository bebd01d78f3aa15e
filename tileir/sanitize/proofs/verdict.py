"""Verdicts of proofs, and the report that holds them."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tileir.analysis.narrowing import ANY_GRID, Grid
from tileir.ir.escaping import shown, shown_html
from tileir.ir.loc import Source
from tileir.sanitize.findings import Finding
from tileir.sanitize.proofs.launch import KnownLaunch
from tileir.sanitize.text import findings_text


class Scope(enum.Enum):
    """The runs that a verdict is about, from all to none."""

    ANY = "any arguments, any grid"
    ARGUMENTS = "these arguments, any grid"
    LAUNCH = "this launch"
    RUN = "this run only (dynamic)"
    OPEN = "open"


STATIC = (Scope.ANY, Scope.ARGUMENTS, Scope.LAUNCH)
"""Scopes that no run is needed for."""


class Answer(enum.Enum):
    """The answer of a verdict."""

    ABSENT = "absent"
    PRESENT = "present"
    OPEN = "open"


@dataclass(frozen=True)
class ProofVerdict:
    """The answer about one `subject`, ``races`` or ``bounds``, and its scope.

    `grid` has None along the axes whose extent does not matter. `assuming` are the conditions that it holds under,
    which have been checked for the launch in question if `holds_here`; those of them that keep arithmetic from wrapping
    around are its `limits`, and `bounds_grid` if they bound the grid, not only arguments. `because` says why
    it is open, `fragile` on which grid it would not hold.
    """

    subject: str
    outcome: Answer
    scope: Scope
    grid: Grid = ANY_GRID
    assuming: tuple[str, ...] = ()
    because: str | None = None
    fragile: str | None = None
    holds_here: bool = False
    limits: tuple[str, ...] = ()
    bounds_grid: bool = False

    @property
    def decided(self) -> bool:
        """True if it holds at least for the launch, and no run was needed."""
        return self.outcome is not Answer.OPEN and self.scope in STATIC

    @property
    def text(self) -> str:
        """The answer and its scope, on one line."""
        if self.outcome is Answer.OPEN:
            return f"open: because {self.because}"
        return f"{_ANSWERS[self.subject, self.outcome]}: {self._runs(' ' + grid_text(self.grid))}"

    def _runs(self, grid: str = "") -> str:
        """Return the launches that it holds for, with the extents of the `grid` where they matter."""
        limits = " and ".join(self.limits)
        if self.bounds_grid:
            return f"arguments and grids{grid} for which {limits}"
        if limits:
            return f"arguments for which {limits}, any grid{grid}"
        return self.scope.value + (grid if self.scope in (Scope.ANY, Scope.ARGUMENTS) else "")

    def to_json(self) -> dict[str, Any]:
        return {
            "outcome": self.outcome.value,
            "scope": self._runs(),
            "grid": list(self.grid),
            "assuming": list(self.assuming),
            "holds_here": self.holds_here,
            "because": self.because,
            "grid_fragile": self.fragile,
        }


Scoped = tuple[Scope, KnownLaunch]
"""A scope and the launches that it is about."""


def widest(tried: Sequence[ProofVerdict | None], scopes: Sequence[Scoped]) -> ProofVerdict | None:
    """Return the verdict of the widest scope that has one. If a launch is known, what it assumes must hold there too:
    the narrowest scope has a verdict of its own, which assumes nothing of arrays."""
    given = scopes[-1][1].given
    if given and tried[-1] is None:
        return None
    found = next((verdict for verdict in tried if verdict is not None), None)
    return found if found is None or not found.assuming else replace(found, holds_here=given)


_ANSWERS = {
    ("races", Answer.ABSENT): "none",
    ("races", Answer.PRESENT): "tile blocks race",
    ("bounds", Answer.ABSENT): "kept",
    ("bounds", Answer.PRESENT): "an access leaves its array",
}


def grid_text(grid: Grid) -> str:
    """Return a grid with a letter along each axis that may have any extent."""
    extents = [letter if extent is None else str(extent) for letter, extent in zip("XYZ", grid)]
    return f"({', '.join(extents)})"


def weaker(one: ProofVerdict, other: ProofVerdict) -> ProofVerdict:
    """Return the one of two verdicts on a subject that says less; a fault before all."""
    order = list(Scope)
    return max(one, other, key=lambda verdict: (verdict.outcome is Answer.PRESENT, order.index(verdict.scope)))


@dataclass(frozen=True)
class ProofFinding:
    """A fault that follows from the program: `confirmed` by a run in which it happened, or only possible."""

    finding: Finding
    confirmed: bool

    @property
    def certainty(self) -> str:
        return "confirmed" if self.confirmed else "possible"

    def to_json(self) -> dict[str, Any]:
        return {"certainty": self.certainty, **self.finding.to_json()}


@dataclass(frozen=True)
class ProofReport:
    """The verdicts about a kernel. `ok` when nothing wrong was found, which an open verdict is not."""

    kernel: str
    races: ProofVerdict
    bounds: ProofVerdict
    findings: tuple[ProofFinding, ...] = ()
    sources: tuple[Source, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.findings

    @property
    def verdicts(self) -> tuple[ProofVerdict, ...]:
        return self.races, self.bounds

    def beside(self, other: ProofReport) -> ProofReport:
        """Return what holds for the launches of both reports, which are about one kernel."""
        races, bounds = weaker(self.races, other.races), weaker(self.bounds, other.bounds)
        return replace(self, races=races, bounds=bounds, findings=(*self.findings, *other.findings))

    def lines(self) -> Iterator[str]:
        """Yield the verdicts, one after the other, each with what belongs to it."""
        for verdict in self.verdicts:
            yield f"{verdict.subject}: {verdict.text}"
            checked = " (checked for this launch)" if verdict.holds_here else ""
            yield from (f"  assuming: {one}{checked}" for one in verdict.assuming)
            if verdict.fragile:
                yield f"  grid-fragile: {verdict.fragile}"

    @property
    def line(self) -> str:
        """Both verdicts on one line."""
        verdicts = "; ".join(f"{verdict.subject}: {verdict.text}" for verdict in self.verdicts)
        return f"PROOF: tileir prove: kernel @{shown(self.kernel)}: {verdicts}"

    def __str__(self) -> str:
        found = [
            line
            for one in self.findings
            for line in findings_text([one.finding], self.sources, f"prove: {one.certainty}")
        ]
        return "\n".join(
            [*found, f"tileir prove: kernel @{shown(self.kernel)}", *(f"  {line}" for line in self.lines())]
        )

    def _repr_html_(self) -> str:
        return shown_html(str(self))

    def to_json(self) -> dict[str, Any]:
        return {
            "ok": self.ok,
            "kernel": self.kernel,
            **{verdict.subject: verdict.to_json() for verdict in self.verdicts},
            "findings": [one.to_json() for one in self.findings],
        }
