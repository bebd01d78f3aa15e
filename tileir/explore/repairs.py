"""The weakest repair of a faulty program: the fewest changes that make all its executions right.

Orderings, scopes and tokens change neither what tile blocks compute nor which accesses they make. So a wrong execution
stays one of the changed program unless it becomes inconsistent or right, which its graph shows. Changes are tried in
the order of their cost; those that leave no wrong execution seen so far are explored in full, and a new wrong execution
is added to the known ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from tileir.explore.changes import AccessChange, Mend, Strengthening, change_words, changes_of, combined
from tileir.explore.events import ModelAccess
from tileir.explore.graph import ExecutionGraph, members
from tileir.explore.model import DerivedRelations
from tileir.explore.program import ModelProgram, ProgramChanges
from tileir.explore.results import Exploration
from tileir.explore.search import Execution
from tileir.ir.diagnostics import UnsupportedError

MOST_COST = 4
MOST_TRIED = 20_000
"""Combinations of changes that are held against the executions seen."""
MOST_EXPLORED = 100
MOST_MENDS = 3

Explore = Callable[[ProgramChanges], Exploration]


def mends_of(report: Exploration, program: ModelProgram, explore: Explore) -> list[Mend]:
    """Return the weakest repairs for the faults of a report; empty if none is found, or if nothing is wrong."""
    wrong = _wrong(report)
    if not wrong or any(fault.kind != "race" for fault in report.faults):
        return []
    search = _MendSearch(program, report, explore)
    for found in wrong:
        search.note(found)
    return search.mends()


@dataclass(frozen=True)
class _Wrong:
    """A wrong execution, and whether it is wrong by its races alone."""

    execution: Execution
    by_race: bool


def _wrong(report: Exploration) -> list[_Wrong]:
    """Return executions of a report that show what is wrong with it."""
    found = [_Wrong(fault.witness, fault.kind == "race") for fault in report.faults]
    racy = any(one.by_race for one in found)
    for line in report.lines:
        shown = report.shows.get(line.line)
        if line.kind != "exists" and shown is not None and not (racy and "race" in line.condition.faults):
            found.append(_Wrong(shown, False))
    return found


class _MendSearch:
    def __init__(self, program: ModelProgram, report: Exploration, explore: Explore) -> None:
        self._program = program
        self._report = report
        self._explore = explore
        self._weak = not any(fault.kind == "race" for fault in report.faults)
        self._witnesses: list[_Witness] = []
        self._explored = 0

    def note(self, wrong: _Wrong) -> None:
        self._witnesses.append(_Witness(wrong, self._program))

    def mends(self) -> list[Mend]:
        """Return up to three repairs of the lowest cost; else one from which nothing can be left out."""
        found: list[Mend] = []
        for tried, chosen in enumerate(self._candidates()):
            if tried > MOST_TRIED or (found and _cost(chosen) > found[0].cost) or len(found) == MOST_MENDS:
                break
            if self._is_right(chosen):
                found.append(self._mend(chosen, True))
        return found or self._reduced()

    def _mend(self, chosen: Sequence[AccessChange], weakest: bool) -> Mend:
        changes = combined(self._program, chosen)
        assert changes is not None, "changes that have been explored go together"
        return Mend(changes, tuple(change_words(self._program, changes)), _cost(chosen), weakest)

    def _reduced(self) -> list[Mend]:
        """Return all changes together, reduced by each one that is not needed, costly ones first."""
        chosen = self._units()[::-1]
        if not self._is_right(chosen):
            return []
        for change in sorted(chosen, key=lambda change: (-change.cost, change.kind is None)):
            fewer = [one for one in chosen if one != change and not _needs(one, change)]
            if change in chosen and self._is_right(fewer):
                chosen = fewer
        return [self._mend(chosen, False)]

    def _candidates(self) -> Iterator[Sequence[AccessChange]]:
        """Yield changes that may help, cheapest first; tokens before scopes and orderings."""
        units = self._units()
        for cost in range(1, MOST_COST + 1):
            for count in range(1, cost + 1):
                yield from (chosen for chosen in combinations(units, count) if _cost(chosen) == cost)

    def _units(self) -> list[AccessChange]:
        """Return the changes of what the wrong executions do, those of tokens first."""
        found: dict[AccessChange, None] = {}
        for witness in self._witnesses:
            found |= dict.fromkeys(witness.tokens())
        sites = sorted({number for witness in self._witnesses for number in witness.sites})
        others = [change for number in sites for change in changes_of(self._program.sites[number])]
        return [*found, *sorted(others, key=lambda change: change.cost)]

    def _is_right(self, chosen: Sequence[AccessChange]) -> bool:
        """Return whether every execution of the changed program is right; note one that is not."""
        changes = combined(self._program, chosen)
        if changes is None or not all(witness.mended(self._program, changes) for witness in self._witnesses):
            return False
        if self._explored == MOST_EXPLORED:
            return False
        self._explored += 1
        try:
            report = self._explore(changes)
        except UnsupportedError:  # accesses that overlap in part, and are ordered now
            return False
        found = _wrong(report)
        if not self._weak:
            found += [_Wrong(outcome.witness, False) for outcome in report.surprising]
        if found:
            self.note(found[0])
        return report.exhaustive and not found


def _cost(chosen: Sequence[AccessChange]) -> int:
    return sum(change.cost for change in chosen)


def _needs(one: AccessChange, other: AccessChange) -> bool:
    """Return whether a change requires another: an ordering requires a strong access."""
    return other.kind is Strengthening.STRONG and one.target == other.target and one.kind is not None


class _Witness:
    """A wrong execution, as it would be in a changed program."""

    def __init__(self, wrong: _Wrong, program: ModelProgram) -> None:
        self._wrong = wrong
        self._graph: ExecutionGraph = wrong.execution.graph
        events = self._graph.events
        self.sites = {event.site.number for event in events}
        self._order = sorted(range(len(events)), key=lambda one: (events[one].block, events[one].position))
        self._before = self._graph.before

    def tokens(self) -> Iterator[AccessChange]:
        """Yield tokens from one access to a later one of its tile block that does not wait for it yet."""
        events = self._graph.events
        found: dict[AccessChange, int] = {}
        for at, one in enumerate(self._order):
            for distance, other in enumerate(self._order[at + 1 :]):
                first, second = events[one], events[other]
                apart = first.block == second.block and first.position != second.position
                if apart and not self._before[other] >> one & 1:
                    change = AccessChange(second.site.number, None, first.site.number)
                    found[change] = min(found.get(change, distance), distance)
        yield from sorted(found, key=lambda change: found[change])

    def mended(self, program: ModelProgram, changes: ProgramChanges) -> bool:
        """Return whether the changed program has no such execution, or the execution is right."""
        sites: dict[int, ModelAccess] = {number: _changed_site(program.sites[number], changes) for number in self.sites}
        graph = self._graph.changed(sites, self._waiting(changes))
        relations = DerivedRelations(graph)
        if not relations.consistent():
            return True
        return self._wrong.by_race and next(relations.races(), None) is None

    def _waiting(self, changes: ProgramChanges) -> list[int]:
        """Return the events that each waits for when tokens are added."""
        events, before = self._graph.events, list(self._before)
        latest: dict[tuple[int, int], int] = {}
        for number in self._order:
            event = events[number]
            for source, target in changes.tokens:
                if target == event.site.number:
                    before[number] |= latest.get((event.block, source), 0)
            for one in members(before[number]):
                before[number] |= before[one]
            before[number] &= ~_same_instruction(self._graph, number)
            key = (event.block, event.site.number)
            latest[key] = _same_instruction(self._graph, number) | before[number]
        return before


def _same_instruction(graph: ExecutionGraph, number: int) -> int:
    instance = graph.events[number].key.instance
    return sum(1 << other for other, event in enumerate(graph.events) if event.key.instance == instance)


def _changed_site(site: ModelAccess, changes: ProgramChanges) -> ModelAccess:
    how = changes.orderings.get(site.number)
    return site if how is None else replace(site, ordering=how[0], scope=how[1])
