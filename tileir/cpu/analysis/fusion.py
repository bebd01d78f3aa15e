"""Fusion: the values that are computed in the loop of their one consumer, and those that get a loop of their own.

The *root* of a value is the operation whose loop computes it.

An element-wise (or index-mapping) operation fuses into its consumer when all its uses lead, through such operations, to
one root in the same block. Otherwise it is a root itself: its elements are computed once, where it stands.
A few light operations on a loaded tile are repeated in each of several roots, rather than stored and read again.
Cheap index arithmetic (`iota`, `constant`, `broadcast`, ...) is repeated rather than stored: it is an expression
wherever it is used, also in several places and in the regions below.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from tileir.analysis.effects import access_of
from tileir.analysis.structure import Uses, home_of
from tileir.ir import types as t
from tileir.ir.core import Block, Op, Value
from tileir.ir.traits import ELEMENTWISE
from tileir.ops import calls, conversion, core, division, extension, floating, integer, misc, shapes

INDEX_MAPPING = (shapes.Broadcast, shapes.Reshape, shapes.Permute, shapes.Extract)
FREE = (core.Constant, core.Iota, shapes.Broadcast, shapes.Reshape)
"""Operations that cost nothing to repeat."""
CHEAP = (core.Offset, integer.AddI, integer.SubI, integer.MulI, *FREE)
"""Address arithmetic: repeated in each use rather than stored, so that LLVM sees neighbouring addresses."""
MASKING = (integer.CmpI, integer.AndI, integer.OrI, integer.XOrI, conversion.ExtI)
"""Masks and wider indices: repeated as well, if all their inputs are address arithmetic."""
LIGHT = (floating.AddF, floating.SubF, floating.MulF, floating.NegF, floating.MaxF, floating.MinF, core.Select)
MOST_STEPS = 3
"""Light operations that are repeated in each use rather than stored."""
RESHAPING = (shapes.Broadcast, shapes.Reshape)
"""Operations whose result may share the memory of their operand."""
ALIASES = (misc.Assume, extension.OptimizationBarrier)
"""Operations that return their operand unchanged."""


DEEPEST = 32
"""The longest chain of operations in one expression; longer ones are split."""


class Fusion:
    """Decisions for one function, whose `operations` are in program order.

    `joint`: for each store that shares a loop with others, all of them in program order.
    """

    def __init__(self, body: Block, joint: Mapping[Op, Sequence[Op]] = MappingProxyType({})) -> None:
        self._uses = Uses(body.ops)
        self._joint = joint
        self._roots: dict[Op, frozenset[Op]] = {}
        operations = self.operations = [op for root in body.ops for op in root.walk()]
        self._indices: set[Op] = set()
        for op in operations:
            is_tile = isinstance(op, (*CHEAP, *MASKING)) and op.results[0].tile.count > 1
            if is_tile and all(map(self._is_index, op.operands)):
                self._indices.add(op)
        self._light = self._light_ones(operations)
        for op in reversed(operations):
            self._roots[op] = self._roots_of(op)
        self._cut: set[Op] = set()
        self._cut_chains(operations)
        results = (op.results[0] for op in operations if fusible(op))
        self._expressions = frozenset(filter(self.fused, results))

    def users(self, value: Value) -> Sequence[Op]:
        return self._uses.of(value)

    def joint(self, op: Op) -> Sequence[Op]:
        """Return the stores of one loop, in program order; any other operation by itself."""
        return self._joint.get(op, (op,))

    def loop_of(self, op: Op) -> Op:
        """Return the operation where the loop of an operation stands: of joint stores, the last one."""
        return self.joint(op)[-1]

    def used_once(self, value: Value) -> bool:
        """Return whether a single operation, in the block that defines `value`, reads its tile.

        False for constants and for tiles that another value may share.
        """
        users, owner = self.users(value), value.owner
        shared = (*ALIASES, *RESHAPING, core.Constant) if isinstance(owner, Op) else (calls.Func,)
        if isinstance(owner if isinstance(owner, Op) else owner.parent, shared):
            return False
        return len(users) == 1 and users[0].operands.count(value) == 1 and users[0].parent is home_of(value)

    def fused(self, value: Value) -> bool:
        """Return whether the value is computed where it is used."""
        op = value.op
        if op is None or op in self._cut:
            return False
        return self._is_cheap(op) or op not in self._roots[op]

    def _is_cheap(self, op: Op) -> bool:
        return isinstance(op, CHEAP) or op in self._indices

    def _is_index(self, value: Value) -> bool:
        """Return whether a value is a scalar, or cheap index arithmetic on scalars and element indices."""
        return value.op in self._indices or (isinstance(value.type, t.TileType) and value.tile.count == 1)

    def expression(self, value: Value) -> Iterator[Value]:
        """Yield the values that elements of `value` are computed from in one loop, each once, beginning with itself."""
        waiting, seen = [value], {value}
        while waiting:
            one = waiting.pop()
            yield one
            if one.op is not None and (one is value or self.is_expression(one)):
                operands = [operand for operand in dict.fromkeys(one.op.operands) if operand not in seen]
                seen.update(operands)
                waiting += reversed(operands)

    def is_expression(self, value: Value) -> bool:
        """Return whether elements of `value` are computed where they are used."""
        return value in self._expressions

    def weight(self, value: Value) -> int:
        """Return the operations that compute an element of `value` where it is used, free ones left out."""
        if not self.is_expression(value):
            return 0
        computed = filter(self.is_expression, self.expression(value))
        return sum(not isinstance(one.op, FREE) for one in computed)

    def _cut_chains(self, operations: list[Op]) -> None:
        """Materialise expressions that are too deep."""
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

    def _light_ones(self, operations: list[Op]) -> set[Op]:
        """Return the operations whose elements are computed from those of one loaded tile in a few light steps: as fast
        as they would be written to memory and read again."""
        steps: dict[Value, int] = {}
        tiles: dict[Value, frozenset[Value]] = {}
        found = set()
        for op in operations:
            if not isinstance(op, FREE) and op not in self._indices and not _is_light(op):
                continue
            result, is_light = op.results[0], _is_light(op)
            read = [one for one in op.operands if one.tile.count == result.tile.count > 1]
            steps[result] = is_light + sum(steps.get(one, 0) for one in read)
            tiles[result] = frozenset().union(*(tiles.get(one, frozenset([one])) for one in read))
            is_short = steps[result] <= MOST_STEPS and len(tiles[result]) == 1
            if is_light and is_short and all(map(_is_loaded, tiles[result])):
                found.add(op)
        return found

    def _roots_of(self, op: Op) -> frozenset[Op]:
        if not fusible(op):
            return frozenset([self.loop_of(op)])
        roots = frozenset().union(*(self._consumer_roots(user, op) for user in self.users(op.results[0])))
        is_repeated = op in self._light and op not in roots
        return roots if len(roots) == 1 or is_repeated else frozenset([op])

    def _consumer_roots(self, user: Op, op: Op) -> frozenset[Op]:
        """Return the roots that a use leads to; one in another block or one that repeats costly work keeps the value
        here."""
        here = frozenset([op])
        if user.parent is not op.parent:
            return here
        if not fusible(user):
            return frozenset([self.loop_of(user)])
        roots = self._roots[user]
        # A divisor is looked at before anything is divided. Address arithmetic is repeated, what it divides is not.
        is_divisor = isinstance(user, division.DivI | division.RemI) and user.rhs is op.results[0]
        widens = isinstance(user, shapes.Broadcast) and user.result.type is not op.results[0].type
        is_in_address = isinstance(op, division.DivI | division.RemI) and self._is_cheap(user)
        repeats = widens or is_divisor or is_in_address or any(map(self._is_cheap, roots))
        return here if repeats and not self._is_cheap(op) else roots


def _is_loaded(value: Value) -> bool:
    access = None if value.op is None else access_of(value.op)
    return access is not None and not access.writes


def _is_light(op: Op) -> bool:
    """Return whether an operation is one instruction for many elements, of numbers that registers hold as they are."""
    if isinstance(op, conversion.FToF):
        source, target = op.operands[0].tile.number, op.results[0].tile.number
        return source.bits >= 16 and source.bits < target.bits
    return isinstance(op, LIGHT) and op.results[0].tile.element in (t.F32, t.F64)


def fusible(op: Op) -> bool:
    """Return whether an operation computes each element from elements of its operands, without effects."""
    if isinstance(op, INDEX_MAPPING + FREE):
        return True
    return ELEMENTWISE in op.spec.traits and all(isinstance(result.type, t.TileType) for result in op.results)
