"""Executions that are no interleaving, and why: operations that would have to come before each other in a circle.

Knows: the order in which whole operations would have to take place one after the other, each tile block in program
order, for reads to find what they find.
Does not know: whether the model allows the execution (`model`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from tileir.explore.graph import INITIAL, ExecutionGraph

Operation = tuple[int, tuple[int, ...]]
"""A tile block and a position in program order."""
Step = tuple[int, int, str]
"""An event that must come before another, and the relation that asks for it: po, rf, co or fr."""


def _steps(graph: ExecutionGraph) -> Iterator[Step]:
    """What must come before what, without what follows from others."""
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
    """The shortest circle of operations that must each come before the next; empty if there is none."""
    following: dict[Operation, dict[Operation, Step]] = {}
    for step in _steps(graph):
        one, other = _operation(graph, step[0]), _operation(graph, step[1])
        if one != other:
            following.setdefault(one, {}).setdefault(other, step)
    found = (_circle(following, start) for start in following)
    return min((circle for circle in found if circle), key=len, default=[])


def _circle(following: dict[Operation, dict[Operation, Step]], start: Operation) -> list[Step]:
    """The shortest way from an operation back to it."""
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
    """Whether whole operations one after the other give the execution, each tile block in program order."""
    return not interleaving_cycle(graph)
