"""Operations whose code reads the elements of a value: past those that only leave an expression for their users.

Knows: how elements travel through expressions, put-off loads and carried pointers. Does not know: which loads are put
off (`cpu.analysis.loads`).
"""

from __future__ import annotations

from tileir.analysis.effects import access_of
from tileir.cpu.analysis.fusion import ALIASES, INDEX_MAPPING, Fusion, fusible
from tileir.ir import types as t
from tileir.ir.core import Op, Value
from tileir.ops.control import For
from tileir.ops.misc import Assume

Use = tuple[Op, Value]
"""An operation whose code reads elements, and the operand that it reads them through."""


class Readers:
    """The readers of the values of one function."""

    def __init__(self, fusion: Fusion) -> None:
        self._fusion = fusion
        self._uses: dict[Value, frozenset[Use]] = {}
        self._put_off: set[Op] = set()

    def put_off(self, load: Op) -> None:
        """Take into account that `load` computes its pointers where its users read."""
        self._put_off.add(load)
        self._uses.clear()

    def uses(self, value: Value) -> frozenset[Use]:
        if value not in self._uses:
            found: set[Use] = set()
            for user in self._fusion.users(value):
                if self._passes(user):
                    found |= self.uses(user.results[0])
                    # A promise is checked where it stands.
                    found |= {(user, value)} if isinstance(user, Assume) else set()
                else:
                    found |= self._uses_in(user, value)
            self._uses[value] = frozenset(found)
        return self._uses[value]

    def in_place(self, value: Value, store: Op) -> bool:
        """Whether `store` reads an element of `value` only for the element at the same index that it writes."""
        return all(
            not isinstance(user, INDEX_MAPPING) and self.in_place(user.results[0], store)
            for user in self._fusion.users(value)
            if self._passes(user) and any(op is store for op, _ in self.uses(user.results[0]))
        )

    def _passes(self, op: Op) -> bool:
        """Whether the result of `op` is an expression, or the tile it is given."""
        return isinstance(op, ALIASES) or (fusible(op) and self._fusion.fused(op.results[0]))

    def _uses_in(self, user: Op, value: Value) -> set[Use]:
        """The operation itself, and the code that computes the pointers which it hands on as an expression."""
        if isinstance(user, For) and _is_pointers(value):
            return {(user, value), (user.body.ops[-1], value)}
        access = access_of(user) if user in self._put_off else None
        if access is None or access.address is not value or access.result is None:
            return {(user, value)}
        return {(user, value), *((op, value) for op, _ in self.uses(access.result))}


def _is_pointers(value: Value) -> bool:
    return isinstance(value.type, t.TileType) and isinstance(value.type.element, t.PointerType)
