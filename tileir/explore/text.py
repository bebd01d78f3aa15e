"""A report as a person reads it, and as JSON.

Knows: the layout: outcomes, faults with both places, executions as lists of events, verdicts, what was not explored.
Does not know: what an outcome is (`results`), which arrows matter (`view`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tileir.explore.conditions import Number
from tileir.explore.results import Exploration, FaultFound, LineVerdict, OutcomeFound
from tileir.explore.view import RELATIONS, ShownExecution
from tileir.ir.diagnostics import place_text, shown_place
from tileir.ir.shown import shown

RULE = "=" * 66
MOST_OUTCOMES = 24
WHY = {
    "token": "both are in one tile block, and no token leads from one to the other",
    "lanes": "two elements of one weak access have the same address",
    "scope": "the scope of one does not include the tile block of the other",
    "sizes": "they overlap only in part",
    "order": "a weak access is not ordered with that of another tile block by a release that an acquire reads from",
}
"""Why nothing orders the two accesses of a race."""
_STEPS = {
    "po": "program order",
    "rf": "reads from it",
    "co": "overwrites it",
    "fr": "overwrites what it read",
}


def report_text(report: Exploration) -> str:
    """The whole report."""
    return "\n".join(
        [
            _headline(report),
            *_outcomes(report),
            *(line for fault in report.faults for line in fault_text(fault, report)),
            *(line for outcome in report.surprising for line in _surprise(outcome, report)),
            *_assertions(report),
            *_mends(report),
            *(line for verdict in report.verdicts for line in _verdict(verdict, report)),
            *_left_out(report),
            _summary(report),
        ]
    )


def _headline(report: Exploration) -> str:
    grid = ",".join(map(str, report.grid)) if report.grid[1:] != (1, 1) else str(report.grid[0])
    return f"kernel @{shown(report.kernel)}, grid {grid}: {_count(report.executions, 'execution')}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


# ---------------------------------------------------------------- outcomes


def shown_names(report: Exploration) -> list[str]:
    """The values that are shown: those of verdict lines, else all that differ between outcomes, else all."""
    asked = dict.fromkeys(name for line in report.lines for name in line.condition.names)
    if asked:
        return list(asked)
    names = dict.fromkeys(name for outcome in report.outcomes for name in outcome.values)
    differing = [name for name in names if len({outcome.values.get(name) for outcome in report.outcomes}) > 1]
    return sorted(differing or names)


def merged_outcomes(report: Exploration) -> list[tuple[dict[str, Number], int, bool]]:
    """The outcomes by the values shown: these, how many executions, whether no interleaving has them."""
    names = shown_names(report)
    found: dict[object, tuple[dict[str, Number], int, bool]] = {}
    for outcome in report.outcomes:
        values = {name: outcome.values[name] for name in names if name in outcome.values}
        key = tuple(values.items())
        _, count, surprising = found.get(key, (values, 0, True))
        found[key] = (values, count + outcome.executions, surprising and outcome.surprising)
    return [found[key] for key in sorted(found, key=repr)]


def values_text(values: dict[str, Number]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items()) or "nothing to tell apart"


def _outcomes(report: Exploration) -> Iterator[str]:
    merged = merged_outcomes(report)
    for values, count, surprising in merged[:MOST_OUTCOMES]:
        weak = "   no interleaving" if surprising else ""
        yield f"  {values_text(values):40} {_count(count, 'execution')}{weak}"
    if len(merged) > MOST_OUTCOMES:
        yield f"  ... and {_count(len(merged) - MOST_OUTCOMES, 'outcome')} more"


def _surprise(outcome: OutcomeFound, report: Exploration) -> Iterator[str]:
    if _is_first(outcome, report):
        names = shown_names(report)
        values = {name: outcome.values[name] for name in names if name in outcome.values}
        yield RULE
        yield f"NO INTERLEAVING gives {values_text(values)}; this execution does:"
        yield from execution_text(outcome, report)


def _is_first(outcome: OutcomeFound, report: Exploration) -> bool:
    """Whether no interleaving and no earlier outcome has the same values shown."""
    names = shown_names(report)
    mine = [outcome.values.get(name) for name in names]
    same = [one for one in report.outcomes if [one.values.get(name) for name in names] == mine]
    return all(one.surprising for one in same) and same[0] is outcome


# ---------------------------------------------------------------- executions


def execution_text(found: OutcomeFound | FaultFound | LineVerdict, report: Exploration) -> Iterator[str]:
    """The events of the execution that shows something, block by block, and what orders them."""
    assert found.witness is not None, "shown by an execution"
    execution = ShownExecution(found.witness, report.names)
    block = None
    for event in execution.events:
        if event.block != block:
            block = event.block
            yield f"  tile block {report.names.block(block)}"
        line = "" if event.line is None else f"line {event.line}"
        yield f"    {event.letter}  {event.words:34} {line:8} {_relations(execution, event.number)}".rstrip()
    for cell, order in execution.orders():
        yield f"  {report.names.cell(cell)} is written in the order {', '.join(map(execution.letter, order))}"
    yield from _cycle(execution)


def _relations(execution: ShownExecution, number: int) -> str:
    words = {"token": "after", "rf": "reads", "sw": "synchronises with"}
    parts = []
    for kind, word in words.items():
        sources = [arrow.source for arrow in execution.arrows if arrow.target == number and arrow.kind == kind]
        if sources:
            parts.append(f"{word} {', '.join(sorted(map(execution.letter, sources)))}")
    return "; ".join(parts)


def _cycle(execution: ShownExecution) -> Iterator[str]:
    steps = execution.cycle()
    if steps:
        letters = execution.letters
        told = [f"{letters[one]} before {letters[other]} ({_STEPS[kind]})" for one, other, kind in steps]
        yield f"  an interleaving would have to take {', '.join(told)}"


# ---------------------------------------------------------------- faults


def fault_text(fault: FaultFound, report: Exploration) -> Iterator[str]:
    """One fault: headline, places, and the execution."""
    yield RULE
    yield f"ERROR: tileir explore: {fault.kind}: {fault_message(fault, report)}"
    yield from shown_place(fault.loc, f"{place_text(fault.loc)}: {_what(fault, 0)}", report.sources)
    if fault.other is not None:
        yield from shown_place(fault.other, f"{place_text(fault.other)}: {_what(fault, 1)}", report.sources)
    if fault.why:
        yield f"  why: {WHY[fault.why]}"
    yield f"  in {_count(fault.executions, 'execution')} of {report.executions:,}, such as"
    yield from execution_text(fault, report)


def fault_message(fault: FaultFound, report: Exploration) -> str:
    if fault.kind == "race":
        one, other = fault.events
        verbs = ["update" if event.updates else "store" if event.writes else "load" for event in (one, other)]
        return f"{verbs[0]} and {verbs[1]} of {report.names.cell(one.cell)} have no order"
    if fault.kind == "deadlock":
        return "a tile block waits for what no other can do any more"
    return fault.message


def _what(fault: FaultFound, at: int) -> str:
    block = f"tile block {fault.blocks[at]}" if at < len(fault.blocks) else "tile block"
    if fault.kind == "race":
        return f"'{fault.ops[at].spec.name}' by {block}"
    return f"{'the loop of' if fault.kind == 'deadlock' else 'by'} {block}"


def _assertions(report: Exploration) -> Iterator[str]:
    for found in report.assertions:
        if not found.failed:
            reached = _count(found.reached, "execution")
            yield f"{place_text(found.op.loc)}: this assertion cannot fail: reached in {reached}"
    for op in report.unreached:
        yield f"{place_text(op.loc)}: this assertion is never reached"


# ---------------------------------------------------------------- verdicts, and the end


def _mends(report: Exploration) -> Iterator[str]:
    for number, mend in enumerate(report.mends):
        first = "the weakest mend:" if mend.weakest else "a mend of which nothing can be left out:"
        yield first if number == 0 else "another of the same weight:"
        yield from (f"  {step}" for step in mend.steps)


def _verdict(verdict: LineVerdict, report: Exploration) -> Iterator[str]:
    holds = "holds" if verdict.holds else "DOES NOT HOLD"
    yield f"line {verdict.line.line}: {verdict.line}: {holds}: {verdict.reason}"


def _left_out(report: Exploration) -> Iterator[str]:
    if report.cut:
        yield (
            f"not all: {_count(report.cut, 'execution')} left where a loop had {report.iterations} iterations; "
            "a larger --iterations explores more"
        )
    if not report.exhaustive:
        yield f"not all: stopped after {_count(report.executions, 'execution')}; a larger --limit explores more"


def _summary(report: Exploration) -> str:
    outcomes = len(merged_outcomes(report))
    surprising = sum(one[2] for one in merged_outcomes(report))
    faults = ", ".join(f"{sum(one.kind == kind for one in report.faults)} {kind}" for kind in _kinds(report))
    parts = [_count(outcomes, "outcome"), f"{surprising} of no interleaving", faults or "no fault"]
    return f"SUMMARY: tileir explore: {', '.join(parts)} ({'all' if report.complete else 'some'} executions)"


def _kinds(report: Exploration) -> list[str]:
    return list(dict.fromkeys(fault.kind for fault in report.faults))


def report_json(report: Exploration) -> dict[str, Any]:
    """The report as data."""
    return {
        "ok": report.ok,
        "kernel": report.kernel,
        "grid": list(report.grid),
        "executions": report.executions,
        "complete": report.complete,
        "outcomes": [
            {"values": values, "executions": count, "interleaving": not surprising}
            for values, count, surprising in merged_outcomes(report)
        ],
        "faults": [
            {
                "kind": fault.kind,
                "message": fault_message(fault, report),
                "place": place_text(fault.loc),
                "other": None if fault.other is None else place_text(fault.other),
                "because": WHY.get(fault.why),
                "blocks": [list(block) for block in fault.blocks],
            }
            for fault in report.faults
        ],
        "verdicts": [
            {"line": one.line.line, "text": str(one.line), "holds": one.holds, "reason": one.reason}
            for one in report.verdicts
        ],
        "mends": [mend.to_json() for mend in report.mends],
    }


__all__ = ["RELATIONS", "execution_text", "fault_text", "report_json", "report_text"]
