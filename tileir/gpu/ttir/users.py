"""What becomes of the values of a program.

Knows: which operations use a value, and which loops they stand in. Does not know: TTIR.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tileir.ir.core import Block, Op, Value
from tileir.ir.types import TokenType
from tileir.ops import control, matmul

LOOPS = (control.For, control.Loop)
PRODUCTS = (matmul.MmaF, matmul.MmaI, matmul.MmaFScaled)


class Users:
    """The uses of all values in some operations, and in those nested in them."""

    def __init__(self, roots: Iterable[Op] = ()) -> None:
        self._users: dict[Value, list[Op]] = {}
        self._factors: dict[Block, set[Value]] = {}
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
        if block is None:
            return False
        if block not in self._factors:
            self._factors[block] = _factors(block)
        return value in self._factors[block]

    def only_multiplied(self, value: Value) -> bool:
        """Whether `value` is used as a factor of products and in no other way."""
        users = self.of(value)
        return bool(users) and all(isinstance(user, PRODUCTS) and value not in user.operands[2:] for user in users)


def _factors(block: Block) -> set[Value]:
    """The factors of the products in a block, and what they are computed from there."""
    found: set[Value] = set()
    for op in reversed(block.ops):
        if isinstance(op, PRODUCTS):
            found.update((op.lhs, op.rhs))
        elif not op.regions and not _accesses_memory(op) and not found.isdisjoint(op.results):
            found.update(op.operands)
    return found


def _accesses_memory(op: Op) -> bool:
    return any(isinstance(result.type, TokenType) for result in op.results)


def enclosing_loop(op: Op) -> Op | None:
    """The innermost loop around an operation."""
    parent = op.parent_op
    while parent is not None and not isinstance(parent, LOOPS):
        parent = parent.parent_op
    return parent


def takes_up_products(loop: Op) -> bool:
    """Whether a loop multiplies, and starts from what another that multiplies has left."""
    before = [value.owner for value in loop.operands if isinstance(value.owner, LOOPS)]
    return any(map(_multiplies, before)) and _multiplies(loop)


def _multiplies(loop: Op) -> bool:
    return any(isinstance(op, PRODUCTS) for op in loop.walk())
