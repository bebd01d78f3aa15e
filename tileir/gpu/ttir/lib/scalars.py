"""Arithmetic on 64-bit scalars (extents, strides, indices, offsets) with constant folding."""

from __future__ import annotations

from collections.abc import Sequence

from tileir.gpu.ttir.ir.code import I32, I64, Instruction, Text, TtirValue
from tileir.gpu.ttir.lowering import TtirLowering

MAX_HINT = 1 << 10
"""The largest divisor that Triton's compiler is told of."""


def number(lowering: TtirLowering, value: int) -> TtirValue:
    return lowering.build.integer(I64, value)


def unsigned(lowering: TtirLowering, value: TtirValue) -> TtirValue:
    """Return an integer or a tensor of them, read as unsigned, as i64."""
    return lowering.build.resized(value, "i64", signed=False)


def product(lowering: TtirLowering, first: TtirValue, second: TtirValue) -> TtirValue:
    a, b = lowering.known.constant(first), lowering.known.constant(second)
    if a is not None and b is not None and -(1 << 63) <= a * b < 1 << 63:
        return number(lowering, a * b)
    if 0 in (a, b):
        return number(lowering, 0)
    if a == 1:
        return second
    return first if b == 1 else lowering.build.op("arith.muli", first, second)


def total(lowering: TtirLowering, first: TtirValue, second: TtirValue) -> TtirValue:
    if lowering.known.constant(first) == 0:
        return second
    return first if lowering.known.constant(second) == 0 else lowering.build.op("arith.addi", first, second)


def quotient(lowering: TtirLowering, value: TtirValue, by: int) -> TtirValue:
    """Return an unsigned number divided by a constant, rounded down."""
    constant = lowering.known.constant(value)
    if constant is not None and constant >= 0:
        return number(lowering, constant // by)
    return value if by == 1 else lowering.build.op("arith.divui", value, number(lowering, by))


def moved(lowering: TtirLowering, pointer: TtirValue, offset: TtirValue) -> TtirValue:
    """Return a scalar pointer moved by `offset` elements."""
    if lowering.known.constant(offset) == 0:
        return pointer
    found = lowering.build.op("tt.addptr", pointer, offset)
    return hinted(found, lowering.known.divisor(found))


def narrowed(lowering: TtirLowering, value: TtirValue) -> TtirValue:
    """Return the low half."""
    constant = lowering.known.constant(value)
    if constant is not None:
        return lowering.build.integer(I32, constant)
    return hinted(lowering.build.resized(value, "i32", signed=True), lowering.known.divisor(value))


def hinted(value: TtirValue, divisor: int) -> TtirValue:
    """Return the scalar `value`, with a note for Triton's compiler that it is a multiple of `divisor`."""
    if divisor > 1:
        hint(value, "tt.divisibility", [divisor])
    return value


def hint(value: TtirValue, name: str, numbers: Sequence[int]) -> None:
    """Leave a note about the only result of an instruction: a number for each dimension, or one for a scalar."""
    if isinstance(value.owner, Instruction) and len(value.owner.results) == 1:
        limited = [min(number, MAX_HINT) for number in numbers] if name == "tt.divisibility" else list(numbers)
        noted = limited if value.type.is_tensor else limited[0]
        value.owner.attributes[name] = Text(f"dense<{noted}> : tensor<{len(limited)}xi32>")
