"""The words of a report, for every form that it has.

Knows: how outcomes, faults, verdicts and mends are said. Does not know: where the words stand (`text`, `page`).
"""

from __future__ import annotations

from collections.abc import Iterator

from tileir.explore.changes import Mend
from tileir.explore.conditions import Number
from tileir.explore.events import ElementEvent
from tileir.explore.results import Exploration, FaultFound, LineVerdict

WHY = {
    "token": "both are in one tile block, and no token leads from one to the other",
    "lanes": "two elements of one weak access have the same address",
    "scope": "the scope of one does not include the tile block of the other",
    "sizes": "they overlap only in part",
    "order": "at least one is weak, and no release that an acquire reads from, with tokens on both sides, lies between",
}
"""Why nothing orders the two accesses of a race."""


def count_text(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def values_text(values: dict[str, Number]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items()) or "nothing to tell apart"


def verb(event: ElementEvent) -> str:
    return "update" if event.updates else "store" if event.writes else "load"


def fault_message(fault: FaultFound, report: Exploration) -> str:
    if fault.kind == "race":
        one, other = fault.events
        return f"{verb(one)} and {verb(other)} of {report.names.cell(one.cell)} have no order"
    if fault.kind == "deadlock":
        return "a tile block waits for what no other can do any more"
    return fault.message


def verdict_text(verdict: LineVerdict) -> str:
    holds = "holds" if verdict.holds else "DOES NOT HOLD"
    return f"line {verdict.line.line}: {verdict.line}: {holds}: {verdict.reason}"


def mend_title(mend: Mend, number: int) -> str:
    if number:
        return "another of the same weight:"
    return "the weakest mend:" if mend.weakest else "a mend of which nothing can be left out:"


def left_out_text(report: Exploration) -> Iterator[str]:
    """What was not explored."""
    if report.cut:
        yield (
            f"not all: {count_text(report.cut, 'execution')} left where a loop had {report.iterations} iterations; "
            "a larger --iterations explores more"
        )
    if not report.exhaustive:
        yield f"not all: stopped after {count_text(report.executions, 'execution')}; a larger --limit explores more"
