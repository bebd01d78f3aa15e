"""The pass ``cse``: an operation that repeats another is that other one.

Knows: which operations before an operation are visible to it. Does not know: which may stand for each other (`facts`).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from tileir.ir.core import Block, Op, Value
from tileir.ir.traits import ISOLATED
from tileir.ops.extension import Generate
from tileir.ops.reduction import Reduce, Scan
from tileir.passes.facts import is_shareable, is_weak_load
from tileir.passes.rebuilding import Rebuilding
from tileir.passes.row import ChangeLog, Exactness, Row

SHARED = Row(
    "same-operation", "cse", "OP(x, ...) behind OP(x, ...)", "the first one's results", Exactness.EXACT,
    "equal operands and attributes give equal results where there is no effect", "the first one is visible",
)  # fmt: skip
SHARED_LOAD = Row(
    "same-load", "cse", "weak load(p, token=t) behind weak load(p, token=t)", "the first one's results",
    Exactness.PROMISED, "what writes the memory between them races (spec: tokens#transformations)",
    "the first one is visible",
)  # fmt: skip
ROWS = (SHARED, SHARED_LOAD)

CLOSED = (Reduce, Scan, Generate)
"""Operations whose regions take no values from outside, so that targets can run them by themselves."""


class Sharing(Rebuilding):
    """The walk that finds repetitions."""

    def __init__(self, log: ChangeLog) -> None:
        super().__init__(log)
        self.known: list[dict[Hashable, Sequence[Value]]] = [{}]

    def visit(self, op: Op) -> None:
        around = self.known
        if op.regions and (isinstance(op, CLOSED) or ISOLATED in op.spec.traits):
            self.known = [{}]
        super().visit(op)
        self.known = around

    def region(self, block: Block) -> Block:
        self.known.append({})
        made = super().region(block)
        self.known.pop()
        return made

    def emit(self, op: Op) -> Sequence[Value]:
        loads = False
        if not is_shareable(op):
            loads = is_weak_load(op) and not op.discardable and self.log.allows(SHARED_LOAD)
            if not loads:
                return self.block.append(op).results
        key = _key(op)
        for known in self.known:
            found = known.get(key)
            if found is not None:
                self.log.note(SHARED_LOAD if loads else SHARED, op, found)
                return found
        self.known[-1][key] = results = self.block.append(op).results
        return results


def _key(op: Op) -> Hashable:
    """What is equal for equal operations."""
    attributes = frozenset(op.attributes.items()) if op.attributes else None
    return (type(op), *op.operands, op.segments, attributes, *op.result_types)
