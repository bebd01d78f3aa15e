"""How the rule of an element-wise operation becomes the expression that its result is bound to.

Knows: the ways to lift a function of registers to tiles, and how a result is put into the form of its element type.
Does not know: arithmetic.

f32 and f64 are computed in their own type; f16 and bf16 as f32, which holds them exactly, and encoded once at the end.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from tileir.cpu.algebra import Flag, Real, Whole
from tileir.cpu.codec import encode
from tileir.cpu.elements import Num, is_native
from tileir.cpu.emitter import Emitter, Index
from tileir.cpu.lowering import Lowering
from tileir.cpu.tiles import Expression, wide
from tileir.ir import types as t
from tileir.ir.attributes import Predicate
from tileir.ir.core import Op

PREDICATES = {
    Predicate.EQUAL: "==",
    Predicate.NOT_EQUAL: "!=",
    Predicate.LESS_THAN: "<",
    Predicate.LESS_THAN_OR_EQUAL: "<=",
    Predicate.GREATER_THAN: ">",
    Predicate.GREATER_THAN_OR_EQUAL: ">=",
}
"""As llvmlite spells them."""

Compute = Callable[..., Num]
"""From the builder and one element of each operand to the element of the result."""
Formula = Callable[..., Real]
"""From floats to a float."""


def pointwise(lowering: Lowering, op: Op, compute: Compute) -> None:
    """Bind the result of `op` to `compute` on the elements of its operands."""
    operands = [lowering.tile(value) for value in op.operands]
    result = op.results[0]
    assert isinstance(result.type, t.TileType)

    def element(emit: Emitter, index: Index) -> Num:
        return compute(emit.builder, *(operand.at(emit, index) for operand in operands))

    lowering.bind(result, Expression(result.type, element))


def element_of(op: Op) -> t.ElementType:
    """The element type of the first operand."""
    type = op.operands[0].type
    assert isinstance(type, t.TileType)
    assert isinstance(type.element, t.ElementType)
    return type.element


def result_element(op: Op) -> t.ElementType:
    type = op.results[0].type
    assert isinstance(type, t.TileType)
    assert isinstance(type.element, t.ElementType)
    return type.element


def real(builder: ir.IRBuilder, number: Num) -> Real:
    return Real(builder, wide(builder, number))


def whole(builder: ir.IRBuilder, number: Num) -> Whole:
    return Whole(builder, wide(builder, number))


def held(element: t.ElementType, result: Real) -> Num:
    """A result that needs no rounding to be of the element type."""
    return Num(element, wide=result.value)


def rounded(element: t.ElementType, result: Real) -> Num:
    """A result in the working type of `element`, rounded to nearest even if that is wider."""
    if is_native(element):
        return held(element, result)
    return Num(element, bits=encode(result.builder, element, result.value))


def reals(lowering: Lowering, op: Op, formula: Formula, exact: bool = False) -> None:
    """Bind the result of `op` to a formula of floats of its type; `exact`: its results are numbers of that type."""
    element = element_of(op)
    finish = held if exact else rounded

    def compute(builder: ir.IRBuilder, *numbers: Num) -> Num:
        return finish(element, formula(*(real(builder, number) for number in numbers)))

    pointwise(lowering, op, compute)


def wholes(lowering: Lowering, op: Op, formula: Callable[..., Whole]) -> None:
    """Bind the result of `op` to a formula of integers."""
    element = result_element(op)

    def compute(builder: ir.IRBuilder, *numbers: Num) -> Num:
        return Num(element, wide=formula(*(whole(builder, number) for number in numbers)).value)

    pointwise(lowering, op, compute)


def condition(flag: Flag) -> Num:
    return Num(t.I1, wide=flag.value)
