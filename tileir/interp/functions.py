"""Rules of the mathematical functions (spec: functions#semantics, spec: functions#accuracy)."""

from __future__ import annotations

from collections.abc import Callable

from tileir.interp.api import PureRule
from tileir.ir.core import Op
from tileir.ir.rules import Rules
from tileir.ir.types import ElementType
from tileir.numerics import functions
from tileir.numerics.rounding import Function, flushing
from tileir.ops.functions import Atan2, Cos, Cosh, Exp, Exp2, FPowF, FPowI, Log, Log2, Rsqrt, Sin, Sinh, Tan, Tanh

rules: Rules[PureRule] = Rules()

_OF_ELEMENT: dict[type[Op], Callable[[ElementType], Function]] = {
    Atan2: functions.atan2,
    Cos: functions.cos,
    Cosh: functions.cosh,
    Exp: functions.exp,
    FPowF: functions.power,
    FPowI: functions.integer_power,
    Log: functions.log,
    Log2: functions.log2,
    Sin: functions.sin,
    Sinh: functions.sinh,
    Tan: functions.tan,
    Tanh: functions.tanh,
}
_FLUSHABLE: dict[type[Op], Callable[[ElementType], Function]] = {Exp2: functions.exp2, Rsqrt: functions.rsqrt}


@rules(*_OF_ELEMENT)
def _of_element(op: Op) -> Function:
    return _OF_ELEMENT[type(op)](op.operands[0].tile.number)


@rules(*_FLUSHABLE)
def _flushable(op: Exp2 | Rsqrt) -> Function:
    function = _FLUSHABLE[type(op)](op.operands[0].tile.number)
    return flushing(function) if op.flush_to_zero else function
