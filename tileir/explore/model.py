"""The axioms of the memory model (spec: memory-model#axioms) and its data races, on execution graphs.

There are no values out of thin air: the search only adds an event once all that it depends on has been read. Coherence
is a total order of the writes of each cell, also of writes that race. Accesses of different sizes have different cells
here; `mixed` finds those that overlap.

`RELATIONS` and `AXIOMS` are the model in rows; `tileir explore --model` prints them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from tileir.analysis.effects import scopes_include
from tileir.explore.events import MemoryCell
from tileir.explore.graph import INITIAL, ExecutionGraph, members


class Conflicting(NamedTuple):
    """Two events that race: their numbers and why nothing orders them."""

    one: int
    other: int
    why: str


@dataclass(frozen=True)
class CellOrder:
    """The events of a cell and its writes, as sets; `earlier` are the writes before each one in coherence order."""

    events: int
    writes: int
    earlier: dict[int, int]


class DerivedRelations:
    """The derived relations of a graph (spec: memory-model#derived-relations), as the set of predecessors of each
    event."""

    def __init__(self, graph: ExecutionGraph) -> None:
        self._graph = graph
        self._events = graph.events
        self.observed = self._observed()
        self.synchronised = self._synchronised()
        self.happens_before = self._happens_before()

    def _observed(self) -> list[int]:
        """Return the writes that each read observes: its own source if morally strong, and through updates theirs."""
        graph, found = self._graph, [-1] * len(self._events)

        def observed(read: int) -> int:
            if found[read] < 0:
                write = graph.source[read]
                found[read] = 0
                if write >= 0 and graph.strong_with[read] >> write & 1:
                    found[read] = 1 << write | (observed(write) if self._events[write].updates else 0)
            return found[read]

        return [observed(read) for read in range(len(self._events))]

    def _synchronised(self) -> list[int]:
        """Return the releases of other tile blocks that each acquire synchronises with."""
        return [
            sum(1 << write for write in members(observed) if self._synchronise(write, read)) if observed else 0
            for read, observed in enumerate(self.observed)
        ]

    def _synchronise(self, write: int, read: int) -> bool:
        release, acquire = self._events[write], self._events[read]
        strong = self._graph.strong_with[read] >> write & 1
        return bool(acquire.acquires and release.releases and strong and release.block != acquire.block)

    def _happens_before(self) -> list[int]:
        before = [tokens | synced for tokens, synced in zip(self._graph.before, self.synchronised)]
        if any(self.synchronised):
            for middle in range(len(before)):
                reach = before[middle]
                for event in range(len(before)):
                    if before[event] >> middle & 1:
                        before[event] |= reach
        return before

    @cached_property
    def causes(self) -> list[int]:
        """Causality order: happens-before, also after an observation."""
        found = []
        for before in self.happens_before:
            causes = before
            for read in members(before):
                causes |= self.observed[read]
            found.append(causes)
        return found

    # ------------------------------------------------------------ axioms

    def consistent(self) -> bool:
        """Return whether the graph satisfies every axiom."""
        orders = [self._order(cell, events) for cell, events in self._graph.cells.items()]
        return all(axiom.holds(self, order) for axiom in AXIOMS for order in orders)

    def _order(self, cell: MemoryCell, events: int) -> CellOrder:
        earlier: dict[int, int] = {INITIAL: 0}
        seen = 0
        for write in self._graph.coherence.get(cell, ()):
            earlier[write] = seen
            seen |= 1 << write
        return CellOrder(events, seen, earlier)

    def well_formed(self, order: CellOrder) -> bool:
        return not any(self.happens_before[event] >> event & 1 for event in members(order.events))

    def coherent(self, order: CellOrder) -> bool:
        return all(not self.causes[write] & order.writes & ~order.earlier[write] for write in members(order.writes))

    def causal(self, order: CellOrder) -> bool:
        return all(
            (source == INITIAL or not self.happens_before[source] >> read & 1)
            and not self.causes[read] & self._after(source, order)
            for read, source in self._reads(order)
        )

    def atomic(self, order: CellOrder) -> bool:
        return all(
            not self._after(source, order) & order.earlier[read] & self._graph.strong_with[read]
            for read, source in self._reads(order)
            if self._events[read].writes
        )

    def _reads(self, order: CellOrder) -> Iterator[tuple[int, int]]:
        """Yield the reads of a cell with the writes that they read from."""
        return ((read, self._graph.source[read]) for read in members(order.events) if self._events[read].reads)

    def _after(self, write: int, order: CellOrder) -> int:
        """Return the writes that come after one in coherence order."""
        return order.writes & ~order.earlier[write] & ~(1 << write if write != INITIAL else 0)

    def sequential(self, order: CellOrder) -> bool:
        """Return whether token order and morally strong communication of a cell have no cycle."""
        graph, events, earlier, before = self._graph, order.events, order.earlier, {}
        for event in members(events):
            found = graph.before[event] & events
            strong = graph.strong_with[event]
            if self._events[event].writes:
                found |= earlier[event] & strong
                found |= self._readers_overwritten(event, events, earlier) & strong
            source = graph.source[event]
            if source >= 0:
                found |= 1 << source & strong
            before[event] = found & ~(1 << event)
        return _acyclic(before)

    def _readers_overwritten(self, write: int, events: int, earlier: dict[int, int]) -> int:
        """Return the reads of what a write comes after in coherence order."""
        found = 0
        for read in members(events & ~(1 << write)):
            if self._events[read].reads:
                source = self._graph.source[read]
                if source == INITIAL or earlier[write] >> source & 1:
                    found |= 1 << read
        return found

    # ------------------------------------------------------------ races

    def races(self) -> Iterator[Conflicting]:
        """Yield the conflicting pairs that nothing orders (spec: memory-model#data-races)."""
        for events in self._graph.cells.values():
            numbers = list(members(events))
            for at, one in enumerate(numbers):
                for other in numbers[at + 1 :]:
                    if not self._graph.strong_with[one] >> other & 1 and self._conflict(one, other):
                        yield Conflicting(one, other, self._why(one, other))
        for one, other in self.mixed():
            if not self.ordered(one, other):
                yield Conflicting(one, other, "sizes")

    def ordered(self, one: int, other: int) -> bool:
        return bool(self.happens_before[other] >> one & 1 or self.happens_before[one] >> other & 1)

    def _conflict(self, one: int, other: int) -> bool:
        """Return whether two accesses of a cell are unordered although one writes."""
        return self._writes(one, other) and not self.ordered(one, other)

    def _writes(self, one: int, other: int) -> bool:
        return self._events[one].writes or self._events[other].writes

    def mixed(self) -> Iterator[tuple[int, int]]:
        """Yield the conflicting pairs of accesses that overlap, but not completely."""
        cells = sorted(self._graph.cells)
        for at, cell in enumerate(cells):
            for other in cells[at + 1 :]:
                if other.address >= cell.end:
                    break
                for one in members(self._graph.cells[cell]):
                    yield from ((one, two) for two in members(self._graph.cells[other]) if self._writes(one, two))

    def _why(self, one: int, other: int) -> str:
        first, second = self._events[one], self._events[other]
        if first.key.instance == second.key.instance:
            return "lanes"
        if first.block == second.block:
            return "token"
        if first.strong and second.strong:
            return "scope" if not scopes_include(first, second) else "sizes"
        return "order"


def _acyclic(before: dict[int, int]) -> bool:
    """Return whether a relation, given by the predecessors of each event, has no cycle."""
    left = sum(1 << event for event in before)
    while left:
        free = sum(1 << event for event in members(left) if not before[event] & left)
        if not free:
            return False
        left &= ~free
    return True


# ---------------------------------------------------------------- the model in rows


@dataclass(frozen=True)
class Axiom:
    """A condition on the events of each cell, in the letters of the specification, and the function that checks it."""

    name: str
    statement: str
    holds: Callable[[DerivedRelations, CellOrder], bool]


AXIOMS = (
    Axiom("Well-formedness", "hb is irreflexive", DerivedRelations.well_formed),
    Axiom("Coherence", "W cause W', overlapping => W co W'", DerivedRelations.coherent),
    Axiom(
        "Causality",
        "R cause W => not rf(W, R); W' cause R, W' overlaps R, rf(W, R) => not W co W'",
        DerivedRelations.causal,
    ),
    Axiom("Atomicity", "rf(W0, R) of an rmw pair (R, W) => no W0 co W1 co W, W1 ms with it", DerivedRelations.atomic),
    Axiom("SC per location", "(rpo on one cell) + (com on ms pairs) is acyclic", DerivedRelations.sequential),
)
"""The axioms, in the order in which they are checked (spec: memory-model#axioms)."""

RELATIONS = (
    ("tok", "tokens lead from one access of a tile block to another", "given by the program"),
    ("rf", "the write that a read takes its value from", "enumerated"),
    ("co", "the total order of the writes of each cell", "enumerated"),
    ("ms", "both strong, scopes include each other, same range", "ExecutionGraph.strong_with"),
    ("obs", "ms(rf); through updates also what these observe", "DerivedRelations.observed"),
    ("sw", "a release that an acquire of another tile block observes", "DerivedRelations.synchronised"),
    ("hb", "the transitive closure of tok + sw", "DerivedRelations.happens_before"),
    ("cause", "hb, or observed by something in hb", "DerivedRelations.causes"),
)
"""The relations: letters, meaning, where it comes from (spec: memory-model#derived-relations)."""


def model_text() -> str:
    """Return the model as it is checked, as a table."""
    rows = [("relation", "meaning", "from"), *RELATIONS, ("", "", ""), ("axiom", "statement", "checked by")]
    rows += [(axiom.name, axiom.statement, f"DerivedRelations.{axiom.holds.__name__}") for axiom in AXIOMS]
    rows += [
        ("No thin air", "a read is answered before what its value decides", "Search"),
        ("Race", "a conflicting pair, not ms, that hb does not order", "DerivedRelations.races"),
    ]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    lines = (f"{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]}".rstrip() for row in rows)
    return "\n".join((*lines, "", *DEPENDENCE))


DEPENDENCE = (
    "Dependence is semantic: values are simplified first, so that r - r + 1 does not wait for r, and an optimiser",
    "may fold it. What is left counts as it is written, and for whole tiles.",
)
