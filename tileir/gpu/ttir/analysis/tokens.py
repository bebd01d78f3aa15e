"""Memory operations that a token may come after.

Knows: how tokens flow: through operations, regions and functions, whatever path control takes. Does not know: what the
operations do (`effects`), nor when what comes before has ended (`barriers`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tileir.analysis.effects import token_operands, token_results
from tileir.analysis.exits import target_of
from tileir.analysis.loops import carried_arguments
from tileir.ir.core import Op, Value
from tileir.ops import control
from tileir.ops.calls import Call, Func
from tileir.ops.module import Entry

Accesses = int
"""A set of memory operations, by bits."""

Edge = tuple[Value, Value]
"""Two tokens: the second may come after all that the first comes after."""


def tokens_after(entry: Entry, functions: Mapping[str, Func], bits: Mapping[Op, Accesses]) -> dict[Value, Accesses]:
    """For each token the operations of `bits` that it may come after: those that the operation which makes it comes
    after, and that operation itself. A function has one answer for all its calls."""
    ops = [op for root in (*functions.values(), entry) for op in root.walk()]
    edges = [edge for op in ops for edge in _edges(op, functions)]
    found = {result: bits[op] for op in ops if op in bits for result in token_results(op)}
    while _spread(edges, found):
        pass
    return found


def _spread(edges: Iterable[Edge], found: dict[Value, Accesses]) -> bool:
    """Follow each edge, in the order of the program; whether something new has arrived anywhere."""
    changed = False
    for source, target in edges:
        given, before = found.get(source, 0), found.get(target, 0)
        if given | before != before:
            found[target] = given | before
            changed = True
    return changed


def _edges(op: Op, functions: Mapping[str, Func]) -> Iterator[Edge]:
    if isinstance(op, control.For | control.Loop):
        yield from zip(op.initial, carried_arguments(op))
        if isinstance(op, control.For):
            yield from zip(op.initial, op.outputs)
    elif isinstance(op, control.Yield | control.Continue | control.Break):
        yield from _edges_of_exit(op)
    elif isinstance(op, Call):
        yield from _edges_of_call(op, functions[op.callee])
    elif not op.regions:
        yield from ((source, target) for source in token_operands(op) for target in token_results(op))


def _edges_of_exit(op: control.Yield | control.Continue | control.Break) -> Iterator[Edge]:
    """To what the exit leads to: results of an operation around, or arguments of its next iteration."""
    around = target_of(op)
    if around is None or (isinstance(op, control.Yield) and not isinstance(around, control.If)):
        return
    if isinstance(op, control.Continue):
        assert isinstance(around, control.For | control.Loop)
        yield from zip(op.operands, carried_arguments(around))
    if not isinstance(op, control.Continue) or isinstance(around, control.For):
        yield from zip(op.operands, around.results)


def _edges_of_call(op: Call, function: Func) -> Iterator[Edge]:
    yield from zip(op.args, function.body.args)
    for inner in function.walk():
        if isinstance(inner, control.Return):
            yield from zip(inner.operands, op.outputs)
