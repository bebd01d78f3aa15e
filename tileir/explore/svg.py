"""An execution as a drawing: a column for each tile block, a box for each event, an arrow for each relation.

Knows: where boxes and arrows stand, their colours. Does not know: which events and arrows there are (`view`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from html import escape
from typing import NamedTuple

from tileir.explore.events import ElementKey
from tileir.explore.graph import INITIAL
from tileir.explore.view import RELATIONS, Arrow, ShownEvent, ShownExecution

COLOURS = {"token": "#7a7a7a", "rf": "#1a8a3c", "co": "#2f6fd0", "fr": "#d0402f", "sw": "#9035c0"}
"""The colour of each relation; they can be told apart on light and on dark ground."""
DASHED = ("fr",)
_PLAIN, _MARKED = 'stroke="currentColor" stroke-opacity="0.5"', 'stroke="#d0402f" stroke-width="2.5"'
HEIGHT, ROW, TOP = 30, 62, 46
GAP, MARGIN, LETTER = 110, 24, 7.2
"""Pixels: of a box and from row to row, between columns and around, and of one letter of the text."""


class EventBox(NamedTuple):
    """Where an event stands: left and upper edge, width."""

    x: float
    y: float
    width: float

    @property
    def middle(self) -> tuple[float, float]:
        return self.x + self.width / 2, self.y + HEIGHT / 2


def drawing(execution: ShownExecution, marked: Collection[ElementKey] = ()) -> str:
    """The drawing of an execution, as SVG; the `marked` events stand out."""
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
    """The arrows between events; what is read of the initial value stands in the words of the event."""
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
    """Straight down between neighbours of a column, an arc beside it over others, a curve between columns.

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
    """A way to a column farther off: down into the space between two rows, along it, and to its end."""
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
