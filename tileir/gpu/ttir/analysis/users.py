"""Factors of products: the values that become some, and the loops that multiply them.

Does not know: TTIR.
"""

from __future__ import annotations

from collections.abc import Iterable

from tileir.analysis.effects import access_of
from tileir.analysis.loops import LOOPS
from tileir.analysis.uses import Uses, home_of
from tileir.ir.core import Block, Op, Value
from tileir.ops import matmul

PRODUCTS = (matmul.MmaF, matmul.MmaI, matmul.MmaFScaled)


class Users(Uses):
    """The uses of values, and which of them are factors of products."""

    def __init__(self, roots: Iterable[Op] = ()) -> None:
        super().__init__(roots)
        self._factors: dict[Block, set[Value]] = {}

    def multiplied(self, value: Value) -> bool:
        """Whether a product in the block of `value` takes it, or what is computed from it there, as a factor."""
        block = home_of(value)
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
        elif not op.regions and access_of(op) is None and not found.isdisjoint(op.results):
            found.update(op.operands)
    return found


def takes_up_products(loop: Op) -> bool:
    """Whether a loop multiplies, and starts from what another that multiplies has left."""
    before = [value.owner for value in loop.operands if isinstance(value.owner, LOOPS)]
    return any(map(_multiplies, before)) and _multiplies(loop)


def _multiplies(loop: Op) -> bool:
    return any(isinstance(op, PRODUCTS) for op in loop.walk())
