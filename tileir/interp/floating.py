"""What the floating-point operations compute (specification, operations 1.5).

Knows: which function of `interp.numerics` an operation with its attributes and element type stands for.
Does not know: arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable

from tileir.interp.api import PureRule
from tileir.interp.numerics import functions, rounding, selection
from tileir.interp.numerics.rounding import Function
from tileir.ir.attributes import Rounding
from tileir.ir.core import Op
from tileir.ir.rules import Rules
from tileir.ir.types import ElementType
from tileir.ops.floating import (
    AbsF,
    AddF,
    Atan2,
    Ceil,
    CmpF,
    Cos,
    Cosh,
    DivF,
    Exp,
    Exp2,
    Floor,
    Fma,
    FPowF,
    FPowI,
    Log,
    Log2,
    MaxF,
    MinF,
    MulF,
    NegF,
    RemF,
    Rsqrt,
    Sin,
    Sinh,
    Sqrt,
    SubF,
    Tan,
    Tanh,
)

rules: Rules[PureRule] = Rules()

_ROUNDED: dict[type[Op], Callable[[ElementType, Rounding], Function]] = {
    AddF: rounding.add,
    SubF: rounding.sub,
    MulF: rounding.mul,
    Fma: rounding.fma,
}
_OF_ELEMENT: dict[type[Op], Callable[[ElementType], Function]] = {
    Atan2: functions.atan2,
    Ceil: selection.ceil,
    Cos: functions.cos,
    Cosh: functions.cosh,
    Exp: functions.exp,
    Exp2: functions.exp2,
    FPowF: functions.power,
    FPowI: functions.integer_power,
    Floor: selection.floor,
    Log: functions.log,
    Log2: functions.log2,
    RemF: selection.remainder,
    Rsqrt: functions.rsqrt,
    Sin: functions.sin,
    Sinh: functions.sinh,
    Tan: functions.tan,
    Tanh: functions.tanh,
}


def _element(op: Op) -> ElementType:
    element: ElementType = op.operands[0].type.element  # type: ignore[attr-defined]
    return element


def _flushing(op: Op, function: Function) -> Function:
    """`function`, with subnormals flushed if the operation asks for it."""
    return rounding.flushing(function) if op.attributes.get("flush_to_zero") else function


@rules(AddF, SubF, MulF, Fma)
def _rounded(op: AddF | SubF | MulF | Fma) -> Function:
    return _flushing(op, _ROUNDED[type(op)](_element(op), op.rounding_mode))


@rules(DivF)
def _divf(op: DivF) -> Function:
    """`full` is no less accurate than to nearest even allows."""
    if op.rounding_mode is Rounding.APPROX:
        return _flushing(op, functions.approximate_quotient)
    mode = Rounding.NEAREST_EVEN if op.rounding_mode is Rounding.FULL else op.rounding_mode
    return _flushing(op, rounding.div(_element(op), mode))


@rules(Sqrt)
def _sqrt(op: Sqrt) -> Function:
    mode = Rounding.NEAREST_EVEN if op.rounding_mode is Rounding.APPROX else op.rounding_mode
    return _flushing(op, rounding.sqrt(_element(op), mode))


@rules(Atan2, Ceil, Cos, Cosh, Exp, FPowF, FPowI, Floor, Log, Log2, RemF, Sin, Sinh, Tan, Tanh)
def _of_element(op: Op) -> Function:
    return _OF_ELEMENT[type(op)](_element(op))


@rules(Exp2, Rsqrt)
def _flushable(op: Exp2 | Rsqrt) -> Function:
    return _flushing(op, _OF_ELEMENT[type(op)](_element(op)))


@rules(AbsF)
def _absf(op: AbsF) -> Function:
    return selection.absolute


@rules(NegF)
def _negf(op: NegF) -> Function:
    return selection.negative


@rules(MaxF)
def _maxf(op: MaxF) -> Function:
    return _flushing(op, selection.maximum(_element(op), op.propagate_nan))


@rules(MinF)
def _minf(op: MinF) -> Function:
    return _flushing(op, selection.minimum(_element(op), op.propagate_nan))


@rules(CmpF)
def _cmpf(op: CmpF) -> Function:
    return selection.compare(op.comparison_predicate, op.comparison_ordering)
