"""Facts about single operations that rewrites ask for.

Facts are about constants, and about which operations may be computed early, left out or shared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from tileir.analysis.effects import access_of, ordering_of, own_effect
from tileir.ir.attributes import DenseElements, MemoryOrdering, Rounding
from tileir.ir.core import Block, Op, Value
from tileir.ir.effects import Effect
from tileir.ir.storage import dtype_of
from tileir.ir.traits import NO_MEMORY_EFFECT, PURE
from tileir.ir.types import ElementType, TileType, checked_cast
from tileir.ops.control import For, Loop
from tileir.ops.core import Constant
from tileir.ops.division import RemI
from tileir.ops.floating import DivF, Sqrt
from tileir.ops.matmul import MmaF, MmaFScaled
from tileir.ops.misc import Assume
from tileir.ops.shapes import Extract, Insert
from tileir.ops.views import MakeTensorView

Evaluate = Callable[[Op, Sequence[np.ndarray]], "Sequence[np.ndarray] | None"]
"""Maps an operation and the contents of its operands to those of its results; None where it has undefined behaviour."""

_INEXACT = (MmaF, MmaFScaled)


def constant_of(value: Value) -> DenseElements | None:
    """Return the content of a value that a `constant` defines."""
    op = value.owner
    return op.value if isinstance(op, Constant) else None


def splat_of(value: Value) -> int | None:
    """Return the bits of all elements of a constant, if they are the same and integers."""
    content = constant_of(value)
    if content is None or not content.is_splat or content.element.is_float:
        return None
    return int.from_bytes(content.data, "little") & ((1 << content.element.bits) - 1)


def signed_splat_of(value: Value) -> int | None:
    """Return the value of a splat, read as a signed number."""
    bits = splat_of(value)
    width = checked_cast(value.type, TileType).number.bits if bits is not None else 0
    return bits if bits is None or bits >> (width - 1) == 0 else bits - (1 << width)


def content_array(content: DenseElements) -> np.ndarray:
    """Return the elements: of rank 0 for a splat, else of the shape of the tile."""
    data = np.frombuffer(content.data, np.uint8).view(dtype_of(content.element))
    return data.reshape(()) if content.is_splat else data.reshape(content.type.shape)


def dense(type: TileType, array: np.ndarray) -> DenseElements:
    """Return the content of a constant of that type, from all elements or from one that stands for all."""
    data = np.ascontiguousarray(array, dtype_of(type.element)).tobytes()
    return DenseElements.of(type, data)


def splat(type: TileType, number: int) -> DenseElements:
    """Return an integer, modulo 2^width, in all elements."""
    element = checked_cast(type.element, ElementType)
    return DenseElements(type, (number % (1 << element.bits)).to_bytes(element.byte_size, "little"))


def is_determined(op: Op) -> bool:
    """Return whether the language fixes the results of an operation to the bit, for given operands."""
    if op.spec.chapter == "functions" or isinstance(op, _INEXACT):
        return False
    if isinstance(op, DivF | Sqrt):
        return op.attributes.get("rounding_mode") not in (Rounding.APPROX, Rounding.FULL)
    return True


def is_speculatable(op: Op) -> bool:
    """Return whether an operation may be computed where the program would not: it cannot trap, and has no effect."""
    if op.regions or not op.spec.pure:
        return False
    if isinstance(op, RemI):
        return splat_of(op.rhs) not in (None, 0)
    if isinstance(op, Extract | Insert):
        return _subtile_is_there(op)
    return not isinstance(op, MakeTensorView) or not _may_be_too_large(op)


def _may_be_too_large(op: MakeTensorView) -> bool:
    """Return whether an extent or stride may be 2^63 or more, which only an i64 can be."""
    return any(value.tile.number.bits == 64 and constant_of(value) is None for value in op.operands[1:])


def may_trap(op: Op) -> bool:
    """Return whether an operation itself may end a launch on a target that checks for faults.

    One with regions runs what is in them, but a loop may exceed the limit of iterations, and a `for` checks its step.
    """
    return isinstance(op, For | Loop) or not (op.regions or op.spec.terminator or is_speculatable(op))


def _subtile_is_there(op: Extract | Insert) -> bool:
    whole, part = (op.source, op.results[0]) if isinstance(op, Extract) else (op.destination, op.source)
    counts = [extent // size for extent, size in zip(whole.tile.shape, part.tile.shape)]
    indices = [splat_of(index) for index in op.indices]
    return all(index is not None and index < count for index, count in zip(indices, counts))


def is_shareable(op: Op) -> bool:
    """Return whether an equal operation before it can replace an operation."""
    return _is_shareable_kind(type(op)) and not op.regions and not op.discardable


@cache
def _is_shareable_kind(kind: type[Op]) -> bool:
    return kind is Assume or PURE in kind.traits or NO_MEMORY_EFFECT in kind.traits


def is_weak_load(op: Op) -> bool:
    """Return whether an operation only reads memory that nobody else writes meanwhile."""
    return own_effect(op) is Effect.READ and access_of(op) is not None and ordering_of(op) is MemoryOrdering.WEAK


_UNNEEDED = Effect.READ | Effect.ALLOCATE | Effect.PROMISE


def is_needed(op: Op) -> bool:
    """Return whether an operation must stay even if nobody uses its results."""
    effect = own_effect(op)
    if effect is Effect.NONE:
        return False
    return effect not in _UNNEEDED or (effect is Effect.READ and not is_weak_load(op))


def ops_in(block: Block | None) -> list[Op]:
    """Return the operations of a block but its terminator."""
    return [] if block is None else block.ops[:-1]
