"""Rules of integer division (spec: division#semantics)."""

from __future__ import annotations

from tileir.host import undefined
from tileir.interp.api import PureRule, StrictCheck, StrictRule
from tileir.interp.checks import trapping_where
from tileir.interp.faults import Fault
from tileir.ir.attributes import Signedness
from tileir.ir.rules import Rules
from tileir.numerics import integers, promises
from tileir.numerics.bits import Array
from tileir.numerics.integers import Binary
from tileir.ops.division import DivI, RemI

rules: Rules[PureRule] = Rules()
strict: Rules[StrictRule] = Rules()


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
