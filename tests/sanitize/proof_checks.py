"""Proofs held against runs: the sanitizer must not contradict a proof's claim about a launch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import tileir
from tileir.runtime.grid import checked_grid
from tileir.runtime.module import bind, target_named
from tileir.sanitize.launch import kernel_proof
from tileir.sanitize.proofs.kernel import SUBJECTS
from tileir.sanitize.proofs.pairs import INSIDE, PROMISES
from tileir.sanitize.proofs.verdict import Answer, ProofReport, ProofVerdict
from tileir.sanitize.report import SanitizerReport


@dataclass
class ProofTally:
    """The number of verdicts of each kind that have been held against a run."""

    seen: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def compare(self, kernel: tileir.Kernel, grid: tuple[int, ...], args: Sequence[object]) -> SanitizerReport:
        """Launch under the sanitizer, on copies, and compare the verdicts about any arguments, about these, and about
        this launch."""
        extents = checked_grid(grid, kernel.name)
        arguments = bind(kernel, args, target_named("interp"))
        report = tileir.sanitize(kernel, grid, *args, copy=True, output=lambda text: None)
        for about in ((None, None), (None, arguments), (extents, arguments)):
            found = kernel_proof(kernel, *about).report(kernel.name, ())
            for verdict in found.verdicts:
                if covers(verdict, extents):
                    self.seen[verdict.subject, verdict.outcome.value, verdict.scope.value] += 1
                    check(verdict, report, found)
        return report

    def count(self, subject: str, outcome: Answer) -> int:
        return sum(number for key, number in self.seen.items() if key[:2] == (subject, outcome.value))


def covers(verdict: ProofVerdict, grid: tuple[int, int, int]) -> bool:
    """Return whether the verdict covers a launch on the grid."""
    return verdict.decided and all(known in (None, extent) for known, extent in zip(verdict.grid, grid))


def check(verdict: ProofVerdict, report: SanitizerReport, proof: ProofReport) -> None:
    """Fail if the run contradicts the verdict."""
    kinds = {finding.kind for finding in report}
    broken = {PROMISES: "undefined", INSIDE: "out-of-bounds"}
    if any(broken.get(assumed) in kinds for assumed in verdict.assuming):
        return
    happened = SUBJECTS[verdict.subject] in kinds
    assert happened == (verdict.outcome is Answer.PRESENT), f"{proof}\n{report}"
