"""The exploration of a launch, from its program to the report.

An iteration of a `loop` that writes nothing and hands its values on unchanged adds no outcome: an execution without it
exists too, with less order. Such iterations are left out, and the reads that would end them wait for another write.
They could only add a race of their own reads. So one such iteration is explored of a loop whose iteration makes more
than one strong access, and of any loop once a write was seen that is not morally strong with the read it waits on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tileir.explore.blocks import BlockRunner
from tileir.explore.conditions import VerdictLine
from tileir.explore.events import MemoryCell
from tileir.explore.graph import members
from tileir.explore.memory import AnsweringMemory
from tileir.explore.names import LaunchNames
from tileir.explore.program import ModelProgram, ProgramChanges, Reach, Root
from tileir.explore.repairs import mends_of
from tileir.explore.report import ExplorationReport
from tileir.explore.results import Collection
from tileir.explore.rules import ExplorerObserver, LoopLimits
from tileir.explore.search import Execution, Search
from tileir.explore.symmetry import Classes, EqualBlocks, Unequal, classes_without
from tileir.interp.api import LaunchState, Options
from tileir.interp.machine import TABLES
from tileir.interp.prepare import prepare
from tileir.interp.scheduler import coordinates
from tileir.ir.core import Module, Value
from tileir.ir.diagnostics import Coordinates, UnsupportedError
from tileir.ir.types import PointerType
from tileir.ops.control import Loop
from tileir.ops.module import Entry


@dataclass(frozen=True)
class ExploredLaunch:
    """A launch with its arguments in place; `iterations` of a loop are explored."""

    module: Module
    entry: Entry
    grid: Coordinates
    arguments: Sequence[object]
    memory: AnsweringMemory
    iterations: int

    @property
    def blocks(self) -> list[Coordinates]:
        return list(coordinates(self.grid))

    def search(
        self,
        changes: ProgramChanges,
        kept: frozenset[int],
        classes: Classes,
        watched: Sequence[MemoryCell],
        asked: Sequence[str],
    ) -> Search:
        """Return the search for the executions of a changed program, with one iteration more of the loops that are
        `kept`.

        Raises `UnsupportedError` for what the model does not cover.
        """
        program = ModelProgram(self.entry, changes)
        observer = ExplorerObserver(program, LoopLimits(self.iterations, kept))
        function = prepare(self.module, self.entry, TABLES, False, observer).function
        state = LaunchState(self.entry.sym_name, self.grid, self.memory, Options(), self.module.source)
        runner = BlockRunner(function, state, self.blocks, self.arguments)
        equal = EqualBlocks(classes, runner, self.memory.initial, watched)
        return Search(program, equal, self.memory.initial, self._reaches(program), asked)

    def _reaches(self, program: ModelProgram) -> dict[Root, Reach]:
        """Return the extents of the memory that parameters and globals lead to."""
        (body,) = program.entry.regions
        assert body is not None, "an entry has a body"
        given: dict[Root, int] = {}
        given.update(self.memory.globals)
        for parameter, value in zip(body.args, self.arguments):
            if isinstance(value, np.uint64) and _is_pointer(parameter):
                given[parameter] = int(value)
        found = {root: self.memory.find(address) for root, address in given.items()}
        return {root: Reach(one.base, one.end) for root, one in found.items() if one is not None}


def _is_pointer(parameter: Value) -> bool:
    return isinstance(parameter.tile.element, PointerType)


TARGET = "explore"
MOST_VISITED = 100
"""Graphs that are looked at for each execution that the limit allows."""
MOST_EXECUTIONS = 100
"""A repair may have this many times the executions of the faulty program, else it is given up."""


def explored(
    launch: ExploredLaunch, names: LaunchNames, lines: Sequence[VerdictLine], limit: int, mends: bool
) -> ExplorationReport:
    """Explore all executions of a launch, up to a limit, and find the weakest repairs of its faults.

    Raises `UnsupportedError` where the enumerated model does not cover the program.
    """
    report = _explored(launch, names, lines, limit, ProgramChanges())
    if mends:
        most = min(limit, MOST_EXECUTIONS * max(1, report.executions))

        def explore(changes: ProgramChanges) -> ExplorationReport:
            return _explored(launch, names, lines, most, changes)

        report.mends = mends_of(report, ModelProgram(launch.entry), explore)
    return report


def _explored(
    launch: ExploredLaunch, names: LaunchNames, lines: Sequence[VerdictLine], limit: int, changes: ProgramChanges
) -> ExplorationReport:
    program = ModelProgram(launch.entry, changes)
    loops = _Loops(program)
    report = _collected(launch, names, lines, limit, changes, loops)
    if loops.suspicious and not any(fault.kind == "race" for fault in report.faults):
        loops.keep_suspicious()
        report = _collected(launch, names, lines, limit, changes, loops)
    return report


class _Loops:
    """The waiting loops of a program; for those `kept`, an iteration that finds nothing is explored."""

    def __init__(self, program: ModelProgram) -> None:
        self._loop_of: dict[int, int] = {}
        kept = set()
        for op in program.ops:
            if isinstance(op, Loop):
                site = program.only_strong_access(op)
                if site is None:
                    kept.add(program.number(op))
                else:
                    self._loop_of[site.number] = program.number(op)
        self.kept = frozenset(kept)
        self.suspicious: set[int] = set()

    def look(self, execution: Execution) -> None:
        """Notice writes that are not morally strong with what a loop waits on."""
        graph = execution.graph
        for number, event in enumerate(graph.events):
            loop = self._loop_of.get(event.site.number)
            if loop is not None and event.reads and loop not in self.kept:
                others = graph.cells[event.cell] & ~graph.strong_with[number] & ~(1 << number)
                if any(graph.events[other].writes for other in members(others)):
                    self.suspicious.add(loop)

    def keep_suspicious(self) -> None:
        self.kept |= self.suspicious


def _collected(
    launch: ExploredLaunch,
    names: LaunchNames,
    lines: Sequence[VerdictLine],
    limit: int,
    changes: ProgramChanges,
    loops: _Loops,
) -> ExplorationReport:
    """Explore, with those tile blocks taken for equal that no verdict line names, until two of them differ."""
    asked = [name for line in lines for name in line.condition.names]
    watched = [cell for cell, _ in names.watched.values()]
    classes = classes_without(len(launch.blocks), names.named_blocks(asked))
    while True:
        try:
            search = launch.search(changes, loops.kept, classes, watched, asked)
            return _gathered(launch, names, lines, limit, search, loops)
        except Unequal as found:
            classes = found.classes


def _gathered(
    launch: ExploredLaunch,
    names: LaunchNames,
    lines: Sequence[VerdictLine],
    limit: int,
    search: Search,
    loops: _Loops,
) -> ExplorationReport:
    source = launch.module.source
    report = ExplorationReport(
        launch.entry.sym_name,
        launch.grid,
        names,
        search.equal,
        lines,
        iterations=launch.iterations,
        sources=(source,) if source else (),
    )
    collection = Collection(report, search.program.ops, search.commuting)
    for execution in search.executions(MOST_VISITED * limit):
        _require_whole(execution, search, names)
        loops.look(execution)
        collection.add(execution)
        if report.found == limit:
            break
    report.visited, report.exhaustive = search.visited, search.complete
    return report


def _require_whole(execution: Execution, search: Search, names: LaunchNames) -> None:
    """Raise UnsupportedError for ordered accesses that overlap in part; those without order are a race."""
    for one, other in execution.relations.mixed():
        if execution.relations.ordered(one, other):
            first, second = execution.graph.events[one], execution.graph.events[other]
            raise UnsupportedError(
                f"accesses of {first.size} and {second.size} bytes to the same memory, {names.cell(first.cell)}",
                TARGET,
                second.site.access.op.loc,
            )
