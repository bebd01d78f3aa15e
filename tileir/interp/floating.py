"""Rules of the floating-point operations (spec: floating#semantics)."""

from __future__ import annotations

from collections.abc import Callable

from tileir.interp.api import PureRule
from tileir.ir.attributes import Rounding
from tileir.ir.core import Op
from tileir.ir.rules import Rules
from tileir.ir.types import ElementType
from tileir.numerics import functions, rounding, selection
from tileir.numerics.rounding import Function
from tileir.ops.floating import AbsF, AddF, Ceil, CmpF, DivF, Floor, Fma, MaxF, MinF, MulF, NegF, RemF, Sqrt, SubF

rules: Rules[PureRule] = Rules()

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
    """`function`, with subnormals flushed if the operation asks for it."""
    return rounding.flushing(function) if op.attributes.get("flush_to_zero") else function


@rules(*_ROUNDED)
def _rounded(op: AddF | SubF | MulF | Fma) -> Function:
    return _flushing(op, _ROUNDED[type(op)](op.operands[0].tile.number, op.rounding_mode))


@rules(*_OF_ELEMENT)
def _of_element(op: Ceil | Floor | RemF) -> Function:
    return _OF_ELEMENT[type(op)](op.operands[0].tile.number)


@rules(DivF)
def _divf(op: DivF) -> Function:
    """`full` is no less accurate than to nearest even allows."""
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
