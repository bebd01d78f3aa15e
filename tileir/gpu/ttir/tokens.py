"""Which memory operations a token may come after.

Knows: how tokens flow: through operations, regions and functions, whatever path control takes. Does not know: what the
operations do (`effects`), nor when what comes before has ended (`order`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tileir.ir import types as t
from tileir.ir.core import Op, Value
from tileir.ops import control
from tileir.ops.extension import Call, Func
from tileir.ops.module import Entry

Accesses = int
"""A set of memory operations, by bits."""

Edge = tuple[Value, Value]
"""What the first token comes after, the second may come after, too."""


def tokens_after(entry: Entry, functions: Mapping[str, Func], bits: Mapping[Op, Accesses]) -> dict[Value, Accesses]:
    """For each token the operations of `bits` that it may come after: those that the operation which makes it comes
    after, and that operation itself. A function has one answer for all its calls."""
    ops = [op for root in (*functions.values(), entry) for op in root.walk()]
    edges = [edge for op in ops for edge in _edges(op, functions)]
    found = {result: bits[op] for op in ops if op in bits for result in _tokens(op.results)}
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
        yield from zip(op.initial, op.body.args[-len(op.initial) :])
        if isinstance(op, control.For):
            yield from zip(op.initial, op.outputs)
    elif isinstance(op, control.Yield | control.Continue | control.Break):
        yield from _edges_of_exit(op)
    elif isinstance(op, Call):
        yield from _edges_of_call(op, functions[op.callee])
    elif not op.regions:
        yield from ((source, target) for source in _tokens(op.operands) for target in _tokens(op.results))


def _edges_of_exit(op: control.Yield | control.Continue | control.Break) -> Iterator[Edge]:
    """To what the exit leads to: results of an operation around, or arguments of its next iteration."""
    left = control.If if isinstance(op, control.Yield) else (control.For, control.Loop)
    around = op.parent_op
    while isinstance(around, control.If) and not isinstance(around, left):
        around = around.parent_op
    if not isinstance(around, left):
        return
    if isinstance(op, control.Continue):
        assert isinstance(around, control.For | control.Loop)
        yield from zip(op.operands, around.body.args[-len(op.operands) :] if op.operands else ())
    if not isinstance(op, control.Continue) or isinstance(around, control.For):
        yield from zip(op.operands, around.results)


def _edges_of_call(op: Call, function: Func) -> Iterator[Edge]:
    yield from zip(op.args, function.body.args)
    for inner in function.walk():
        if isinstance(inner, control.Return):
            yield from zip(inner.operands, op.outputs)


def _tokens(values: Sequence[Value]) -> list[Value]:
    return [value for value in values if isinstance(value.type, t.TokenType)]
