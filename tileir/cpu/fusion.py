"""Which values are computed in the loop of their one consumer, and which get a loop of their own.

Knows: uses of values, and the *root* of a value: the operation whose loop computes it. Does not know: LLVM.

An element-wise (or index-mapping) operation fuses into its consumer when all its uses lead, through such operations, to
one root in the same block. Otherwise it is a root itself: its elements are computed once, where it stands.
Cheap index arithmetic (`iota`, `constant`, `broadcast`, ...) is repeated rather than stored: it is an expression
wherever it is used, also in several places and in the regions below.
"""

from __future__ import annotations

from tileir.ir import types as t
from tileir.ir.core import Block, Op, Value
from tileir.ir.declare import ELEMENTWISE
from tileir.ops import core, extension, integer, misc

INDEX_MAPPING = (core.Broadcast, core.Reshape, core.Permute, core.Extract)
FREE = (core.Constant, core.Iota, core.Broadcast, core.Reshape)
"""Operations that cost nothing to repeat."""
CHEAP = (core.Offset, integer.AddI, integer.SubI, integer.MulI, *FREE)
"""Address arithmetic: repeated in each use rather than stored, so that LLVM sees neighbouring addresses."""
ALIASES = (misc.Assume, extension.OptimizationBarrier)
"""Operations whose result is the very tile that they are given."""


DEEPEST = 32
"""Operations that follow one another in one expression: a longer chain is computed in pieces."""


class Fusion:
    """`fused(value)`: whether the value is left as an expression for its consumer to compute."""

    def __init__(self, body: Block) -> None:
        self._users: dict[Value, list[Op]] = {}
        self._readers: dict[Value, set[Op]] = {}
        self._root: dict[Op, Op] = {}
        operations = _operations(body)
        self._order = {op: position for position, op in enumerate(operations)}
        for op in operations:
            for value in op.operands:
                self._users.setdefault(value, []).append(op)
        for op in reversed(operations):
            self._root[op] = self._root_of(op)
        self._cut: set[Op] = set()
        self._cut_chains(operations)

    def users(self, value: Value) -> list[Op]:
        return self._users.get(value, [])

    def used_once(self, value: Value) -> bool:
        """Whether one operation is all that reads the tile of `value`, in the block that defines it.

        Not where the tile may be that of another value as well, or a constant.
        """
        users, owner = self.users(value), value.owner
        shared = (*ALIASES, core.Constant) if isinstance(owner, Op) else (extension.Func,)
        if isinstance(owner if isinstance(owner, Op) else owner.parent, shared):
            return False
        return len(users) == 1 and users[0].parent is (owner.parent if isinstance(owner, Op) else owner)

    def fused(self, value: Value) -> bool:
        op = value.op
        if op is None or op in self._cut:
            return False
        return isinstance(op, CHEAP) or self._root[op] is not op

    def readers(self, value: Value) -> set[Op]:
        """The operations in whose code the elements of `value` are read: past those that leave only an expression."""
        if value not in self._readers:
            found: set[Op] = set()
            for user in self.users(value):
                found |= self.readers(user.results[0]) if self._passes(user) else {user}
            self._readers[value] = found
        return self._readers[value]

    def needed_after(self, value: Value, op: Op) -> bool:
        """Whether something that runs after `op` (or in its regions) reads the elements of `value`."""
        return any(self._order[reader] > self._order[op] for reader in self.readers(value))

    def read_in_place(self, value: Value, store: Op) -> bool:
        """Whether `store` reads an element of `value` only for the element at the same index that it writes."""
        return all(
            not isinstance(user, INDEX_MAPPING) and self.read_in_place(user.results[0], store)
            for user in self.users(value)
            if self._passes(user) and store in self.readers(user.results[0])
        )

    def _passes(self, op: Op) -> bool:
        """Whether `op` reads nothing itself: its result is an expression, or the tile it is given."""
        return isinstance(op, ALIASES) or (fusible(op) and self.fused(op.results[0]))

    def _cut_chains(self, operations: list[Op]) -> None:
        """Have expressions computed that have grown too deep."""
        depth: dict[Value, int] = {}
        for op in operations:
            below = max((depth.get(value, 0) for value in op.operands), default=0)
            if isinstance(op, ALIASES):
                depth[op.results[0]] = below
            elif fusible(op) and self.fused(op.results[0]):
                if below >= DEEPEST:
                    self._cut.add(op)
                else:
                    depth[op.results[0]] = below + 1

    def _root_of(self, op: Op) -> Op:
        if not fusible(op) and not _is_load(op):
            return op
        roots = {self._consumer_root(user, op) for user in self.users(op.results[0])}
        return roots.pop() if len(roots) == 1 else op

    def _consumer_root(self, user: Op, op: Op) -> Op:
        """The root that a use leads to; one in another block or one that repeats costly work keeps the value here."""
        if user.parent is not op.parent:
            return op
        if not fusible(user):
            return user
        root = self._root[user]
        widens = isinstance(user, core.Broadcast) and user.result.type is not op.results[0].type
        repeats = widens or isinstance(root, CHEAP)
        return op if repeats and not isinstance(op, CHEAP) else root


def fusible(op: Op) -> bool:
    """Computes each element from elements of its operands, without effects."""
    if isinstance(op, INDEX_MAPPING + FREE):
        return True
    return ELEMENTWISE in op.spec.traits and all(isinstance(result.type, t.TileType) for result in op.results)


def _is_load(op: Op) -> bool:
    return op.spec.name in ("load_view_tko", "load_ptr_tko")


def _operations(block: Block) -> list[Op]:
    return [op for root in block.ops for op in root.walk()]
