"""What the integer and bitwise operations compute (specification, operations 2.3).

Knows: which function of `interp.numerics.integers` an operation with its attributes stands for; division by zero traps.
Does not know: arithmetic, nor the types: the arrays carry the width.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tileir.interp.api import Fault, PureRule
from tileir.interp.numerics import integers
from tileir.interp.numerics.bits import Array
from tileir.interp.numerics.integers import Binary
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
