"""Operations and values in a few words, for people who look at what a pass did.

    addi(muli(%n, 4), 1)

Knows: how an expression is written short. Does not know: the language's own text (`text`).
"""

from __future__ import annotations

from collections.abc import Sequence

from tileir.ir.attributes import DenseElements
from tileir.ir.core import Block, Op, Value
from tileir.ops.core import Constant
from tileir.passes.facts import content_array

DEPTH = 2
"""Operations that are looked through."""
_WIDEST = 60


def op_text(op: Op, depth: int = DEPTH) -> str:
    """An operation with its operands."""
    if isinstance(op, Constant):
        return constant_text(op.value)
    operands = ", ".join(value_text(value, depth - 1) for value in op.operands)
    return shortened(f"{op.spec.name}({operands})")


def value_text(value: Value, depth: int = DEPTH) -> str:
    """A value by what defines it."""
    owner = value.owner
    if isinstance(owner, Block):
        names = owner.arg_names
        return names[value.index] if value.index < len(names) else f"%arg{value.index}"
    if isinstance(owner, Constant):
        return constant_text(owner.value)
    text = op_text(owner, depth) if depth > 0 else owner.spec.name
    return f"{text}#{value.index}" if len(owner.results) > 1 else text


def values_text(values: Sequence[Value]) -> str:
    """Values that stand for the results of an operation."""
    return shortened(", ".join(map(value_text, values)))


def constant_text(content: DenseElements) -> str:
    return str(content_array(content).item()) if content.is_splat else f"constant {content.type.text}"


def shortened(text: str) -> str:
    return text if len(text) <= _WIDEST else text[: _WIDEST - 3] + "..."
