"""Uses of values: which operations have a value as an operand, and which of them is the last.

Knows: blocks, and that a value is visible in its block and in the regions inside (spec: syntax#regions).
Does not know: what any operation does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tileir.ir.core import Block, Op, Value


class Uses:
    """The uses of all values in some operations, and in those nested in them."""

    def __init__(self, roots: Iterable[Op] = ()) -> None:
        self._users: dict[Value, list[Op]] = {}
        for op in (op for root in roots for op in root.walk()):
            for value in dict.fromkeys(op.operands):
                self._users.setdefault(value, []).append(op)

    def of(self, value: Value) -> Sequence[Op]:
        """The operations that have `value` as an operand, each once, in program order."""
        return self._users.get(value, ())


def home_of(value: Value) -> Block | None:
    """The block that defines a value; None for a result of an operation that stands nowhere."""
    return value.owner.parent if isinstance(value.owner, Op) else value.owner


def is_visible(value: Value, op: Op) -> bool:
    """Whether the block that defines a value is around `op`: then its place in that block decides what `op` sees."""
    home, block = home_of(value), op.parent
    while block is not None and block is not home:
        block = block.parent.parent if isinstance(block.parent, Op) else None
    return block is not None


def ancestor_in(block: Block | None, op: Op) -> Op:
    """`op`, or the operation around it, that stands in `block`."""
    while op.parent is not block:
        around = op.parent_op
        assert around is not None, "the block is around the operation"
        op = around
    return op


def last_uses(body: Block) -> dict[Value, Op]:
    """The last operation, in the block of the value, that uses each value, itself or in a region inside it."""
    last: dict[Value, Op] = {}
    for op in (op for root in body.ops for op in root.walk()):
        for value in op.operands:
            last[value] = ancestor_in(home_of(value), op)
    return last
