"""The report of a sanitized launch.

Knows: what a report holds. Does not know: how findings look as text or SARIF (`text`, `sarif`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tileir.ir.loc import Source
from tileir.sanitize.findings import Finding
from tileir.sanitize.sarif import sarif
from tileir.sanitize.text import report_text


@dataclass(frozen=True)
class SanitizerReport:
    """All findings of a launch, the first of each pair of places. `ok` when none of them is an error."""

    findings: list[Finding]
    kernel: str
    runs: int = 1
    sources: tuple[Source, ...] = ()

    @property
    def ok(self) -> bool:
        return not any(finding.severity == "error" for finding in self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __str__(self) -> str:
        return report_text(self.findings, self.kernel, self.runs, self.sources)

    def to_json(self) -> dict[str, Any]:
        findings = [finding.to_json() for finding in self.findings]
        return {"ok": self.ok, "kernel": self.kernel, "runs": self.runs, "findings": findings}

    def to_sarif(self) -> dict[str, Any]:
        return sarif(self.findings)
