"""A report as a person reads it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tileir.interp.api import Coordinates
from tileir.ir.diagnostics import place_text, shown_place
from tileir.ir.escaping import shown
from tileir.ir.loc import Location, Source
from tileir.sanitize.findings import Finding

RULE = "=" * 66


def report_text(
    findings: Sequence[Finding], kernel: str, runs: int, sources: tuple[Source, ...], proofs: Sequence[str] = ()
) -> str:
    """Return every finding, the lines of proofs, then the summary. `runs` is the number of schedules, `sources` the
    files that are quoted."""
    return "\n".join([*findings_text(findings, sources, "sanitize"), *proofs, summary(findings, kernel, runs)])


def findings_text(findings: Sequence[Finding], sources: tuple[Source, ...], tool: str) -> list[str]:
    """Return the lines of findings, with a rule around each."""
    parts = [line for finding in findings for line in (RULE, *_finding(finding, sources, tool))]
    return [*parts, RULE] if parts else []


def _finding(finding: Finding, sources: tuple[Source, ...], tool: str) -> Iterator[str]:
    yield f"{finding.severity.upper()}: tileir {tool}: {finding.kind}: {finding.message}"
    for loc, text in places(finding):
        yield from (f"  {line}" for line in shown_place(loc, text, sources))
    if finding.why:
        yield f"  why: {finding.why}"
    if finding.hint:
        yield f"  instead: {finding.hint}"
    yield from (f"  {line}" for line in repeats(finding))


def places(finding: Finding) -> Iterator[tuple[Location, str]]:
    """Yield the access, the other one, and whatever else belongs to it, each with what happens there."""
    yield finding.loc, f"'{finding.op}' by {_block(finding.blocks[:1])}"
    if finding.other is not None:
        who = finding.blocks[1:] or (finding.blocks[:1] if finding.kind == "missing-token" else ())
        by = f" by {_block(who)}" if who else ""
        yield finding.other, f"{finding.other_role}: '{finding.other_op}'{by}"
    for note in finding.notes:
        yield note.loc, note.message


def repeats(finding: Finding) -> Iterator[str]:
    """Yield how often a finding recurred, and in which elements."""
    if finding.pairs > 1:
        what = "pair" if len(finding.blocks) > 1 else "tile block"
        more = finding.pairs - 1
        yield f"... and {more:,} more {what}{'s' if more > 1 else ''}{' of blocks' if what == 'pair' else ''}"
    if len(finding.indices) > 1:
        yield f"elements: {', '.join(str(list(index)) for index in finding.indices)}"


def _block(blocks: tuple[Coordinates, ...]) -> str:
    return f"tile block {blocks[0]}" if blocks else "some tile block"


def summary(findings: Sequence[Finding], kernel: str, runs: int) -> str:
    """Return a line with the number of findings of each kind, and the place of the first."""
    schedules = f"{runs} schedule{'s' if runs > 1 else ''}"
    name = f"kernel @{shown(kernel)}"
    if not findings:
        return f"SUMMARY: tileir sanitize: no findings in {name} ({schedules})"
    counts = Counter(finding.kind for finding in findings)
    found = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    place = next((text for finding in findings if (text := place_text(finding.loc))), "")
    return f"SUMMARY: tileir sanitize: {found} in {name} ({schedules}){f', first at {place}' if place else ''}"
