"""Conclusions from the executions of a launch: outcomes, faults, verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tileir.explore.changes import Mend
from tileir.explore.conditions import Number, VerdictLine
from tileir.explore.events import ElementEvent
from tileir.explore.graph import is_interleaving
from tileir.explore.model import Conflicting
from tileir.explore.names import LaunchNames
from tileir.explore.search import Execution
from tileir.explore.symmetry import EqualBlocks
from tileir.interp.cells import CELLS
from tileir.ir.core import Op
from tileir.ir.diagnostics import Coordinates
from tileir.ir.loc import Location, Source
from tileir.ir.types import ElementType
from tileir.ops.control import Assert

FAULT_KINDS = {
    "race": "two accesses conflict, and nothing orders them: the behaviour of the whole program is undefined",
    "deadlock": "tile blocks wait for what no other can do any more",
    "assert": "an assertion of the program fails",
    "trap": "an operation has no defined result",
}


@dataclass
class OutcomeFound:
    """One outcome: what executions end with, how many do, and one of them.

    ``surprising``: no interleaving of whole operations ends so.
    """

    values: dict[str, Number]
    witness: Execution
    executions: int = 0
    surprising: bool = True


@dataclass
class FaultFound:
    """A fault, with one execution that has it. ``events`` are the two events of a race, ``why`` the reason that nothing
    orders them; ``blocks`` the tile blocks concerned."""

    kind: str
    witness: Execution
    loc: Location
    message: str = ""
    other: Location | None = None
    ops: tuple[Op, ...] = ()
    events: tuple[ElementEvent, ...] = ()
    why: str = ""
    blocks: tuple[Coordinates, ...] = ()
    executions: int = 0


@dataclass
class AssertionFound:
    """An assertion: in how many executions it is reached, and fails."""

    op: Op
    reached: int = 0
    failed: int = 0


@dataclass(frozen=True)
class LineVerdict:
    """The verdict on a line, with the reason and, if there is one, an execution that shows it."""

    line: VerdictLine
    holds: bool
    reason: str
    witness: Execution | None = None


@dataclass
class Exploration:
    """All that was found. `ok` when every verdict line holds and, without one, when there is no fault.

    Of what differs by an exchange of ``equal`` tile blocks one is told; `exchanged` gives the others. ``executions``
    counts all consistent executions, ``found`` those told, ``visited`` the graphs looked at on the way; ``cut`` are
    executions left where a loop had more iterations than are explored. Not ``exhaustive``: the limit was reached.
    ``shows`` has an execution that satisfies each verdict line that one does, by the number of the line.
    """

    kernel: str
    grid: Coordinates
    names: LaunchNames
    equal: EqualBlocks
    lines: Sequence[VerdictLine] = ()
    shows: dict[int, Execution] = field(default_factory=dict)
    outcomes: list[OutcomeFound] = field(default_factory=list)
    faults: list[FaultFound] = field(default_factory=list)
    assertions: list[AssertionFound] = field(default_factory=list)
    unreached: list[Op] = field(default_factory=list)
    mends: list[Mend] = field(default_factory=list)
    executions: int = 0
    found: int = 0
    visited: int = 0
    cut: int = 0
    iterations: int = 0
    exhaustive: bool = True
    sources: tuple[Source, ...] = ()

    @property
    def ok(self) -> bool:
        if self.lines:
            return all(verdict.holds for verdict in self.verdicts)
        return not self.faults

    @property
    def complete(self) -> bool:
        """True if these are all executions that the model allows."""
        return self.exhaustive and not self.cut

    @property
    def surprising(self) -> list[OutcomeFound]:
        """The outcomes that no interleaving has."""
        return [outcome for outcome in self.outcomes if outcome.surprising]

    @cached_property
    def verdicts(self) -> list[LineVerdict]:
        """Return the verdict on each verdict line of the program."""
        return [_judged(line, self) for line in self.lines]

    def exchanged(self, outcome: OutcomeFound) -> Iterator[dict[str, Number]]:
        """Yield the values of an outcome, and those of each that an exchange of equal tile blocks makes of it."""
        seen = set()
        for exchange in self.equal.exchanges():
            values = self.names.exchanged(outcome.values, exchange, self.equal)
            key = frozenset(values.items())
            if key not in seen:
                seen.add(key)
                yield values

    def __iter__(self) -> Iterator[OutcomeFound]:
        return iter(self.outcomes)


class Collection:
    """Gathers executions into a report; the results of the ``untold`` operations are left out."""

    def __init__(self, report: Exploration, ops: Sequence[Op], untold: frozenset[int]) -> None:
        self._report = report
        self._ops, self._untold = ops, untold
        self._outcomes: dict[tuple[tuple[str, Number], ...], OutcomeFound] = {}
        self._faults: dict[object, FaultFound] = {}
        self._assertions: dict[Op, AssertionFound] = {}

    def add(self, execution: Execution) -> None:
        report = self._report
        report.found += 1
        report.executions += execution.arrangements
        report.cut += execution.cut * execution.arrangements
        self._add_races(execution)
        self._add_ends(execution)
        values: dict[str, Number] = {}
        if not execution.stuck and not execution.cut:
            values = end_values(execution, report.names, self._ops, self._untold)
            self._add_outcome(execution, values)
        self._try_lines(execution, values)
        report.outcomes, report.faults = list(self._outcomes.values()), list(self._faults.values())
        report.assertions = list(self._assertions.values())
        report.unreached = [op for op in self._ops if isinstance(op, Assert) and op not in self._assertions]

    def _try_lines(self, execution: Execution, values: dict[str, Number]) -> None:
        left = [line for line in self._report.lines if line.line not in self._report.shows]
        faults = faults_of(execution) if left else frozenset()
        for line in left:
            if line.condition.holds(values, faults):
                self._report.shows[line.line] = execution

    def _add_outcome(self, execution: Execution, values: dict[str, Number]) -> None:
        key = tuple(sorted(self._report.names.in_order(values, self._report.equal).items()))
        found = self._outcomes.setdefault(key, OutcomeFound(values, execution))
        found.executions += execution.arrangements
        if found.surprising and is_interleaving(execution.graph):
            found.surprising, found.witness, found.values = False, execution, values

    def _add_races(self, execution: Execution) -> None:
        racy: dict[int, FaultFound] = {}
        for race in execution.relations.races():
            found = self._race(execution, race)
            sites = frozenset(event.site.number for event in found.events)
            known = self._faults.setdefault(("race", sites, found.why), found)
            racy[id(known)] = known
        for known in racy.values():
            known.executions += execution.arrangements

    def _race(self, execution: Execution, race: Conflicting) -> FaultFound:
        events = tuple(sorted((execution.graph.events[race.one], execution.graph.events[race.other]), key=_order))
        blocks = tuple(self._report.names.blocks[event.block] for event in events)
        ops = tuple(event.site.access.op for event in events)
        return FaultFound("race", execution, ops[0].loc, "", ops[1].loc, ops, events, race.why, blocks)

    def _add_ends(self, execution: Execution) -> None:
        self._add_assertions(execution)
        for number, run in enumerate(execution.runs):
            block = self._report.names.blocks[number]
            kind = {"assert": "assert", "trap": "trap"}.get(run.status)
            if run.status == "waiting" and execution.stuck:
                kind = "deadlock"
            if kind is not None:
                found = FaultFound(kind, execution, run.loc, run.message, blocks=(block,))
                self._faults.setdefault((kind, run.loc), found).executions += execution.arrangements

    def _add_assertions(self, execution: Execution) -> None:
        failed = [run.loc for run in execution.runs if run.status == "assert"]
        for op in frozenset[Op]().union(*(run.reached for run in execution.runs)):
            known = self._assertions.setdefault(op, AssertionFound(op))
            known.reached += execution.arrangements
            known.failed += (op.loc in failed) * execution.arrangements


def _order(event: ElementEvent) -> tuple[int, tuple[int, ...], int]:
    return event.block, event.position, event.key.lane


def faults_of(execution: Execution) -> frozenset[str]:
    """Return the faults of an execution."""
    found = {run.status for run in execution.runs if run.status in ("assert", "trap")}
    if execution.stuck:
        found.add("deadlock")
    if next(execution.relations.races(), None) is not None:
        found.add("race")
    return frozenset(found)


def end_values(
    execution: Execution, names: LaunchNames, ops: Sequence[Op], untold: frozenset[int]
) -> dict[str, Number]:
    """Return the final values of an execution: the last results of accesses, and memory that was written."""
    values: dict[str, Number] = {}
    for number, run in enumerate(execution.runs):
        for op, tile in sorted(run.values.items()):
            if op not in untold:
                values |= _tile_values(names.value(number, ops[op], op), tile)
    graph = execution.graph
    for cell, order in graph.coherence.items():
        if not names.private(cell):
            values[names.cell(cell)] = typed(graph.last_value(cell), graph.events[order[-1]].site.element)
    for name, (cell, element) in names.watched.items():
        if name not in values:
            values[name] = typed(names.before(cell), element)
    return values


def _tile_values(name: str, tile: np.ndarray) -> dict[str, Number]:
    if tile.ndim == 0:
        return {name: tile.item()}
    return {f"{name}[{','.join(map(str, index))}]": tile[index].item() for index in np.ndindex(tile.shape)}


def typed(bits: int, element: ElementType) -> Number:
    """Return the number that the bits of an element encode."""
    cell = CELLS[element]
    raw = np.array([bits], f"u{cell.size}").view(cell.raw)
    found: Number = cell.to_tile(raw)[0].item()
    return found


def _judged(line: VerdictLine, report: Exploration) -> LineVerdict:
    condition = line.condition
    racy = any(fault.kind == "race" for fault in report.faults)
    if racy and "race" not in condition.faults:
        return LineVerdict(line, False, "the program has a race: its behaviour is undefined")
    shown = report.shows.get(line.line)
    if line.kind == "exists":
        if shown is not None:
            return LineVerdict(line, True, "an execution ends so", shown)
        return LineVerdict(line, False, _none(report))
    if shown is not None:
        return LineVerdict(line, False, "an execution ends so", shown)
    return LineVerdict(line, report.complete, _none(report))


def _none(report: Exploration) -> str:
    return "no execution ends so" if report.complete else "none of the executions explored ends so"
