"""What becomes of the values of a program.

Knows: which operations use a value, and which loops they stand in. Does not know: TTIR.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tileir.ir.core import Op, Value
from tileir.ir.types import TokenType
from tileir.ops import control, matmul

LOOPS = (control.For, control.Loop)
PRODUCTS = (matmul.MmaF, matmul.MmaI, matmul.MmaFScaled)


class Users:
    """The uses of all values in some operations, and in those nested in them."""

    def __init__(self, roots: Iterable[Op] = ()) -> None:
        self._users: dict[Value, list[Op]] = {}
        for root in roots:
            for op in root.walk():
                for value in dict.fromkeys(op.operands):
                    self._users.setdefault(value, []).append(op)

    def of(self, value: Value) -> Sequence[Op]:
        """The operations that have `value` as an operand."""
        return self._users.get(value, ())

    def multiplied(self, value: Value) -> bool:
        """Whether a product in the block of `value` takes it, or what is computed from it there, as a factor."""
        block = value.owner.parent if isinstance(value.owner, Op) else value.owner
        waiting, seen = [value], {value}
        while waiting:
            factor = waiting.pop()
            for user in self.of(factor):
                if user.parent is not block or user.regions or _accesses_memory(user):
                    continue
                if isinstance(user, PRODUCTS):
                    if factor in (user.lhs, user.rhs):
                        return True
                    continue
                waiting += [result for result in user.results if result not in seen]
                seen.update(user.results)
        return False

    def only_multiplied(self, value: Value) -> bool:
        """Whether `value` is used as a factor of products and in no other way."""
        return all(isinstance(user, PRODUCTS) and value not in user.operands[2:] for user in self.of(value))


def _accesses_memory(op: Op) -> bool:
    return any(isinstance(result.type, TokenType) for result in op.results)


def enclosing_loop(op: Op) -> Op | None:
    """The innermost loop around an operation."""
    parent = op.parent_op
    while parent is not None and not isinstance(parent, LOOPS):
        parent = parent.parent_op
    return parent
