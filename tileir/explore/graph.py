"""Execution graphs (spec: memory-model#relations): events, reads-from, coherence order, restricted program order.

Sets of events are integers with a bit for each event. The initial write of a cell is no event; its number is INITIAL.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from tileir.analysis.effects import morally_strong
from tileir.explore.blocks import Answers
from tileir.explore.events import AccessInstruction, ElementEvent, ElementKey, MemoryCell, ModelAccess

INITIAL = -1
"""The source of a read that finds what was there before the launch."""
NOTHING_READ = -2


class Refusal(enum.Enum):
    """Why a read does not read from a write: it cannot, or could, but only as long as no other update takes it; or
    could."""

    IMPOSSIBLE = enum.auto()
    UPDATE = enum.auto()
    READ = enum.auto()


def members(events: int) -> Iterator[int]:
    """Yield the numbers of the events of a set."""
    while events:
        low = events & -events
        yield low.bit_length() - 1
        events ^= low


class Refused(NamedTuple):
    """The writes of a cell that a read has refused."""

    cell: MemoryCell
    writes: dict[int, Refusal]


class ExecutionGraph:
    """Some events of an execution; immutable, grown by copies.

    ``source`` is the write that each event reads from; ``coherence`` the writes of each cell in order, without the
    initial one; ``before`` the events that each waits for by tokens; ``strong_with`` those of the same cell that are
    morally strong with it. ``refused`` are the writes that a read without answer does not read from, and why.
    """

    __slots__ = (
        "answers", "before", "cells", "coherence", "events", "index", "initial", "refused", "source", "strong_with",
    )  # fmt: skip

    def __init__(self, blocks: int, initial: Mapping[MemoryCell, int]) -> None:
        self.initial = initial
        self.events: list[ElementEvent] = []
        self.index: dict[ElementKey, int] = {}
        self.source: list[int] = []
        self.before: list[int] = []
        self.strong_with: list[int] = []
        self.cells: dict[MemoryCell, int] = {}
        self.coherence: dict[MemoryCell, tuple[int, ...]] = {}
        self.answers: tuple[Answers, ...] = (frozenset(),) * blocks
        self.refused: dict[ElementKey, Refused] = {}

    def copy(self) -> ExecutionGraph:
        other = object.__new__(ExecutionGraph)
        other.initial, other.answers = self.initial, self.answers
        other.events, other.index = self.events.copy(), self.index.copy()
        other.source, other.before, other.strong_with = self.source.copy(), self.before.copy(), self.strong_with.copy()
        other.cells, other.coherence, other.refused = self.cells.copy(), self.coherence.copy(), self.refused.copy()
        return other

    # ------------------------------------------------------------ reading it

    def writes(self, cell: MemoryCell) -> tuple[int, ...]:
        """Return the writes of a cell in coherence order, the initial one first."""
        return (INITIAL, *self.coherence.get(cell, ()))

    def value(self, write: int, cell: MemoryCell) -> int:
        """Return the value that a write, or the initial one of a cell, leaves there."""
        found = self.initial[cell] if write == INITIAL else self.events[write].written
        assert found is not None, "a write has a value"
        return found

    def last_value(self, cell: MemoryCell) -> int:
        """Return the final value of a cell."""
        return self.value(self.writes(cell)[-1], cell)

    # ------------------------------------------------------------ growing it

    def refusing(self, key: ElementKey, cell: MemoryCell, writes: dict[int, Refusal]) -> ExecutionGraph:
        """Return the graph in which a read of a cell is not answered from these writes."""
        other = self.copy()
        other.refused[key] = Refused(cell, {**self.refused_by(key), **writes})
        return other

    def refused_by(self, key: ElementKey) -> dict[int, Refusal]:
        return self.refused[key].writes if key in self.refused else {}

    def choices(self, refused: Refused) -> Iterator[int]:
        """Yield the writes that a read has refused and could still read from."""
        for write, why in refused.writes.items():
            if why is Refusal.READ or (why is Refusal.UPDATE and not self.is_taken(write, refused.cell)):
                yield write

    def is_taken(self, write: int, cell: MemoryCell) -> bool:
        """Return whether an update that has read from a write leaves it to no other one of a wide scope."""
        following = self.writes(cell)[self.writes(cell).index(write) + 1 :]
        if not following:
            return False
        event = self.events[following[0]]
        return event.updates and event.site.wide and self.source[following[0]] == write

    def with_write(self, key: ElementKey, instruction: AccessInstruction, position: int) -> ExecutionGraph:
        """Return the graph with a store, at a position in the coherence order of its cell."""
        other = self.copy()
        other._add(_event(key, instruction, None, instruction.written[key.lane]), NOTHING_READ, position)
        return other

    def answer(self, key: ElementKey, cell: MemoryCell, write: int) -> Answers:
        """Return the answers of the tile block of a read when that reads from `write`."""
        block = key.instance.block
        return self.answers[block] | {(key, self.value(write, cell))}

    def with_read(
        self, key: ElementKey, instruction: AccessInstruction, write: int, answers: Answers, position: int
    ) -> ExecutionGraph:
        """Return the graph with a read from `write`; if it writes, at a position of the coherence order.

        `instruction` is that of a run with the answer, `answers` those of the tile block with it.
        """
        other, cell, block = self.copy(), instruction.cells[key.lane], key.instance.block
        other.answers = (*self.answers[:block], answers, *self.answers[block + 1 :])
        other.refused.pop(key, None)
        other._add(_event(key, instruction, self.value(write, cell), instruction.written[key.lane]), write, position)
        return other

    def changed(self, sites: Mapping[int, ModelAccess], before: Sequence[int]) -> ExecutionGraph:
        """Return the same execution for accesses with other orderings and scopes, which wait for `before`."""
        other = self.copy()
        other.events = [replace(event, site=sites[event.site.number]) for event in self.events]
        other.before, other.strong_with = list(before), [0] * len(self.events)
        for number, event in enumerate(other.events):
            for one in members(self.cells[event.cell] & ((1 << number) - 1)):
                other._mark_strong(one, number)
        return other

    def _add(self, event: ElementEvent, write: int, position: int) -> None:
        if event.writes:
            order = self.coherence.get(event.cell, ())
            self.coherence[event.cell] = (*order[:position], len(self.events), *order[position:])
        self._append(event, write)

    def _append(self, event: ElementEvent, write: int) -> None:
        number, bit = len(self.events), 1 << len(self.events)
        before = 0
        for other, one in enumerate(self.events):
            if one.key.instance in event.before:
                before |= 1 << other
            if event.key.instance in one.before:
                self.before[other] |= bit
        self.events.append(event)
        self.index[event.key] = number
        self.source.append(write)
        self.before.append(before)
        self.strong_with.append(0)
        for other in members(self.cells.get(event.cell, 0)):
            self._mark_strong(other, number)
        self.cells[event.cell] = self.cells.get(event.cell, 0) | bit

    def _mark_strong(self, one: int, other: int) -> None:
        """Note whether two events of a cell are morally strong."""
        ordered = self.before[one] >> other & 1 or self.before[other] >> one & 1
        if ordered or morally_strong(self.events[one], self.events[other]):
            self.strong_with[one] |= 1 << other
            self.strong_with[other] |= 1 << one


def _event(key: ElementKey, instruction: AccessInstruction, read: int | None, written: int | None) -> ElementEvent:
    return ElementEvent(key, instruction.site, instruction.cells[key.lane], instruction.before, read, written)


Operation = tuple[int, tuple[int, ...]]
"""A tile block and a position in program order."""
Step = tuple[int, int, str]
"""An event that must come before another, and the relation that asks for it: po, rf, co or fr."""


def _steps(graph: ExecutionGraph) -> Iterator[Step]:
    """Yield the direct ordering steps, without those that follow from others."""
    last: dict[int, tuple[int, tuple[int, ...]]] = {}
    order = sorted(range(len(graph.events)), key=lambda one: (graph.events[one].block, graph.events[one].position))
    for number in order:
        event = graph.events[number]
        known = last.get(event.block)
        if known is not None and known[1] != event.position:
            yield known[0], number, "po"
        if known is None or known[1] != event.position:
            last[event.block] = (number, event.position)
    for number, source in enumerate(graph.source):
        if graph.events[number].reads:
            writes = graph.writes(graph.events[number].cell)
            following = writes[writes.index(source) + 1 :]
            if source != INITIAL:
                yield source, number, "rf"
            if following and following[0] != number:
                yield number, following[0], "fr"
    for writes in graph.coherence.values():
        yield from ((one, other, "co") for one, other in itertools.pairwise(writes))


def _operation(graph: ExecutionGraph, number: int) -> Operation:
    return graph.events[number].block, graph.events[number].position


def interleaving_cycle(graph: ExecutionGraph) -> list[Step]:
    """Return the shortest circle of operations that must each come before the next; empty if there is none."""
    following: dict[Operation, dict[Operation, Step]] = {}
    for step in _steps(graph):
        one, other = _operation(graph, step[0]), _operation(graph, step[1])
        if one != other:
            following.setdefault(one, {}).setdefault(other, step)
    found = (_circle(following, start) for start in following)
    return min((circle for circle in found if circle), key=len, default=[])


def _circle(following: dict[Operation, dict[Operation, Step]], start: Operation) -> list[Step]:
    """Return the shortest way from an operation back to it."""
    ways: dict[Operation, list[Step]] = {start: []}
    work = [start]
    for one in work:
        for other, step in following.get(one, {}).items():
            if other == start:
                return [*ways[one], step]
            if other not in ways:
                ways[other] = [*ways[one], step]
                work.append(other)
    return []


def is_interleaving(graph: ExecutionGraph) -> bool:
    """Return whether executing whole operations one after the other, each tile block in program order, gives this
    execution."""
    return not interleaving_cycle(graph)
