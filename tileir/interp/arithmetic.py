"""Element-wise arithmetic: integer, division, floating point, functions, by the exact rules of `numerics`.

Strict mode traps where a promise of an operation is broken (spec: undefined#catalogue).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tileir.host import undefined
from tileir.interp.api import PureRule, StrictCheck, StrictRule
from tileir.interp.faults import Fault
from tileir.ir.attributes import Overflow, Rounding, Signedness
from tileir.ir.core import Op
from tileir.ir.rules import Rules
from tileir.ir.types import ElementType
from tileir.numerics import functions, integers, promises, rounding, selection
from tileir.numerics.bits import Array, first_index
from tileir.numerics.integers import Binary
from tileir.numerics.promises import Check, promised_readings
from tileir.numerics.rounding import Function, flushing
from tileir.ops.division import DivI, RemI
from tileir.ops.floating import AbsF, AddF, Ceil, CmpF, DivF, Floor, Fma, MaxF, MinF, MulF, NegF, RemF, Sqrt, SubF
from tileir.ops.functions import Atan2, Cos, Cosh, Exp, Exp2, FPowF, FPowI, Log, Log2, Rsqrt, Sin, Sinh, Tan, Tanh
from tileir.ops.integer import AbsI, AddI, AndI, CmpI, MaxI, MinI, MulhiI, MulI, NegI, OrI, ShlI, ShrI, SubI, XOrI


def promise_check(overflow: Overflow, build: Callable[[Signedness], Check]) -> StrictCheck | None:
    """Return the check that every reading promised by `overflow` fits; None if nothing is promised."""
    checks = [
        trapping_where(undefined.overflow(overflow, reading), build(reading)) for reading in promised_readings(overflow)
    ]
    return all_of(*checks)


def all_of(*checks: StrictCheck | None) -> StrictCheck | None:
    """Combine checks into one that runs them in order; None if there is none. The last warning counts."""
    made = [check for check in checks if check is not None]

    def run(*operands: Array) -> str | None:
        warning = None
        for check in made:
            warning = check(*operands)
        return warning

    return run if made else None


def trapping_where(message: str, check: Check) -> StrictCheck:
    """Return a function that raises a fault at the first element that `check` finds."""

    def run(*operands: Array) -> None:
        found = check(*operands)
        if found.any():
            raise Fault(message, index=first_index(found))

    return run


def warning_where(message: str, check: Check) -> StrictCheck:
    """Return a function that gives a warning if `check` finds any element."""

    def run(*operands: Array) -> str | None:
        return message if check(*operands).any() else None

    return run


rules: Rules[PureRule] = Rules()
strict: Rules[StrictRule] = Rules()

_PLAIN: dict[type[Op], Callable[..., Array]] = {
    AbsI: integers.absolute,
    AddI: integers.add,
    AndI: np.bitwise_and,
    MulI: integers.multiply,
    MulhiI: integers.multiply_high,
    NegI: integers.negate,
    OrI: np.bitwise_or,
    ShlI: integers.shift_left,
    SubI: integers.subtract,
    XOrI: np.bitwise_xor,
}
_BY_READING: dict[type[Op], Callable[[Signedness], Binary]] = {
    MaxI: integers.maximum,
    MinI: integers.minimum,
    ShrI: integers.shift_right,
}
_OVERFLOWS: dict[type[Op], Callable[[Signedness], Check]] = {
    AddI: promises.sum_overflows,
    MulI: promises.product_overflows,
    SubI: promises.difference_overflows,
}


@rules(*_PLAIN)
def _plain(op: Op) -> Callable[..., Array]:
    return _PLAIN[type(op)]


@rules(*_BY_READING)
def _by_reading(op: MaxI | MinI | ShrI) -> Binary:
    return _BY_READING[type(op)](op.signedness)


@rules(CmpI)
def _cmpi(op: CmpI) -> Binary:
    return integers.compare(op.comparison_predicate, op.signedness)


@strict(*_OVERFLOWS)
def _promised(op: AddI | MulI | SubI) -> StrictCheck | None:
    return promise_check(op.overflow, _OVERFLOWS[type(op)])


@strict(ShlI)
def _shli_promised(op: ShlI) -> StrictCheck | None:
    return all_of(promise_check(op.overflow, promises.shift_overflows), _amount_fits(op))


@strict(ShrI)
def _amount_fits(op: ShlI | ShrI) -> StrictCheck:
    return warning_where(undefined.SHIFT, promises.shift_too_far(op.lhs.tile.number))


@strict(NegI)
def _negi_promised(op: NegI) -> StrictCheck | None:
    """Check only the signed reading: every negation except that of 0 wraps when unsigned."""
    if not promises.promised(op.overflow, Signedness.SIGNED):
        return None
    return trapping_where(undefined.NEGATION, promises.smallest)


@rules(DivI)
def _divi(op: DivI) -> Binary:
    return _trapping(integers.divide(op.signedness, op.rounding))


@rules(RemI)
def _remi(op: RemI) -> Binary:
    return _trapping(integers.remainder(op.signedness))


def _trapping(function: Binary) -> Binary:
    def evaluate(lhs: Array, rhs: Array) -> Array:
        try:
            return function(lhs, rhs)
        except integers.DivisionByZero as error:
            raise Fault(undefined.DIVISION_BY_ZERO, index=error.index) from None

    return evaluate


@strict(DivI)
def _divi_fits(op: DivI) -> StrictCheck | None:
    if op.signedness is Signedness.UNSIGNED:
        return None
    return trapping_where(undefined.QUOTIENT, promises.quotient_overflows)


_ROUNDED: dict[type[Op], Callable[[ElementType, Rounding], Function]] = {
    AddF: rounding.add,
    SubF: rounding.sub,
    MulF: rounding.mul,
    Fma: rounding.fma,
}
_OF_ELEMENT: dict[type[Op], Callable[[ElementType], Function]] = {
    Ceil: selection.ceil,
    Floor: selection.floor,
    RemF: selection.remainder,
}


def _flushing(op: Op, function: Function) -> Function:
    """Return `function`, with subnormals flushed if the operation asks for it."""
    return rounding.flushing(function) if op.attributes.get("flush_to_zero") else function


@rules(*_ROUNDED)
def _rounded(op: AddF | SubF | MulF | Fma) -> Function:
    return _flushing(op, _ROUNDED[type(op)](op.operands[0].tile.number, op.rounding_mode))


@rules(*_OF_ELEMENT)
def _of_element(op: Ceil | Floor | RemF) -> Function:
    return _OF_ELEMENT[type(op)](op.operands[0].tile.number)


@rules(DivF)
def _divf(op: DivF) -> Function:
    """Divide; `full` is no less accurate than to nearest even allows."""
    if op.rounding_mode is Rounding.APPROX:
        return _flushing(op, functions.approximate_quotient)
    mode = Rounding.NEAREST_EVEN if op.rounding_mode is Rounding.FULL else op.rounding_mode
    return _flushing(op, rounding.div(op.lhs.type.number, mode))


@rules(Sqrt)
def _sqrt(op: Sqrt) -> Function:
    mode = Rounding.NEAREST_EVEN if op.rounding_mode is Rounding.APPROX else op.rounding_mode
    return _flushing(op, rounding.sqrt(op.source.type.number, mode))


@rules(AbsF)
def _absf(op: AbsF) -> Function:
    return selection.absolute


@rules(NegF)
def _negf(op: NegF) -> Function:
    return selection.negative


@rules(MaxF)
def _maxf(op: MaxF) -> Function:
    return _flushing(op, selection.maximum(op.lhs.type.number, op.propagate_nan))


@rules(MinF)
def _minf(op: MinF) -> Function:
    return _flushing(op, selection.minimum(op.lhs.type.number, op.propagate_nan))


@rules(CmpF)
def _cmpf(op: CmpF) -> Function:
    return selection.compare(op.comparison_predicate, op.comparison_ordering)


_FUNCTIONS: dict[type[Op], Callable[[ElementType], Function]] = {
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


@rules(*_FUNCTIONS)
def _function(op: Op) -> Function:
    return _FUNCTIONS[type(op)](op.operands[0].tile.number)


@rules(*_FLUSHABLE)
def _flushable(op: Exp2 | Rsqrt) -> Function:
    function = _FLUSHABLE[type(op)](op.operands[0].tile.number)
    return flushing(function) if op.flush_to_zero else function
