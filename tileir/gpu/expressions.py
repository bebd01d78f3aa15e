"""Numbers that a launch computes from the parameters of a kernel: addresses, extents and strides of tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence

from tileir.gpu.ttir.ir.code import ConstantBits, Instruction, TtirType, TtirValue

MAX_STEPS = 16
"""Operations that are followed one after the other."""

Expression = tuple["str | int | Expression", ...]
"""``("parameter", position)``, ``("constant", value)``, or an instruction: name, bits of the result, operands."""

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


def expression_of(value: TtirValue, parameters: Sequence[TtirValue], steps: int = MAX_STEPS) -> Expression | None:
    """Return how a scalar is computed from `parameters`; None if that is unknown before a launch."""
    if value in parameters:
        return ("parameter", parameters.index(value))
    owner = value.owner
    if not isinstance(owner, Instruction) or value.type.is_tensor or not steps:
        return None
    if owner.name == "arith.constant":
        number = owner.attributes["value"]
        assert isinstance(number, ConstantBits)
        return ("constant", number.bits)
    if owner.name not in _OPERATORS and owner.name not in (*_RESIZED, *_SIGNED):
        return None
    operands = [expression_of(operand, parameters, steps - 1) for operand in owner.operands]
    found = [operand for operand in operands if operand is not None]
    if len(found) != len(operands):
        return None
    return _signed(owner, found) if owner.name in _SIGNED else (owner.name, value.type.bits, *found)


def _signed(owner: Instruction, operands: Sequence[Expression]) -> Expression:
    """Return an instruction whose last operand has a sign, by those on numbers without."""
    number, bits = operands[-1], owner.operands[-1].type.bits
    sign: Expression = ("constant", 1 << (bits - 1))
    extended: Expression = ("arith.subi", 64, ("arith.xori", bits, number, sign), sign)
    if owner.name == "arith.extsi":
        return ("arith.subi", owner.results[0].type.bits, *extended[2:])
    size = TtirType(owner.results[0].type.pointee).bits // 8
    return ("arith.addi", 64, operands[0], ("arith.muli", 64, extended, ("constant", size)))


def evaluated(expression: Expression, arguments: Arguments) -> int:
    """Return the value of an expression, as a number without sign."""
    name, first, *operands = expression
    assert isinstance(first, int)
    if name == "parameter":
        return arguments[first]
    if name == "constant":
        return first
    found = [evaluated(operand, arguments) for operand in operands if isinstance(operand, tuple)]
    result = found[0] if len(found) == 1 else _OPERATORS[str(name)](*found)
    return result & ((1 << first) - 1)


def parameters_in(expression: Expression) -> Iterator[int]:
    """Yield the positions of the parameters in an expression, each as often as it occurs."""
    name, first, *operands = expression
    if name == "parameter":
        assert isinstance(first, int)
        yield first
    for operand in operands:
        if isinstance(operand, tuple):
            yield from parameters_in(operand)


_SYMBOLS = {"addi": "+", "subi": "-", "muli": "*", "andi": "&", "ori": "|", "xori": "^"}


def text(expression: Expression) -> str:
    """Return an expression in words: ``p0 + p3 * 64``; changes of width are left out."""
    name, first, *operands = expression
    if name in ("parameter", "constant"):
        return f"p{first}" if name == "parameter" else str(first)
    parts = [text(operand) for operand in operands if isinstance(operand, tuple)]
    if len(parts) == 1:
        return parts[0]
    short = str(name).partition(".")[2]
    return f"({f' {_SYMBOLS[short]} '.join(parts)})" if short in _SYMBOLS else f"{short[:3]}({', '.join(parts)})"


def read(written: Sequence[object]) -> Expression:
    """Return an expression from what JSON makes of it."""
    return tuple(read(part) if isinstance(part, list) else part for part in written)  # type: ignore[misc]
