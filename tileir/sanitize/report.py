"""The report of a sanitized launch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tileir.ir.escaping import shown_html
from tileir.ir.loc import Source
from tileir.sanitize.findings import KINDS, Finding
from tileir.sanitize.page import page
from tileir.sanitize.proofs.verdict import ProofReport
from tileir.sanitize.sarif import sarif
from tileir.sanitize.text import report_text

MOST_NOTES = 20
"""Notes that the text of a report shows."""


@dataclass(frozen=True)
class SanitizerReport:
    """All findings of a launch, the first of each pair of places. `ok` when none of them is an error.

    ``kinds`` are those that were looked for. ``notes`` name the elements that were never written, of arrays that were
    written in part, and arrays whose strides a kernel was not told; of a whole script they say in how many launches.
    ``kept`` are the parameters whose memory the launch has left as it was.
    ``prove`` gives `proofs`, which takes longer than many a launch.
    """

    findings: list[Finding]
    kernel: str
    runs: int = 1
    sources: tuple[Source, ...] = ()
    kinds: frozenset[str] = frozenset(KINDS)
    notes: tuple[str, ...] = ()
    kept: frozenset[str] = frozenset()
    prove: Callable[[], tuple[ProofReport, ...]] = field(default=tuple, repr=False, compare=False)

    @cached_property
    def proofs(self) -> tuple[ProofReport, ...]:
        """Return the results beyond this run, for each kernel; computed when first asked for."""
        return self.prove()

    def __getstate__(self) -> dict[str, Any]:
        """Pickle with the proofs, as a report that goes to another process leaves the kernel behind."""
        return {**vars(self), "proofs": self.proofs, "prove": tuple}

    @property
    def ok(self) -> bool:
        return not any(finding.severity == "error" for finding in self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __str__(self) -> str:
        return report_text(self.findings, self.kernel, self.runs, self.sources, self._lines())

    def _repr_html_(self) -> str:
        return shown_html(str(self))

    def to_json(self) -> dict[str, Any]:
        findings = [finding.to_json() for finding in self.findings]
        data: dict[str, Any] = {"ok": self.ok, "kernel": self.kernel, "runs": self.runs, "findings": findings}
        data["notes"] = list(self.notes)
        return data | {"proofs": [proof.to_json() for proof in self.proofs]}

    def to_html(self) -> str:
        """Return a page that needs no other files."""
        return page(self.findings, self.kernel, self.runs, self.sources, self._lines())

    def _lines(self) -> list[str]:
        more = len(self.notes) - MOST_NOTES
        notes = [*self.notes[:MOST_NOTES], *([f"{more:,} more"] if more > 0 else [])]
        return [*(f"NOTE: {note}" for note in notes), *(proof.line for proof in self.proofs)]

    def to_sarif(self) -> dict[str, Any]:
        return sarif(self.findings)
