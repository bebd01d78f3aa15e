"""Native code for integer division: quotients in three roundings, and remainders.

A zero divisor stops the launch. It is looked for before anything is divided, in a loop of its own, so that the loop
that divides stays free of branches; whatever happens, no instruction divides by zero or overflows.
"""

from __future__ import annotations

from llvmlite import ir

from tileir.cpu.emit.algebra import Int
from tileir.cpu.emit.elements import DOUBLE, I32
from tileir.cpu.emit.tiles import integer
from tileir.cpu.lowering.elementwise import integers, trap_where_elements
from tileir.cpu.lowering.reports import Broken, any_where, trap_where
from tileir.cpu.lowering.state import Lower, Lowering
from tileir.host import undefined
from tileir.ir.attributes import DenseElements, Rounding, Signedness
from tileir.ir.core import Op, Value
from tileir.ir.rules import Rules
from tileir.ops.core import Constant
from tileir.ops.division import DivI, RemI
from tileir.ops.shapes import Broadcast, Permute, Reshape

rules: Rules[Lower] = Rules()
strict: Rules[Lower] = Rules()


@rules(DivI)
def lower_divi(lowering: Lowering, op: DivI) -> None:
    trap_on_zero(lowering, op, op.rhs)
    signed, single = op.signedness is Signedness.SIGNED, op.result.type.count == 1

    def divided(x: Int, y: Int) -> Int:
        return _divided(x, y, signed, op.rounding, single)

    integers(lowering, op, divided)


@rules(RemI)
def lower_remi(lowering: Lowering, op: RemI) -> None:
    trap_on_zero(lowering, op, op.rhs)
    signed, single = op.signedness is Signedness.SIGNED, op.result.type.count == 1

    def remainder(x: Int, y: Int) -> Int:
        return x - _divided(x, y, signed, Rounding.ZERO, single) * y

    integers(lowering, op, remainder)


@strict(DivI)
def look_at_quotient(lowering: Lowering, op: DivI) -> None:
    """The smallest integer divided by -1 does not fit."""
    if op.signedness is Signedness.SIGNED:
        trap_where_elements(lowering, op, lambda x, y: x.differs(0) & (-x).equals(x) & y.equals(-1), undefined.QUOTIENT)


# ---------------------------------------------------------------- zero divisors


def trap_on_zero(lowering: Lowering, op: Op, divisor: Value) -> None:
    """Stop the launch if any element of the divisor, the second operand of `op`, is zero."""
    divisor = _origin(divisor)
    if isinstance(divisor.op, Constant) and not _has_zero(divisor.op.value):
        return
    emit, all_of = lowering.emit, op.operands[1]
    found = any_where(emit, divisor.tile, _is_zero(lowering, divisor))
    with emit.when(found, likely=False), emit.rarely(), emit.region():
        trap_where(lowering, op, all_of.tile, _is_zero(lowering, all_of), undefined.DIVISION_BY_ZERO)


def _is_zero(lowering: Lowering, divisor: Value) -> Broken:
    emit, tile = lowering.emit, lowering.tile(divisor)
    return lambda index: integer(emit.builder, tile.at(emit, index)).equals(0).value


def _origin(value: Value) -> Value:
    """The value whose elements these are: shape operations only repeat and move them."""
    while isinstance(value.op, Broadcast | Reshape | Permute):
        value = value.op.operands[0]
    return value


def _has_zero(value: DenseElements) -> bool:
    size = value.element.byte_size
    return any(not any(value.data[at : at + size]) for at in range(0, len(value.data), size))


# ---------------------------------------------------------------- quotients


def _divided(x: Int, y: Int, signed: bool, rounding: Rounding, single: bool) -> Int:
    """The quotient; of MIN and -1 it is MIN, of zero anything."""
    if x.width < 32:
        wide_x, wide_y = (number.extended(I32, signed) for number in (x, y))
        return _divided(wide_x, wide_y, signed, rounding, single).truncated(x.type)
    quotient = _truncated(x, y, signed, single)
    if rounding is Rounding.ZERO:
        return quotient
    rest = x - quotient * y
    inexact = rest.differs(0)
    if rounding is Rounding.NEGATIVE_INF:
        return quotient - (inexact & ((rest ^ y) < 0)).as_integer(x.type)
    above = ~((rest ^ y) < 0) if signed else inexact
    return quotient + (inexact & above).as_integer(x.type)


def _truncated(x: Int, y: Int, signed: bool, single: bool) -> Int:
    """LLVM makes a multiplication of a division by a constant; other i32 go through f64, which has vectors."""
    if isinstance(y.value, ir.Constant):
        return -x if signed and y.value.constant in (-1, (1 << x.width) - 1) else _instruction(x, y, signed)
    minus_one = y.equals(-1)
    divisor = y.unsigned_maximum(1)
    if signed:
        x = minus_one.choose(-x, x)
        divisor = minus_one.choose(Int(y.builder, y.constant(1)), divisor)
    if single or x.width == 64:
        return _instruction(x, divisor, signed)
    return (x.converted(DOUBLE, signed) / divisor.converted(DOUBLE, signed)).to_integer(x.type, signed)


def _instruction(x: Int, y: Int, signed: bool) -> Int:
    divide = x.builder.sdiv if signed else x.builder.udiv
    return Int(x.builder, divide(x.value, y.value))
