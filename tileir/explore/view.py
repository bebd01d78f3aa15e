"""Execution graphs as pictures: what is drawn of one, and its SVG."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

from tileir.explore.events import ElementEvent, ElementKey, MemoryCell
from tileir.explore.graph import INITIAL, ExecutionGraph, interleaving_cycle, members
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
        """Yield token order, without what follows from others."""
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
        """Yield arrows from a read to the write that overwrites what it read."""
        order = self.graph.writes(self.graph.events[read].cell)
        following = order[order.index(source) + 1 :]
        if following and following[0] != read:
            yield Arrow(read, following[0], "fr")

    def _synchronisation(self) -> Iterator[Arrow]:
        for number, found in enumerate(self._execution.relations.synchronised):
            yield from (Arrow(one, number, "sw") for one in members(found))

    # ------------------------------------------------------------ cells

    def orders(self) -> Iterator[tuple[MemoryCell, tuple[int, ...]]]:
        """Yield the cells that are written more than once, with the order of their writes."""
        yield from ((cell, order) for cell, order in self.graph.coherence.items() if len(order) > 1)

    def letter(self, number: int) -> str:
        return "the initial value" if number == INITIAL else self.letters[number]

    def cycle(self) -> list[tuple[int, int, str]]:
        """Return steps that an interleaving would have to take in a circle: from, to, and why. Empty for an
        interleaving."""
        return interleaving_cycle(self.graph)


def _place(event: ElementEvent) -> tuple[int, tuple[int, ...], int]:
    return event.block, event.position, event.key.lane


def _letter(at: int) -> str:
    return _LETTERS[at] if at < len(_LETTERS) else f"{_LETTERS[at % len(_LETTERS)]}{at // len(_LETTERS)}"


def _line(event: ElementEvent) -> int | None:
    loc = event.site.access.op.loc
    return loc.file_loc.line if isinstance(loc, SourceLoc) else None


def place(event: ElementEvent) -> str:
    """Return the place of the operation of an event."""
    return place_text(event.site.access.op.loc)


COLOURS = {"token": "#7a7a7a", "rf": "#1a8a3c", "co": "#2f6fd0", "fr": "#d0402f", "sw": "#9035c0"}
"""The colour of each relation; they can be told apart on light and on dark ground."""
DASHED = ("fr",)
_PLAIN, _MARKED = 'stroke="currentColor" stroke-opacity="0.5"', 'stroke="#d0402f" stroke-width="2.5"'
HEIGHT, ROW, TOP = 30, 62, 46
GAP, MARGIN, LETTER = 110, 24, 7.2
"""Pixels: of a box and from row to row, between columns and around, and of one letter of the text."""


class EventBox(NamedTuple):
    """The place of an event in the drawing: left and upper edge, width."""

    x: float
    y: float
    width: float

    @property
    def middle(self) -> tuple[float, float]:
        return self.x + self.width / 2, self.y + HEIGHT / 2


def drawing(execution: ShownExecution, marked: Collection[ElementKey] = ()) -> str:
    """Return the drawing of an execution, as SVG; the `marked` events stand out."""
    boxes = _boxes(execution)
    right = max((box.x + box.width for box in boxes.values()), default=0.0)
    bottom = max((box.y for box in boxes.values()), default=0.0) + HEIGHT
    kinds = [kind for kind in RELATIONS if any(arrow.kind == kind for arrow in _drawn(execution))]
    width, height = right + GAP * 0.6 + MARGIN, bottom + 24 + 18 * len(kinds) + MARGIN / 2
    width = max(width, MARGIN * 2 + 60 + LETTER * max((len(RELATIONS[kind]) for kind in kinds), default=0))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="ui-monospace, monospace" font-size="12" '
        'fill="currentColor" role="img">',
        "<title>an execution: events and what orders them</title>",
        *_markers(kinds),
        *_columns(execution, boxes),
        *(_arrow(arrow, boxes) for arrow in _drawn(execution)),
        *(_event(event, boxes[event.number], event.key in marked) for event in execution.events),
        *_legend(kinds, bottom + 30),
        "</svg>",
    ]
    return "\n".join(parts)


def _drawn(execution: ShownExecution) -> list[Arrow]:
    """Return the arrows between events; what is read of the initial value stands in the words of the event."""
    return [arrow for arrow in execution.arrows if arrow.source != INITIAL]


def _label(event: ShownEvent) -> str:
    return f"{event.letter}  {event.words}"


def _boxes(execution: ShownExecution) -> dict[int, EventBox]:
    boxes: dict[int, EventBox] = {}
    left = float(MARGIN)
    for block in dict.fromkeys(event.block for event in execution.events):
        column = [event for event in execution.events if event.block == block]
        width = max(len(_label(event)) for event in column) * LETTER + 20
        for row, event in enumerate(column):
            boxes[event.number] = EventBox(left, TOP + row * ROW, width)
        left += width + GAP
    return boxes


def _columns(execution: ShownExecution, boxes: dict[int, EventBox]) -> Iterator[str]:
    for block in dict.fromkeys(event.block for event in execution.events):
        first = next(event for event in execution.events if event.block == block)
        box = boxes[first.number]
        name = escape(f"tile block {execution.names.block(block)}")
        yield f'<text x="{box.middle[0]:.0f}" y="28" text-anchor="middle" font-weight="bold">{name}</text>'


def _event(event: ShownEvent, box: EventBox, marked: bool) -> str:
    line = "" if event.line is None else f"<title>line {event.line}</title>"
    frame = f'x="{box.x:.0f}" y="{box.y:.0f}" width="{box.width:.0f}" height="{HEIGHT}" rx="6"'
    text = f'<text x="{box.x + 10:.0f}" y="{box.y + 20:.0f}">{escape(_label(event))}</text>'
    return f'<g>{line}<rect {frame} fill="none" {_MARKED if marked else _PLAIN}/>{text}</g>'


def _markers(kinds: list[str]) -> Iterator[str]:
    yield "<defs>"
    for kind in kinds:
        yield (
            f'<marker id="head-{kind}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            f'orient="auto-start-reverse"><path d="M0,0 L8,4 L0,8 z" fill="{COLOURS[kind]}"/></marker>'
        )
    yield "</defs>"


def _arrow(arrow: Arrow, boxes: dict[int, EventBox]) -> str:
    path = _path(boxes[arrow.source], boxes[arrow.target], list(COLOURS).index(arrow.kind))
    dash = ' stroke-dasharray="5 4"' if arrow.kind in DASHED else ""
    width = "2.2" if arrow.kind == "sw" else "1.4"
    return (
        f'<path d="{path}" fill="none" stroke="{COLOURS[arrow.kind]}" stroke-width="{width}"{dash} '
        f'marker-end="url(#head-{arrow.kind})"><title>{RELATIONS[arrow.kind]}</title></path>'
    )


def _path(source: EventBox, target: EventBox, kind: int) -> str:
    """Return a path: straight down between neighbours of a column, an arc beside it over others, a curve between
    columns.

    Relations of one pair of events are kept apart by their number.
    """
    shift = 9.0 * (kind - 2)
    if source.x == target.x:
        if kind == 0 and target.y - source.y == ROW:
            x = source.x + 18
            return f"M{x:.0f},{source.y + HEIGHT:.0f} L{x:.0f},{target.y - 1:.0f}"
        right = source.x + source.width
        y1, y2 = source.y + HEIGHT / 2 + shift / 2, target.y + HEIGHT / 2 + shift / 2
        out = right + 16 + abs(y2 - y1) * 0.22 + 5 * kind
        return f"M{right:.0f},{y1:.0f} C{out:.0f},{y1:.0f} {out:.0f},{y2:.0f} {right + 1:.0f},{y2:.0f}"
    forward = source.x < target.x
    x1 = source.x + source.width if forward else source.x
    x2 = target.x - 1 if forward else target.x + target.width + 1
    y1, y2 = source.middle[1] + shift / 1.5, target.middle[1] + shift / 1.5
    if abs(x2 - x1) <= GAP + 1:
        bend = (x2 - x1) * 0.45
        return f"M{x1:.0f},{y1:.0f} C{x1 + bend:.0f},{y1:.0f} {x2 - bend:.0f},{y2:.0f} {x2:.0f},{y2:.0f}"
    return _below(x1, y1, x2, y2, source.y + (HEIGHT + ROW) / 2 + shift / 2)


def _below(x1: float, y1: float, x2: float, y2: float, y: float) -> str:
    """Return a way to a column farther off: down into the space between two rows, along it, and to its end."""
    step = GAP * 0.45 if x2 > x1 else -GAP * 0.45
    start = f"M{x1:.0f},{y1:.0f} C{x1 + step / 2:.0f},{y1:.0f} {x1 + step / 2:.0f},{y:.0f} {x1 + step:.0f},{y:.0f}"
    end = f"C{x2 - step / 2:.0f},{y:.0f} {x2 - step / 2:.0f},{y2:.0f} {x2:.0f},{y2:.0f}"
    return f"{start} L{x2 - step:.0f},{y:.0f} {end}"


def _legend(kinds: list[str], top: float) -> Iterator[str]:
    for row, kind in enumerate(kinds):
        y = top + 18 * row
        dash = ' stroke-dasharray="5 4"' if kind in DASHED else ""
        yield (
            f'<path d="M{MARGIN},{y - 4:.0f} h34" stroke="{COLOURS[kind]}" stroke-width="1.6"{dash} '
            f'marker-end="url(#head-{kind})"/><text x="{MARGIN + 46}" y="{y:.0f}">{escape(RELATIONS[kind])}</text>'
        )
