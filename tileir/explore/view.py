"""An execution as it is shown: its events with letters, and the arrows between them that matter.

Knows: the words for an event, which arrows follow from others and are left out, why an execution is no interleaving.
Does not know: how it looks as text or as a drawing (`text`, `svg`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from tileir.explore.cycles import interleaving_cycle
from tileir.explore.events import ElementEvent, ElementKey, MemoryCell
from tileir.explore.graph import INITIAL, ExecutionGraph, members
from tileir.explore.names import LaunchNames
from tileir.explore.results import typed
from tileir.explore.search import Execution
from tileir.ir.attributes import MemoryOrdering
from tileir.ir.diagnostics import place_text
from tileir.ir.loc import SourceLoc

RELATIONS = {
    "token": "token order",
    "rf": "reads from",
    "co": "coherence order: is overwritten by",
    "fr": "from reads: read before it is overwritten by",
    "sw": "synchronises with",
}
"""The relations shown, by the name of their arrows."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Arrow(NamedTuple):
    """An arrow from one event to another; `source` may be INITIAL."""

    source: int
    target: int
    kind: str


@dataclass(frozen=True)
class ShownEvent:
    """An event with its letter and words: what it does, to which cell, with which value."""

    number: int
    key: ElementKey
    letter: str
    block: int
    words: str
    line: int | None


class ShownExecution:
    """The events of an execution in the order of the program, and their arrows."""

    def __init__(self, execution: Execution, names: LaunchNames) -> None:
        self.graph: ExecutionGraph = execution.graph
        self.names = names
        self._execution = execution
        order = sorted(range(len(self.graph.events)), key=lambda number: _place(self.graph.events[number]))
        self.events = [self._shown(number, at) for at, number in enumerate(order)]
        self.letters = {event.number: event.letter for event in self.events}
        self.arrows = [*self._tokens(), *self._communication(), *self._synchronisation()]

    def _shown(self, number: int, at: int) -> ShownEvent:
        event = self.graph.events[number]
        return ShownEvent(number, event.key, _letter(at), event.block, self._words(event), _line(event))

    def _words(self, event: ElementEvent) -> str:
        verb = "update" if event.updates else "store" if event.writes else "load"
        ordering, scope = event.site.ordering, event.site.scope
        how = ordering.text if ordering is MemoryOrdering.WEAK or scope is None else f"{ordering.text} {scope.text}"
        name = self.names.cell(event.cell)
        return f"{verb} {how} {name} {self._values(event)}"

    def _values(self, event: ElementEvent) -> str:
        element = event.site.element
        read = typed(event.read or 0, element)
        if event.written is None:
            return f"is {read}"
        written = typed(event.written, element)
        return f"from {read} to {written}" if event.updates else f"= {written}"

    # ------------------------------------------------------------ arrows

    def _tokens(self) -> Iterator[Arrow]:
        """Token order, without what follows from others."""
        before = self.graph.before
        for number, found in enumerate(before):
            implied = 0
            for one in members(found):
                implied |= before[one]
            yield from (Arrow(one, number, "token") for one in members(found & ~implied))

    def _communication(self) -> Iterator[Arrow]:
        for number, source in enumerate(self.graph.source):
            if self.graph.events[number].reads:
                yield Arrow(source, number, "rf")
                yield from self._from_read(number, source)
        for order in self.graph.coherence.values():
            yield from (Arrow(one, other, "co") for one, other in itertools.pairwise(order))

    def _from_read(self, read: int, source: int) -> Iterator[Arrow]:
        """To the write that overwrites what was read."""
        order = self.graph.writes(self.graph.events[read].cell)
        following = order[order.index(source) + 1 :]
        if following and following[0] != read:
            yield Arrow(read, following[0], "fr")

    def _synchronisation(self) -> Iterator[Arrow]:
        for number, found in enumerate(self._execution.relations.synchronised):
            yield from (Arrow(one, number, "sw") for one in members(found))

    # ------------------------------------------------------------ cells

    def orders(self) -> Iterator[tuple[MemoryCell, tuple[int, ...]]]:
        """The cells that are written more than once, with the order of their writes."""
        yield from ((cell, order) for cell, order in self.graph.coherence.items() if len(order) > 1)

    def letter(self, number: int) -> str:
        return "the initial value" if number == INITIAL else self.letters[number]

    def cycle(self) -> list[tuple[int, int, str]]:
        """Steps that an interleaving would have to take in a circle: from, to, and why. Empty for an interleaving."""
        return interleaving_cycle(self.graph)


def _place(event: ElementEvent) -> tuple[int, tuple[int, ...], int]:
    return event.block, event.position, event.key.lane


def _letter(at: int) -> str:
    return _LETTERS[at] if at < len(_LETTERS) else f"{_LETTERS[at % len(_LETTERS)]}{at // len(_LETTERS)}"


def _line(event: ElementEvent) -> int | None:
    loc = event.site.access.op.loc
    return loc.file_loc.line if isinstance(loc, SourceLoc) else None


def place(event: ElementEvent) -> str:
    """The place of the operation of an event."""
    return place_text(event.site.access.op.loc)
