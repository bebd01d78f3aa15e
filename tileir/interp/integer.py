"""What the integer and bitwise operations compute (specification, operations 2.3).

Knows: which function of `interp.numerics.integers` an operation with its attributes stands for; division by zero traps,
and in strict mode so does a broken overflow promise.
Does not know: arithmetic, nor the types: the arrays carry the width.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tileir.interp.api import Fault, PureRule, StrictRule
from tileir.interp.checks import Trapping, promise_check, trapping_where
from tileir.interp.numerics import integers, promises
from tileir.interp.numerics.bits import Array
from tileir.interp.numerics.integers import Binary
from tileir.interp.numerics.promises import Check
from tileir.ir.attributes import Signedness
from tileir.ir.core import Op
from tileir.ir.rules import Rules
from tileir.ops.integer import (
    AbsI,
    AddI,
    AndI,
    CmpI,
    DivI,
    MaxI,
    MinI,
    MulhiI,
    MulI,
    NegI,
    OrI,
    RemI,
    ShlI,
    ShrI,
    SubI,
    XOrI,
)

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
    ShlI: promises.shift_overflows,
    SubI: promises.difference_overflows,
}


@rules(AbsI, AddI, AndI, MulI, MulhiI, NegI, OrI, ShlI, SubI, XOrI)
def _plain(op: Op) -> Callable[..., Array]:
    return _PLAIN[type(op)]


@rules(MaxI, MinI, ShrI)
def _by_reading(op: MaxI | MinI | ShrI) -> Binary:
    return _BY_READING[type(op)](op.signedness)


@rules(CmpI)
def _cmpi(op: CmpI) -> Binary:
    return integers.compare(op.comparison_predicate, op.signedness)


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
            raise Fault("integer division by zero", index=error.index) from None

    return evaluate


@strict(AddI, MulI, ShlI, SubI)
def _promised(op: AddI | MulI | ShlI | SubI) -> Trapping | None:
    return promise_check(op.overflow, _OVERFLOWS[type(op)])


@strict(NegI)
def _negi_promised(op: NegI) -> Trapping | None:
    """Only the signed reading is concerned: every negation but that of 0 wraps when unsigned."""
    if not promises.promised(op.overflow, Signedness.SIGNED):
        return None
    return trapping_where("the negated smallest integer does not fit", promises.smallest)


@strict(DivI)
def _divi_fits(op: DivI) -> Trapping | None:
    if op.signedness is Signedness.UNSIGNED:
        return None
    return trapping_where("the smallest integer divided by -1 does not fit", promises.quotient_overflows)
