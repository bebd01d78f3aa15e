"""Folding: operations on constants are computed now, by the arithmetic that would compute them in a run.

Knows: which operations may be folded, and when the result is worth having in the program. Does not know: arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tileir.ir.attributes import DenseElements
from tileir.ir.core import Op, Value
from tileir.ir.traits import ELEMENTWISE, NO_MEMORY_EFFECT, PURE
from tileir.ir.types import ElementType, TileType
from tileir.ops.conversion import Bitcast
from tileir.ops.core import Constant, Select
from tileir.ops.shapes import Broadcast, Extract, Permute, Reshape
from tileir.passes.facts import Evaluate, constant_of, content_array, dense, is_determined
from tileir.passes.row import Exactness, Row

FOLDED = Row(
    "constant-operands", "fold", "OP(C, D, ...)", "constant", Exactness.EXACT,
    "the interpreter's own rule computes the result, so that folding and running are one arithmetic",
    "the result is fixed by the language and no NaN, nothing undefined happens, and the tile is no larger than before",
)  # fmt: skip

ROWS = (FOLDED,)

_MOVES = (Broadcast, Reshape, Permute, Extract)
_KEEPS_BITS = (*_MOVES, Select, Bitcast)
LARGEST = 1 << 12
"""Elements of a constant that is not the same everywhere."""


def folded(op: Op, evaluate: Evaluate) -> list[DenseElements] | None:
    """The contents of the results of an operation whose operands are constants; None where it is not folded."""
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
    """Whether an operation computes numbers from its operands alone, the same everywhere."""
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
