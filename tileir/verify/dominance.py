"""Visibility of values: an operation may use those defined before it, in its region or in one around it."""

from __future__ import annotations

from collections.abc import Iterator

from tileir.ir.core import Block, Op, Value
from tileir.ir.diagnostics import Note
from tileir.ir.traits import ISOLATED
from tileir.verify.rule import Violation, noted, value_loc


def visibility_violation(op: Op, value: Value) -> tuple[str, Violation]:
    """The code and violation of an operand that is not visible at `op`."""
    what = _operand_text(op, value)
    definition = value.owner if isinstance(value.owner, Block) else value.owner.parent
    notes = noted("the value is defined here", value_loc(value))
    crossed: Op | None = None
    for block in _enclosing(op):
        if block is definition:
            return _out_of_reach(what, notes, crossed)
        if crossed is None and block.parent is not None and ISOLATED in block.parent.spec.traits:
            crossed = block.parent
    return "E0221", Violation(what, "a value of this region or of one around it", "a value of another region", notes)


def _out_of_reach(what: str, notes: tuple[Note, ...], crossed: Op | None) -> tuple[str, Violation]:
    if crossed is None:
        return "E0220", Violation(what, "a value that is defined before its use", "one that is defined later", notes)
    name = crossed.spec.name
    hint = f"hand the value over as an argument of the '{name}'" if name != "module" else None
    return "E0222", Violation(what, f"a value defined inside the '{name}'", "one from outside", notes, hint)


def _enclosing(op: Op) -> Iterator[Block]:
    block = op.parent
    while block is not None:
        yield block
        block = None if block.parent is None else block.parent.parent


def _operand_text(op: Op, value: Value) -> str:
    position = op.operands.index(value)
    begin = 0
    for operand, size in zip(op.spec.operands, op.segments):
        if position < begin + size:
            index = "" if operand.single or operand.optional else f"[{position - begin}]"
            return f"operand '{operand.name}{index}'"
        begin += size
    return f"operand {position}"
