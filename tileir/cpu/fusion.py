"""Which values are computed in the loop of their one consumer, and which get a loop of their own.

Knows: uses of values, and the *root* of a value: the operation whose loop computes it. Does not know: LLVM.

An element-wise (or index-mapping) operation fuses into its consumer when all its uses lead, through such operations, to
one root in the same block. Otherwise it is a root itself: its elements are computed once, where it stands.
Cheap index arithmetic (`iota`, `constant`, `broadcast`, ...) is repeated rather than stored.
"""

from __future__ import annotations

from tileir.ir import types as t
from tileir.ir.core import Block, Op, Value
from tileir.ir.declare import ELEMENTWISE
from tileir.ops import core

INDEX_MAPPING = (core.Broadcast, core.Reshape, core.Permute, core.Cat, core.Extract, core.Select)
FREE = (core.Constant, core.Iota, core.Broadcast, core.Reshape)
"""Operations that cost nothing to repeat."""


class Fusion:
    """`fused(value)`: whether the value is left as an expression for its consumer to compute."""

    def __init__(self, body: Block) -> None:
        self._users: dict[Value, list[Op]] = {}
        self._root: dict[Op, Op] = {}
        for op in _operations(body):
            for value in op.operands:
                self._users.setdefault(value, []).append(op)
        for op in reversed(list(_operations(body))):
            self._root[op] = self._root_of(op)

    def users(self, value: Value) -> list[Op]:
        return self._users.get(value, [])

    def fused(self, value: Value) -> bool:
        op = value.op
        return op is not None and (isinstance(op, FREE) or self._root[op] is not op)

    def root(self, op: Op) -> Op:
        """The operation in whose loop `op` is computed."""
        return self._root[op]

    def _root_of(self, op: Op) -> Op:
        if not fusible(op) and not _is_load(op):
            return op
        roots = {self._consumer_root(user, op) for user in self.users(op.results[0])}
        return roots.pop() if len(roots) == 1 else op

    def _consumer_root(self, user: Op, op: Op) -> Op:
        """The root that a use leads to; a use in another block keeps the value where it is."""
        if user.parent is not op.parent:
            return op
        return self._root[user] if fusible(user) else user


def fusible(op: Op) -> bool:
    """Computes each element from elements of its operands, without effects."""
    if isinstance(op, INDEX_MAPPING + FREE):
        return True
    return ELEMENTWISE in op.spec.traits and all(isinstance(result.type, t.TileType) for result in op.results)


def _is_load(op: Op) -> bool:
    return op.spec.name in ("load_view_tko", "load_ptr_tko")


def _operations(block: Block) -> list[Op]:
    return [op for root in block.ops for op in root.walk()]
