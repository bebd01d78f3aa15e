"""The passes ``canonicalise``, ``fold`` and ``fuse-fma``: every operation in its simplest form, constants computed.

Folding uses the arithmetic of a run, supplied by the caller. Rewrites that are patterns are in `passes.rules`; a
product and a sum become one operation with one rounding only where the user asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from tileir.analysis.structure import Uses
from tileir.ir.attributes import DenseElements
from tileir.ir.core import Module, Op, Value
from tileir.ir.loc import Location
from tileir.ir.traits import ELEMENTWISE, NO_MEMORY_EFFECT, PURE
from tileir.ir.types import F4E2M1FN, I1, ElementType, TileType
from tileir.ops.conversion import Bitcast
from tileir.ops.core import Constant, Select
from tileir.ops.misc import Assume
from tileir.ops.pointers import JoinTokens, MakeToken
from tileir.ops.shapes import Broadcast, Extract, Permute, Reshape
from tileir.passes.facts import Evaluate, constant_of, content_array, dense, is_determined
from tileir.passes.pattern import Bound, PatternRow, build
from tileir.passes.rebuilding import ChangeLog, Exactness, Rebuilding, Row, fused
from tileir.passes.rules import FUSED, PATTERNS

# ---------------------------------------------------------------- folding


FOLDED = Row(
    "constant-operands", "fold", "OP(C, D, ...)", "constant", Exactness.EXACT,
    "the interpreter's own rule computes the result, so that folding and running are one arithmetic",
    "the result is fixed by the language and no NaN, nothing undefined happens, and the tile is no larger than before",
)  # fmt: skip

FOLD_ROWS = (FOLDED,)

_MOVES = (Broadcast, Reshape, Permute, Extract)
_KEEPS_BITS = (*_MOVES, Select, Bitcast)
LARGEST = 1 << 12
"""Elements of a constant that is not the same everywhere."""


def folded(op: Op, evaluate: Evaluate) -> list[DenseElements] | None:
    """Return the contents of the results of an operation whose operands are constants; None where it is not folded."""
    known: list[DenseElements] = []
    for value in op.operands:
        content = constant_of(value)
        if content is None:
            return None
        known.append(content)
    if not known or not is_foldable(op):
        return None
    types = [result.tile for result in op.results]
    if isinstance(op, _MOVES) and known[0].is_splat:
        return [DenseElements(types[0], known[0].data)]
    if ELEMENTWISE in op.spec.traits and all(content.is_splat for content in known):
        return _computed(op, [content_array(content) for content in known], types, evaluate)
    largest = max(content.type.count for content in known)
    if any(type.count > min(largest, LARGEST) for type in types):
        return None
    full = [np.broadcast_to(content_array(content), content.type.shape) for content in known]
    return _computed(op, full, types, evaluate)


def is_foldable(op: Op) -> bool:
    """Return whether an operation computes numbers from its operands alone, the same everywhere."""
    if op.regions or op.discardable or not (PURE in op.spec.traits or NO_MEMORY_EFFECT in op.spec.traits):
        return False
    return is_determined(op) and all(map(_is_number, op.results)) and all(map(_is_number, op.operands))


def _is_number(value: Value) -> bool:
    return isinstance(value.type, TileType) and Constant.spec.results[0].constraint.accepts(value.type)


def _computed(
    op: Op, arrays: Sequence[np.ndarray], types: Sequence[TileType], evaluate: Evaluate
) -> list[DenseElements] | None:
    results = evaluate(op, arrays)
    if results is None or not (isinstance(op, _KEEPS_BITS) or not any(map(_has_nan, results, types))):
        return None
    return [dense(type, np.asarray(result)) for type, result in zip(types, results)]


def _has_nan(array: np.ndarray, type: TileType) -> bool:
    assert isinstance(type.element, ElementType)
    return type.element.is_float and bool(np.isnan(np.asarray(array, np.float64)).any())


# ---------------------------------------------------------------- canonical forms


SAME_PROMISE = Row(
    "assume-twice", "canonicalise", "assume P (assume P x)", "assume P x", Exactness.EXACT,
    "the promise has been made already",
)  # fmt: skip
JOINED = Row(
    "join-tokens", "canonicalise", "join_tokens of joins, fresh tokens or one token twice", "join_tokens of the rest",
    Exactness.EXACT, "a join waits for all that its operands wait for, and a fresh token for nothing",
)  # fmt: skip
UNIFORM = Row(
    "elementwise-of-broadcasts", "canonicalise", "OP(broadcast x, broadcast y, ...)", "broadcast OP(x, y, ...)",
    Exactness.EXACT, "equal operands give equal results, so that one computation serves all elements of a row",
    "OP is element-wise and its result fixed by the language, and no tile of i1: a mask that is partly one bit makes "
    "longer code; constants count as broadcasts",
)  # fmt: skip
CANONICALISE_ROWS: tuple[Row, ...] = (*PATTERNS, SAME_PROMISE, JOINED, UNIFORM)


@lru_cache(maxsize=1 << 12)
def _rows_for(op: type[Op], defining: tuple[type, ...]) -> tuple[PatternRow, ...]:
    """Return the rows that may fit an operation whose operands come from operations, or blocks, of those classes."""
    return tuple(row for row in PATTERNS if row.matched.op is op and row.may_match(defining))


class Folding(Rebuilding):
    """The walk that computes constants."""

    def __init__(self, log: ChangeLog, evaluate: Evaluate) -> None:
        super().__init__(log)
        self.evaluate = evaluate

    def emit(self, op: Op) -> Sequence[Value]:
        return self._folded(op) or super().emit(op)

    def _folded(self, op: Op) -> Sequence[Value] | None:
        contents = folded(op, self.evaluate)
        if contents is None:
            return None
        made = [Constant.build([content.type], op.loc, value=content) for content in contents]
        return self._noted(FOLDED, op, [self.block.append(one).results[0] for one in made])

    def _noted(self, row: Row, op: Op, values: Sequence[Value]) -> Sequence[Value]:
        self.log.note(row, op, values)
        return values


class Canonicalise(Folding):
    """The walk that folds and applies the rows of single operations."""

    def emit(self, op: Op) -> Sequence[Value]:
        if op.regions or not op.operands:
            return self.block.append(op).results
        defining = tuple([type(value.owner) for value in op.operands])
        return (
            (self._folded(op) if Constant in defining else None)
            or self._matched(op, defining)
            or self._special(op, defining)
            or self.block.append(op).results
        )

    def _matched(self, op: Op, defining: tuple[type, ...]) -> Sequence[Value] | None:
        for row in _rows_for(type(op), defining):
            bound = row.match(op)
            if bound is not None:
                made = build(row.made, op.results[0].type, bound, _place(row, op), self)
                if made is not None:
                    return self._noted(row, op, [made])
        return None

    def _special(self, op: Op, defining: tuple[type, ...]) -> Sequence[Value] | None:
        if isinstance(op, Assume):
            inner = op.value.owner
            known = isinstance(inner, Assume) and inner.predicate == op.predicate
            return self._noted(SAME_PROMISE, op, [op.value]) if known else None
        if isinstance(op, JoinTokens):
            return self._joined(op)
        return self._uniform(op) if Broadcast in defining else None

    # ------------------------------------------------------------ tokens

    def _joined(self, op: JoinTokens) -> Sequence[Value] | None:
        parts: dict[Value, None] = {}
        for token in op.tokens:
            owner = token.owner
            for part in owner.tokens if isinstance(owner, JoinTokens) else (token,):
                if not isinstance(part.owner, MakeToken):
                    parts[part] = None
        left = tuple(parts)
        if left == op.tokens:
            return None
        if len(left) > 1:
            return self._noted(JOINED, op, self.emit(JoinTokens.build([op.result.type], op.loc, tokens=left)))
        return self._noted(JOINED, op, left or op.tokens[:1])

    # ------------------------------------------------------------ tiles of equal elements

    def _uniform(self, op: Op) -> Sequence[Value] | None:
        """Return `op` on the sources of broadcasts."""
        if ELEMENTWISE not in op.spec.traits or PURE not in op.spec.traits or op.discardable or not is_determined(op):
            return None
        sources = [value.owner.source.tile for value in op.operands if isinstance(value.owner, Broadcast)]
        shapes_of = {source.shape for source in sources}
        if (
            len(shapes_of) != 1
            or not all(map(_is_uniform, op.operands))
            or op.results[0].tile.element in (F4E2M1FN, I1)
        ):
            return None
        (shape,) = shapes_of
        operands = [self._source(value, shape, op.loc) for value in op.operands]
        type = TileType(shape, op.results[0].tile.element)
        (small,) = self.emit(op.__class__(operands, [type], op.attributes.copy(), (), op.loc, op.segments))
        large = self.emit(Broadcast.build([op.results[0].type], op.loc, source=small))
        return self._noted(UNIFORM, op, large)

    def _source(self, value: Value, shape: tuple[int, ...], loc: Location) -> Value:
        if isinstance(value.owner, Broadcast):
            return value.owner.source
        content = constant_of(value)
        assert content is not None, "an operand is a broadcast or a constant"
        type = TileType(shape, content.element)
        (made,) = self.emit(Constant.build([type], loc, value=DenseElements(type, content.data)))
        return made


def _is_uniform(value: Value) -> bool:
    content = constant_of(value)
    return isinstance(value.owner, Broadcast) or (content is not None and content.is_splat)


def _place(row: PatternRow, op: Op) -> Location:
    """Return the location of `op`, fused with those of the operations it absorbs."""
    return fused(op.loc, *(inner.loc for inner in row.absorbed(op)))


# ---------------------------------------------------------------- fused products and sums


FUSE_ROWS = FUSED


class Fusing(Rebuilding):
    """The walk that makes multiply-adds (spec: passes#fusion)."""

    def module(self, module: Module) -> Module:
        self.uses = Uses([module.op])
        return super().module(module)

    def visit(self, op: Op) -> None:
        for row in FUSED:
            bound = row.match(op) if type(op) is row.matched.op else None
            if bound is not None and self._used_once(row, op):
                self._fuse(row, op, bound)
                return
        super().visit(op)

    def _used_once(self, row: PatternRow, op: Op) -> bool:
        (product,) = row.absorbed(op)
        return list(self.uses.of(product.results[0])) == [op] and op.operands.count(product.results[0]) == 1

    def _fuse(self, row: PatternRow, op: Op, bound: Bound) -> None:
        (product,) = row.absorbed(op)
        now = {name: self.values[found] if isinstance(found, Value) and found in self.values else found
               for name, found in bound.items()}  # fmt: skip
        made = build(row.made, op.results[0].type, now, self.place(fused(op.loc, product.loc)), self)
        assert made is not None, "a fused operation has the type of the sum"
        self.log.note(row, op, [made])
        self.bind(op.results, [made])
