"""Rules of the integer and bitwise operations (spec: integer#semantics)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tileir.host import undefined
from tileir.interp.api import PureRule, StrictCheck, StrictRule
from tileir.interp.checks import all_of, promise_check, trapping_where, warning_where
from tileir.ir.attributes import Signedness
from tileir.ir.core import Op
from tileir.ir.rules import Rules
from tileir.numerics import integers, promises
from tileir.numerics.bits import Array
from tileir.numerics.integers import Binary
from tileir.numerics.promises import Check
from tileir.ops.integer import AbsI, AddI, AndI, CmpI, MaxI, MinI, MulhiI, MulI, NegI, OrI, ShlI, ShrI, SubI, XOrI

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
    """Only the signed reading is concerned: every negation but that of 0 wraps when unsigned."""
    if not promises.promised(op.overflow, Signedness.SIGNED):
        return None
    return trapping_where(undefined.NEGATION, promises.smallest)
