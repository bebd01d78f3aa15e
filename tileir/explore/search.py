"""The enumeration of all consistent executions of a launch (spec: race-detector#enumerator).

Partial-order reduction by reads-from, as in stateless model checkers for weak memory (GenMC, Nidhugg): what is
enumerated is not the order in which tile blocks take turns, but for each read the write that it reads from, and for
each write its place in the coherence order of its cell. Events are added one at a time, in an order that depends on the
graph alone. A read takes each write that is there, or refuses them all and waits: when a write to its cell is added
later, it is asked again. As an execution says for each read which write it is, and the next event is fixed, there is
exactly one way to each execution: none is visited twice. A branch in which a read waits for a write that can no longer
come is given up at once, and so is a graph that is not consistent, for every axiom that it breaks is broken in all
that grow from it. Of graphs that differ by an exchange of equal tile blocks one is grown (`symmetry`).

A value cannot justify itself: an event is added only when the reads that it depends on have been answered (`blocks`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tileir.explore.blocks import BlockRun
from tileir.explore.events import AccessInstruction, ElementKey, MemoryCell
from tileir.explore.graph import INITIAL, ExecutionGraph, Refusal, members
from tileir.explore.model import DerivedRelations
from tileir.explore.program import ModelProgram, Reach, Root
from tileir.explore.symmetry import EqualBlocks
from tileir.ir.diagnostics import UnsupportedError

TARGET = "explore"
MOST_EVENTS = 1024
"""Elements that the accesses of one execution may have together."""


@dataclass(frozen=True)
class Execution:
    """A consistent execution: the graph, its relations, and how each tile block ended.

    ``stuck``: tile blocks wait for what no other can do any more. ``cut``: a loop had more iterations than are
    explored, so that more could follow. It stands for ``arrangements`` executions, by exchanges of equal tile blocks.
    """

    graph: ExecutionGraph
    relations: DerivedRelations
    runs: tuple[BlockRun, ...]
    stuck: bool = False
    arrangements: int = 1

    @property
    def cut(self) -> bool:
        return any(run.status == "bounded" for run in self.runs)


class _Lane(NamedTuple):
    """An element of an instruction that is not in the graph yet."""

    key: ElementKey
    instruction: AccessInstruction

    @property
    def cell(self) -> MemoryCell:
        return self.instruction.cells[self.key.lane]

    @property
    def block(self) -> int:
        return self.key.instance.block

    @property
    def op(self) -> int:
        return self.key.instance.op

    @property
    def wide(self) -> bool:
        return self.instruction.site.wide

    @property
    def always_updates(self) -> bool:
        """True for an update of a wide scope that writes whatever it reads."""
        return self.wide and self.instruction.site.access.updates and self.instruction.site.access.expected is None

    @property
    def reads(self) -> bool:
        return self.instruction.site.access.reads


class Search:
    """The executions of one launch, by `executions`; `visited` counts the graphs looked at."""

    def __init__(
        self,
        program: ModelProgram,
        equal: EqualBlocks,
        initial: dict[MemoryCell, int],
        reaches: dict[Root, Reach],
        asked: Sequence[str],
    ) -> None:
        self.visited = 0
        self.complete = False
        self.program = program
        self.commuting = program.commuting(reaches, asked)
        self.equal = equal
        self._initial = initial
        self._reaches = reaches

    def executions(self, most: int) -> Iterator[Execution]:
        """Yield each consistent execution once, and those in which tile blocks wait for ever.

        Ends when `most` graphs have been looked at; `complete` says whether that was all.
        """
        stack = [ExecutionGraph(self.equal.count, self._initial)]
        while stack:
            if self.visited == most:
                return
            graph = stack.pop()
            if not self.equal.is_new(graph):
                continue
            self.visited += 1
            runs = self._runs(graph)
            lanes = self._missing(graph, runs)
            following = self._following(graph, runs, lanes)
            if following is not None:
                stack.extend(following)
            elif not lanes:
                stuck = any(run.status == "waiting" for run in runs)
                yield self._execution(graph, runs, stuck)
            else:
                yield from self._stuck(graph)
        self.complete = True

    def _execution(self, graph: ExecutionGraph, runs: tuple[BlockRun, ...], stuck: bool) -> Execution:
        return Execution(graph, DerivedRelations(graph), runs, stuck, self.equal.arrangements(graph))

    def _runs(self, graph: ExecutionGraph) -> tuple[BlockRun, ...]:
        return tuple(self.equal.run(block, answers) for block, answers in enumerate(graph.answers))

    def _missing(self, graph: ExecutionGraph, runs: tuple[BlockRun, ...]) -> list[_Lane]:
        """Return the events that may be added: writes first, then reads, those of waiting loops last; then updates
        whose order nothing tells."""
        found = [
            _Lane(key, instruction)
            for run in runs
            for instruction in run.instructions
            for lane in range(len(instruction.cells))
            if (key := ElementKey(instruction.instance, lane)) not in graph.index
        ]
        if len(found) + len(graph.events) > MOST_EVENTS:
            what = f"a launch that accesses more than {MOST_EVENTS} elements; smaller tiles have the same outcomes"
            raise UnsupportedError(what, TARGET, found[-1].instruction.site.access.op.loc)
        return sorted(found, key=self._turn)

    def _turn(self, lane: _Lane) -> int:
        return 3 if lane.op in self.commuting else lane.reads + lane.instruction.awaits * lane.reads

    def _following(
        self, graph: ExecutionGraph, runs: tuple[BlockRun, ...], lanes: list[_Lane]
    ) -> list[ExecutionGraph] | None:
        """Return the consistent graphs with one choice more; None if there is no choice left."""
        for lane in lanes:
            if lane.op in self.commuting:
                return self._in_some_order(graph, lanes[lanes.index(lane) :])
            if not lane.reads:
                return list(self._written(graph, lane))
            refused = graph.refused_by(lane.key)
            choices = [write for write in graph.writes(lane.cell) if write not in refused]
            if choices:
                reads = {write: list(self._read(graph, lane, write)) for write in choices}
                waiting = graph.refusing(
                    lane.key, lane.cell, {write: _refusal(lane, reads[write]) for write in choices}
                )
                found = [graph for write in reversed(choices) for graph in reversed(reads[write])]
                return [waiting, *found] if self._may_wait(waiting, runs, lanes) else found
        return None if self._may_wait(graph, runs, lanes) else []

    # ------------------------------------------------------------ one event more

    def _written(self, graph: ExecutionGraph, lane: _Lane) -> Iterator[ExecutionGraph]:
        """Yield the graph with a store, at each place in the coherence order that the axioms allow."""
        for position in range(len(graph.coherence.get(lane.cell, ())) + 1):
            found = graph.with_write(lane.key, lane.instruction, position)
            if DerivedRelations(found).consistent():
                yield found

    def _read(self, graph: ExecutionGraph, lane: _Lane, write: int) -> Iterator[ExecutionGraph]:
        """Yield the graph with a read from `write`, and what it writes as part of the same step."""
        if lane.always_updates and graph.is_taken(write, lane.cell):
            return
        answers = graph.answer(lane.key, lane.cell, write)
        run = self.equal.run(lane.block, answers)
        if run.status == "waiting":
            return
        instruction = _instruction(run, lane)
        for position in self._positions(graph, lane, instruction, write):
            found = graph.with_read(lane.key, instruction, write, answers, position)
            if DerivedRelations(found).consistent():
                yield found

    def _in_some_order(self, graph: ExecutionGraph, lanes: list[_Lane]) -> list[ExecutionGraph]:
        """Return the graph with one of the updates whose order nothing tells, as the last of its cell: one that no
        other of them happens before."""
        left, before = {lane.key.instance for lane in lanes}, DerivedRelations(graph).happens_before
        for lane in lanes:
            waits = set(lane.instruction.before)
            for number, event in enumerate(graph.events):
                if event.key.instance in lane.instruction.before:
                    waits = waits.union(event.before, *(graph.events[one].before for one in members(before[number])))
            if not waits & left:
                return list(self._read(graph, lane, graph.writes(lane.cell)[-1]))
        raise AssertionError("happens-before has no cycle")

    def _positions(self, graph: ExecutionGraph, lane: _Lane, instruction: AccessInstruction, write: int) -> range:
        """Return the places in coherence order for what an access writes that reads from `write`."""
        if instruction.written[lane.key.lane] is None:
            return range(1)
        order = graph.coherence.get(lane.cell, ())
        if not lane.wide or not (write == INITIAL or graph.events[write].site.wide):
            return range(len(order) + 1)
        first = 0 if write == INITIAL else order.index(write) + 1
        strong = (at for at in range(first, len(order)) if graph.events[order[at]].site.wide)
        return range(first, next(strong, len(order)) + 1)

    # ------------------------------------------------------------ reads that wait for a write

    def _may_wait(self, graph: ExecutionGraph, runs: tuple[BlockRun, ...], lanes: list[_Lane]) -> bool:
        """Return whether each read that has refused all writes so far may still be answered, or may wait for ever."""
        return all(
            self._may_come(lane, runs, lanes) or (lane.instruction.awaits and self._waits_for_ever(graph, lane))
            for lane in lanes
            if lane.reads and set(graph.writes(lane.cell)) <= graph.refused_by(lane.key).keys()
        )

    def _may_come(self, read: _Lane, runs: tuple[BlockRun, ...], lanes: list[_Lane]) -> bool:
        """Return whether another write to the cell of a read may be added later."""
        if any(lane.cell == read.cell and lane.instruction.site.access.writes and lane is not read for lane in lanes):
            return True
        return any(
            block != read.block or not self._waits_on(run, number, read)
            for block, run in enumerate(runs)
            for number in self._writers(run, read)
        )

    def _writers(self, run: BlockRun, read: _Lane) -> Iterator[int]:
        """Yield the operations of a tile block that may still write the cell of a read, and do not wait for its
        token."""
        later = run.skipped if run.stopped is None else run.skipped | self.program.following(run.stopped)
        yield from (number for number in later if self._may_write(number, read.cell))
        for store in run.promised:
            if read.cell in store.cells and read.key.instance not in store.before:
                yield store.op

    def _waits_on(self, run: BlockRun, number: int, read: _Lane) -> bool:
        """Return whether an operation runs only after a read of the same tile block is answered."""
        instance = read.key.instance
        if not instance.path and instance.op in self.program.needs(self.program.ops[number]):
            return True
        here = run.stopped is not None and number not in run.skipped and run.path[: len(instance.path)] == instance.path
        return here and run.stopped is not None and instance.op in self.program.needs(run.stopped)

    def _may_write(self, number: int, cell: MemoryCell) -> bool:
        roots = self.program.roots(number)
        if roots is None:
            return True
        reaches = (self._reaches.get(root) for root in roots)
        return any(reach is None or (reach.low < cell.end and cell.address < reach.high) for reach in reaches)

    def _waits_for_ever(self, graph: ExecutionGraph, lane: _Lane) -> bool:
        """Return whether a loop keeps waiting when it finds the final values."""
        answers = graph.answer(lane.key, lane.cell, graph.writes(lane.cell)[-1])
        run = self.equal.run(lane.block, answers)
        path = lane.key.instance.path
        return run.status == "waiting" or (run.status == "pending" and run.path[: len(path)] == path)

    def _stuck(self, graph: ExecutionGraph) -> Iterator[Execution]:
        """Yield the execution in which all reads that wait find what is there in the end, if no loop goes on for
        that."""
        while True:
            runs = self._runs(graph)
            lane = next((one for one in self._missing(graph, runs) if runs[one.block].status != "waiting"), None)
            if lane is None:
                break
            grown = self._read_last(graph, lane)
            if grown is None:
                return
            graph = grown
        if any(run.status == "waiting" for run in runs):
            yield self._execution(graph, runs, stuck=True)

    def _read_last(self, graph: ExecutionGraph, lane: _Lane) -> ExecutionGraph | None:
        """Return the graph in which a waiting read finds the last write; None if it need not wait then, or may not."""
        if not (lane.reads and lane.instruction.awaits):
            return None
        write = graph.writes(lane.cell)[-1]
        answers = graph.answer(lane.key, lane.cell, write)
        instruction = _instruction(self.equal.run(lane.block, answers), lane)
        if instruction.written[lane.key.lane] is not None:
            return None
        found = graph.with_read(lane.key, instruction, write, answers, 0)
        return found if DerivedRelations(found).consistent() else None


def _refusal(lane: _Lane, found: Sequence[ExecutionGraph]) -> Refusal:
    """Return what a read refuses that could be one of these graphs."""
    if not found:
        return Refusal.IMPOSSIBLE
    return Refusal.UPDATE if lane.wide and found[0].events[-1].writes else Refusal.READ


def _instruction(run: BlockRun, lane: _Lane) -> AccessInstruction:
    """Return the instruction of a lane in another run of its tile block."""
    return next(one for one in run.instructions if one.instance == lane.key.instance)
