"""Outcomes as they are shown: by the values that matter.

Knows: which values those are, and which outcomes are then one.
Does not know: what an outcome is (`results`), how it looks (`text`, `page`).
"""

from __future__ import annotations

from typing import NamedTuple

from tileir.explore.conditions import Number
from tileir.explore.results import Exploration, OutcomeFound


class ShownOutcome(NamedTuple):
    """Outcomes with the same values shown: how many executions, and whether no interleaving has them."""

    values: dict[str, Number]
    executions: int
    surprising: bool


def shown_names(report: Exploration) -> list[str]:
    """The values that are shown: those of verdict lines, else all that differ between outcomes, else all."""
    asked = dict.fromkeys(name for line in report.lines for name in line.condition.names)
    if asked:
        return list(asked)
    names = dict.fromkeys(name for outcome in report.outcomes for name in outcome.values)
    differing = [name for name in names if len({outcome.values.get(name) for outcome in report.outcomes}) > 1]
    return sorted(differing or names)


def shown_values(outcome: OutcomeFound, report: Exploration) -> dict[str, Number]:
    return {name: outcome.values[name] for name in shown_names(report) if name in outcome.values}


def merged_outcomes(report: Exploration) -> list[ShownOutcome]:
    """The outcomes by the values shown, in their order."""
    found: dict[tuple[tuple[str, Number], ...], ShownOutcome] = {}
    for outcome in report.outcomes:
        values = shown_values(outcome, report)
        key = tuple(values.items())
        _, count, surprising = found.get(key, (values, 0, True))
        found[key] = ShownOutcome(values, count + outcome.executions, surprising and outcome.surprising)
    return [found[key] for key in sorted(found)]


def surprises(report: Exploration) -> list[OutcomeFound]:
    """For each shown outcome that no interleaving has, the first that is so."""
    merged = {tuple(one.values.items()) for one in merged_outcomes(report) if one.surprising}
    found: dict[tuple[tuple[str, Number], ...], OutcomeFound] = {}
    for outcome in report.outcomes:
        key = tuple(shown_values(outcome, report).items())
        if key in merged:
            found.setdefault(key, outcome)
    return list(found.values())
