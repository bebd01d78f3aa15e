"""Extents that code expects to be below 2^31, as expressions over the parameters of a kernel.

A launch computes them before it takes that code; another variant serves a launch with a larger one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from tileir.gpu.ttir.ir.code import ConstantBits, Instruction, TtirBlock, TtirValue

LIMIT = 1 << 31
MAX_STEPS = 16
"""Operations that are followed one after the other."""

Extent = tuple["str | int | Extent", ...]
"""``("parameter", position)``, ``("constant", value)``, or an instruction: name, bits of the result, operands."""

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
_RESIZED = ("arith.extui", "arith.trunci")


def extent_of(value: TtirValue, body: TtirBlock, steps: int = MAX_STEPS) -> Extent | None:
    """Return how a scalar is computed from the arguments of `body`; None if that is unknown before a launch."""
    owner = value.owner
    if owner is body:
        return ("parameter", body.arguments.index(value))
    if not isinstance(owner, Instruction) or value.type.is_tensor or not steps:
        return None
    if owner.name == "arith.constant":
        number = owner.attributes["value"]
        assert isinstance(number, ConstantBits)
        return ("constant", number.bits)
    if owner.name not in _OPERATORS and owner.name not in _RESIZED:
        return None
    operands = [extent_of(operand, body, steps - 1) for operand in owner.operands]
    found = [operand for operand in operands if operand is not None]
    return (owner.name, value.type.bits, *found) if len(found) == len(operands) else None


def evaluated(extent: Extent, values: Sequence[int]) -> int:
    """Return the value of an extent, as a number without sign, for parameters that are such numbers."""
    name, first, *operands = extent
    assert isinstance(first, int)
    if name == "parameter":
        return values[first]
    if name == "constant":
        return first
    found = [evaluated(operand, values) for operand in operands if isinstance(operand, tuple)]
    result = found[0] if len(found) == 1 else _OPERATORS[str(name)](*found)
    return result & ((1 << first) - 1)


def read(written: Sequence[object]) -> Extent:
    """Return an extent from what JSON makes of it."""
    return tuple(read(part) if isinstance(part, list) else part for part in written)  # type: ignore[misc]
