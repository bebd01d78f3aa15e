"""Text of exploration: outcomes, executions and races in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from tileir.explore.changes import Mend
from tileir.explore.conditions import Number
from tileir.explore.events import ElementEvent
from tileir.explore.results import Exploration, FaultFound, LineVerdict, OutcomeFound
from tileir.explore.search import Execution
from tileir.explore.view import ShownExecution
from tileir.ir.diagnostics import place_text, shown_place
from tileir.ir.escaping import shown

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
    """Yield lines about executions that were not explored."""
    if report.cut:
        yield (
            f"not all: {count_text(report.cut, 'execution')} left where a loop had {report.iterations} iterations; "
            "a larger --iterations explores more"
        )
    if not report.exhaustive:
        yield f"not all: stopped after {count_text(report.executions, 'execution')}; a larger --limit explores more"


class ShownOutcome(NamedTuple):
    """Outcomes with the same values shown: how many executions, and whether no interleaving has them."""

    values: dict[str, Number]
    executions: int
    surprising: bool


def shown_names(report: Exploration) -> list[str]:
    """Return the values that are shown: those of verdict lines, else all that differ between outcomes, else all."""
    asked = dict.fromkeys(name for line in report.lines for name in line.condition.names)
    if asked:
        return list(asked)
    names = dict.fromkeys(name for outcome in report.outcomes for name in outcome.values)
    differing = [name for name in names if len({outcome.values.get(name) for outcome in report.outcomes}) > 1]
    return sorted(differing or names)


def shown_values(outcome: OutcomeFound, report: Exploration) -> dict[str, Number]:
    return {name: outcome.values[name] for name in shown_names(report) if name in outcome.values}


def merged_outcomes(report: Exploration) -> list[ShownOutcome]:
    """Return the outcomes by the values shown, in their order."""
    found: dict[tuple[tuple[str, Number], ...], ShownOutcome] = {}
    for outcome in report.outcomes:
        values = shown_values(outcome, report)
        key = tuple(values.items())
        _, count, surprising = found.get(key, (values, 0, True))
        found[key] = ShownOutcome(values, count + outcome.executions, surprising and outcome.surprising)
    return [found[key] for key in sorted(found)]


def surprises(report: Exploration) -> list[OutcomeFound]:
    """Return the first outcome without an interleaving for each shown outcome."""
    merged = {tuple(one.values.items()) for one in merged_outcomes(report) if one.surprising}
    found: dict[tuple[tuple[str, Number], ...], OutcomeFound] = {}
    for outcome in report.outcomes:
        key = tuple(shown_values(outcome, report).items())
        if key in merged:
            found.setdefault(key, outcome)
    return list(found.values())


RULE = "=" * 66
MOST_OUTCOMES = 24
MOST_SURPRISES = 4
_RELATIONS = {"token": "after", "rf": "reads", "sw": "synchronises with"}
_STEPS = {"po": "program order", "rf": "reads from it", "co": "overwrites it", "fr": "overwrites what it read"}


def report_text(report: Exploration) -> str:
    """Return the whole report."""
    return "\n".join(
        [
            _headline(report),
            *(f"  {line}" for line in equal_text(report)),
            *_outcomes(report),
            *(line for fault in report.faults for line in _fault(fault, report)),
            *_surprises(report),
            *_assertions(report),
            *_mends(report),
            *(line for verdict in report.verdicts for line in _verdict(verdict, report)),
            *left_out_text(report),
            _summary(report),
        ]
    )


def equal_text(report: Exploration) -> Iterator[str]:
    """Yield a line about tile blocks of whose exchanges one is told."""
    if report.found < report.executions:
        classes = [[report.names.block(block) for block in equal] for equal in report.equal.classes if len(equal) > 1]
        told = "; ".join(f"{', '.join(equal[:-1])} and {equal[-1]}" for equal in classes)
        yield f"equal tile blocks: {told}; of what differs by their exchange one is told"


def _headline(report: Exploration) -> str:
    grid = ",".join(map(str, report.grid)) if report.grid[1:] != (1, 1) else str(report.grid[0])
    return f"kernel @{shown(report.kernel)}, grid {grid}: {count_text(report.executions, 'execution')}"


def _outcomes(report: Exploration) -> Iterator[str]:
    merged = merged_outcomes(report)
    for values, count, surprising in merged[:MOST_OUTCOMES]:
        weak = "   no interleaving" if surprising else ""
        yield f"  {values_text(values):40} {count_text(count, 'execution')}{weak}"
    if len(merged) > MOST_OUTCOMES:
        yield f"  ... and {count_text(len(merged) - MOST_OUTCOMES, 'outcome')} more"


def _surprises(report: Exploration) -> Iterator[str]:
    found = surprises(report)
    for outcome in found[:MOST_SURPRISES]:
        yield RULE
        yield f"NO INTERLEAVING gives {values_text(shown_values(outcome, report))}; this execution does:"
        yield from execution_text(outcome.witness, report)
    if len(found) > MOST_SURPRISES:
        yield RULE
        yield f"... and {count_text(len(found) - MOST_SURPRISES, 'outcome')} more of no interleaving: --html shows all"


# ---------------------------------------------------------------- executions


def execution_text(execution: Execution, report: Exploration) -> Iterator[str]:
    """Yield the events of an execution, tile block by tile block, and what orders them."""
    drawn = ShownExecution(execution, report.names)
    block = None
    for event in drawn.events:
        if event.block != block:
            block = event.block
            yield f"  tile block {report.names.block(block)}"
        line = "" if event.line is None else f"line {event.line}"
        yield f"    {event.letter}  {event.words:34} {line:8} {_relations(drawn, event.number)}".rstrip()
    for cell, order in drawn.orders():
        yield f"  {report.names.cell(cell)} is written in the order {', '.join(map(drawn.letter, order))}"
    yield from _cycle(drawn)


def _relations(execution: ShownExecution, number: int) -> str:
    parts = []
    for kind, word in _RELATIONS.items():
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


def _fault(fault: FaultFound, report: Exploration) -> Iterator[str]:
    yield RULE
    yield f"ERROR: tileir explore: {fault.kind}: {fault_message(fault, report)}"
    yield from shown_place(fault.loc, _what(fault, 0), report.sources)
    if fault.other is not None:
        yield from shown_place(fault.other, _what(fault, 1), report.sources)
    if fault.why:
        yield f"  why: {WHY[fault.why]}"
    yield f"  in {count_text(fault.executions, 'execution')} of {report.executions:,}, such as"
    yield from execution_text(fault.witness, report)


def _what(fault: FaultFound, at: int) -> str:
    block = f"tile block {fault.blocks[at]}"
    if fault.kind == "race":
        return f"'{fault.ops[at].spec.name}' by {block}"
    return f"{'the loop of' if fault.kind == 'deadlock' else 'by'} {block}"


def _assertions(report: Exploration) -> Iterator[str]:
    for found in report.assertions:
        if not found.failed:
            reached = count_text(found.reached, "execution")
            yield f"{place_text(found.op.loc)}: this assertion cannot fail: reached in {reached}"
    for op in report.unreached:
        yield f"{place_text(op.loc)}: this assertion is never reached"


# ---------------------------------------------------------------- mends, verdicts, and the end


def _mends(report: Exploration) -> Iterator[str]:
    if report.mends:
        yield RULE
    for number, mend in enumerate(report.mends):
        yield mend_title(mend, number)
        yield from (f"  {step}" for step in mend.steps)


def _verdict(verdict: LineVerdict, report: Exploration) -> Iterator[str]:
    told = {id(one.witness) for one in surprises(report)} | {id(one.witness) for one in report.faults}
    if not verdict.holds and verdict.witness is not None and id(verdict.witness) not in told:
        yield RULE
        yield f"this execution ends as line {verdict.line.line} says:"
        yield from execution_text(verdict.witness, report)
    yield verdict_text(verdict)


def _summary(report: Exploration) -> str:
    merged = merged_outcomes(report)
    kinds = Counter(fault.kind for fault in report.faults)
    faults = ", ".join(count_text(number, kind) for kind, number in kinds.items())
    surprising = sum(one.surprising for one in merged)
    parts = [count_text(len(merged), "outcome"), f"{surprising} of no interleaving", faults or "no fault"]
    return f"SUMMARY: tileir explore: {', '.join(parts)} ({'all' if report.complete else 'some'} executions)"
