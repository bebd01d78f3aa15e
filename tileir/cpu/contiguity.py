"""Along which dimension the neighbours in a tile of pointers are neighbours in memory.

Knows: how far apart neighbours of a tile of numbers or pointers are seen to be, from the operations that made it.
The answer is only a hint for the order of loops: what is read does not depend on it.
"""

from __future__ import annotations

from math import prod

from tileir.ir import types as t
from tileir.ir.core import Block, Op, Value
from tileir.ops import control, conversion, core, integer, misc

Steps = tuple[int | None, ...]
"""For each dimension the difference of neighbours (of pointers, in elements); None where it is not seen."""

DEEPEST = 64


def unit_dimension(value: Value) -> int | None:
    """The dimension along which the pointers go from element to element."""
    steps = _steps(value, DEEPEST)
    return next((dim for dim in reversed(range(len(steps))) if steps[dim] == 1), None)


def _steps(value: Value, depth: int) -> Steps:
    assert isinstance(value.type, t.TileType)
    shape = value.type.shape
    if value.type.count == 1:
        return (0,) * len(shape)
    found = _known(value, depth - 1) if depth else None
    steps = found or (None,) * len(shape)
    return tuple(0 if extent == 1 else step for extent, step in zip(shape, steps))


def _known(value: Value, depth: int) -> Steps | None:
    op = value.op
    if op is None:
        return _carried(value, depth)
    if isinstance(op, core.Constant):
        return (0,) * op.value.type.rank if op.value.is_splat else None
    if isinstance(op, core.Iota):
        return (1,)
    if isinstance(op, core.Broadcast | misc.Assume | conversion.ExtI):
        return _steps(op.operands[0], depth)
    if isinstance(op, core.Reshape):
        return _reshaped(_steps(op.source, depth), op.source.type.shape, op.result.type.shape)
    if isinstance(op, integer.AddI | integer.SubI | integer.MulI | core.Offset):
        left, right = (_steps(operand, depth) for operand in op.operands)
        return tuple(_step_of(op, mine, other) for mine, other in zip(left, right))
    return None


def _step_of(op: Op, left: int | None, right: int | None) -> int | None:
    """The step of a sum, difference or product from those of its operands."""
    if left is None or right is None:
        return None
    if isinstance(op, integer.MulI):
        return 0 if left == right == 0 else None
    return left - right if isinstance(op, integer.SubI) else left + right


def _carried(value: Value, depth: int) -> Steps | None:
    """What a loop carries is taken to be laid out as it is at the start."""
    block = value.owner
    if isinstance(block, Block) and isinstance(block.parent, control.For) and value is not block.args[0]:
        return _steps(block.parent.initial[block.args.index(value) - 1], depth)
    return None


def _reshaped(steps: Steps, before: tuple[int, ...], after: tuple[int, ...]) -> Steps | None:
    """A dimension keeps its step where only ones come and go; one dimension may be cut into several."""
    kept = [step for step, extent in zip(steps, before) if extent != 1]
    if [extent for extent in before if extent != 1] == [extent for extent in after if extent != 1]:
        rest = iter(kept)
        return tuple(0 if extent == 1 else next(rest) for extent in after)
    if len(kept) == 1 and kept[0] is not None:
        return tuple(kept[0] * prod(after[dim + 1 :]) for dim in range(len(after)))
    return None
