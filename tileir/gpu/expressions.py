"""Numbers that a launch computes from the parameters of a kernel: addresses, extents and strides of tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from tileir.gpu.ttir.ir.code import ConstantBits, Instruction, TtirType, TtirValue

MAX_STEPS = 256
"""Steps that a launch takes for a number at most."""
MAX_SHOWN = 100
"""Characters of a part of an expression in words; a longer part is shown as ``...``."""


class ExpressionStep(NamedTuple):
    """A parameter or a constant by its `number`; or an instruction with a result of `number` bits, whose `operands`
    are results of earlier steps, by their places."""

    name: str
    number: int
    operands: tuple[int, ...] = ()


Expression = tuple[ExpressionStep, ...]
"""The steps to a number, which is the result of the last."""

Arguments = Sequence[int] | Mapping[int, int]
"""The arguments of a launch by position, as numbers without sign."""

_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "arith.addi": operator.add,
    "arith.subi": operator.sub,
    "arith.muli": operator.mul,
    "arith.andi": operator.and_,
    "arith.ori": operator.or_,
    "arith.xori": operator.xor,
    "arith.minui": min,
    "arith.maxui": max,
}
"""On numbers without sign; the result is taken modulo the width."""
_RESIZED = ("arith.extui", "arith.trunci", "tt.bitcast", "tt.ptr_to_int", "tt.int_to_ptr")
"""Keep the number, modulo the width."""
_SIGNED = ("arith.extsi", "tt.addptr")


def expression_of(value: TtirValue, parameters: Sequence[TtirValue]) -> Expression | None:
    """Return how a scalar is computed from `parameters`; None if that is unknown before a launch, or too long."""
    steps: list[ExpressionStep] = []
    places: dict[TtirValue, int] = {}
    waiting = [value]
    while waiting and len(steps) <= MAX_STEPS:
        value, owner = waiting[-1], waiting[-1].owner
        if value in places:
            waiting.pop()
            continue
        if value in parameters:
            steps.append(ExpressionStep("parameter", parameters.index(value)))
        elif not isinstance(owner, Instruction) or value.type.is_tensor:
            return None
        elif owner.name == "arith.constant":
            number = owner.attributes["value"]
            assert isinstance(number, ConstantBits)
            steps.append(ExpressionStep("constant", number.bits))
        elif owner.name not in _OPERATORS and owner.name not in (*_RESIZED, *_SIGNED):
            return None
        elif missing := [operand for operand in owner.operands if operand not in places]:
            waiting += reversed(missing)
            continue
        else:
            operands = [places[operand] for operand in owner.operands]
            if owner.name in _SIGNED:
                _add_signed(steps, owner, operands)
            else:
                steps.append(ExpressionStep(owner.name, value.type.bits, tuple(operands)))
        places[waiting.pop()] = len(steps) - 1
    return tuple(steps) if len(steps) <= MAX_STEPS else None


def _add_signed(steps: list[ExpressionStep], owner: Instruction, operands: Sequence[int]) -> None:
    """Add the steps of an instruction whose last operand has a sign, by those on numbers without."""

    def add(name: str, number: int, *operands: int) -> int:
        steps.append(ExpressionStep(name, number, operands))
        return len(steps) - 1

    bits, result = owner.operands[-1].type.bits, owner.results[0].type
    sign = add("constant", 1 << (bits - 1))
    extended = add("arith.subi", result.bits, add("arith.xori", bits, operands[-1], sign), sign)
    if owner.name == "tt.addptr":
        size = add("constant", TtirType(result.pointee).bits // 8)
        add("arith.addi", 64, operands[0], add("arith.muli", 64, extended, size))


def evaluated(expression: Expression, arguments: Arguments) -> int:
    """Return the value of an expression, as a number without sign."""
    found: list[int] = []
    for name, number, operands in expression:
        if name == "parameter":
            found.append(arguments[number])
        elif name == "constant":
            found.append(number)
        else:
            values = [found[place] for place in operands]
            result = _OPERATORS[name](*values) if name in _OPERATORS else values[0]
            found.append(result & ((1 << number) - 1))
    return found[-1]


def parameters_in(expression: Expression) -> set[int]:
    """Return the positions of the parameters in an expression."""
    return {step.number for step in expression if step.name == "parameter"}


_SYMBOLS = {"addi": "+", "subi": "-", "muli": "*", "andi": "&", "ori": "|", "xori": "^"}


def text(expression: Expression) -> str:
    """Return an expression in words: ``p0 + p3 * 64``; changes of width are left out."""
    found: list[str] = []
    for name, number, operands in expression:
        parts = [found[place] if len(found[place]) <= MAX_SHOWN else "..." for place in operands]
        short = name.partition(".")[2]
        if name in ("parameter", "constant"):
            found.append(f"p{number}" if name == "parameter" else str(number))
        elif len(parts) == 1:
            found.append(parts[0])
        elif short in _SYMBOLS:
            found.append(f"({f' {_SYMBOLS[short]} '.join(parts)})")
        else:
            found.append(f"{short[:3]}({', '.join(parts)})")
    return found[-1]


def read(written: Sequence[Sequence[object]]) -> Expression:
    """Return an expression from what JSON makes of it."""
    return tuple(ExpressionStep(str(name), number, tuple(operands)) for name, number, operands in written)  # type: ignore
