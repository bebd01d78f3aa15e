"""Element-wise operations: from a formula of elements to the expression that the result is bound to, or to a report."""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from tileir.cpu.emit.algebra import Flag, Int, Real
from tileir.cpu.emit.elements import Num
from tileir.cpu.emit.emitter import Emitter, Index
from tileir.cpu.emit.tiles import Compute, ExpressionTile, Formula, held, integer, real, rounded
from tileir.cpu.lowering.reports import Broken, trap_where, warn_where
from tileir.cpu.lowering.state import Lowering
from tileir.ir import types as t
from tileir.ir.attributes import Predicate
from tileir.ir.core import Op

Offends = Callable[..., Flag]
"""Maps the operands of an element to a flag that is set if they offend."""
PREDICATES = {
    Predicate.EQUAL: "==",
    Predicate.NOT_EQUAL: "!=",
    Predicate.LESS_THAN: "<",
    Predicate.LESS_THAN_OR_EQUAL: "<=",
    Predicate.GREATER_THAN: ">",
    Predicate.GREATER_THAN_OR_EQUAL: ">=",
}
"""Predicates as llvmlite spells them."""


def pointwise(lowering: Lowering, op: Op, compute: Compute) -> None:
    """Bind the result of `op` to `compute` on the elements of its operands."""
    operands = [lowering.tile(value) for value in op.operands]
    result = op.results[0]

    def element(emit: Emitter, index: Index) -> Num:
        return compute(emit.builder, *(operand.at(emit, index) for operand in operands))

    lowering.bind(result, ExpressionTile(result.tile, element))


def element_of(op: Op) -> t.ElementType:
    """Return the element type of the first operand."""
    return op.operands[0].tile.number


def result_element(op: Op) -> t.ElementType:
    return op.results[0].tile.number


def reals(lowering: Lowering, op: Op, formula: Formula, exact: bool = False) -> None:
    """Bind the result of `op` to a formula of floats of its type; `exact`: its results are numbers of that type."""
    element = element_of(op)
    finish = held if exact else rounded

    def compute(builder: ir.IRBuilder, *numbers: Num) -> Num:
        return finish(element, formula(*(real(builder, number) for number in numbers)))

    pointwise(lowering, op, compute)


def integers(lowering: Lowering, op: Op, formula: Callable[..., Int]) -> None:
    """Bind the result of `op` to a formula of integers."""
    element = result_element(op)

    def compute(builder: ir.IRBuilder, *numbers: Num) -> Num:
        return Num(element, wide=formula(*(integer(builder, number) for number in numbers)).value)

    pointwise(lowering, op, compute)


# ---------------------------------------------------------------- what strict mode looks for


def trap_where_elements(lowering: Lowering, op: Op, offends: Offends, message: str) -> None:
    """Trap at the first element whose operands, as integers or floats, offend."""
    trap_where(lowering, op, op.operands[0].tile, _broken(lowering, op, offends), message)


def warn_where_elements(lowering: Lowering, op: Op, offends: Offends, message: str) -> None:
    """Warn if the operands of any element offend."""
    warn_where(lowering, op, op.operands[0].tile, _broken(lowering, op, offends), message)


def _broken(lowering: Lowering, op: Op, offends: Offends) -> Broken:
    operands = [lowering.tile(value) for value in op.operands]
    emit = lowering.emit

    def broken(index: Index) -> ir.Value:
        return offends(*(_register(emit.builder, operand.at(emit, index)) for operand in operands)).value

    return broken


def _register(builder: ir.IRBuilder, number: Num) -> Int | Real:
    is_float = isinstance(number.element, t.ElementType) and number.element.is_float
    return real(builder, number) if is_float else integer(builder, number)
