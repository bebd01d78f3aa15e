"""What the conversions compute (specification, operations 4).

Knows: which function of `interp.numerics.conversion` an operation with its types and attributes stands for.
Does not know: encodings or rounding.
"""

from __future__ import annotations

from tileir.interp.api import PureRule, StrictRule
from tileir.interp.checks import Trapping, promise_check, trapping_where
from tileir.interp.numerics import conversion, promises
from tileir.interp.numerics.conversion import Conversion
from tileir.ir.core import Op
from tileir.ir.rules import Rules
from tileir.ir.storage import dtype_of
from tileir.ir.types import ElementType
from tileir.ops.conversion import Bitcast, ExtI, FToF, FToI, IntToPtr, IToF, PtrToInt, PtrToPtr, TruncI

rules: Rules[PureRule] = Rules()
strict: Rules[StrictRule] = Rules()


def _source(op: Op) -> ElementType:
    element: ElementType = op.operands[0].type.element  # type: ignore[attr-defined]
    return element


def _target(op: Op) -> ElementType:
    element: ElementType = op.results[0].type.element  # type: ignore[attr-defined]
    return element


@rules(Bitcast, IntToPtr, PtrToInt, PtrToPtr)
def _reinterpreted(op: Op) -> Conversion:
    dtype = dtype_of(_target(op))
    return lambda source: source.view(dtype)


@rules(ExtI)
def _exti(op: ExtI) -> Conversion:
    return conversion.extended(op.signedness, _source(op), _target(op))


@rules(TruncI)
def _trunci(op: TruncI) -> Conversion:
    return conversion.truncated(_target(op))


@rules(FToF)
def _ftof(op: FToF) -> Conversion:
    return conversion.float_to_float(_source(op), _target(op), op.rounding_mode)


@rules(FToI)
def _ftoi(op: FToI) -> Conversion:
    """Saturates also without `saturating`, where a value out of range is undefined behaviour."""
    return conversion.float_to_integer(op.signedness, _source(op), _target(op))


@rules(IToF)
def _itof(op: IToF) -> Conversion:
    return conversion.integer_to_float(op.signedness, _target(op))


@strict(TruncI)
def _trunci_promised(op: TruncI) -> Trapping | None:
    source, target = _source(op), _target(op)
    return promise_check(op.overflow, lambda reading: promises.truncation_overflows(reading, source, target))


@strict(FToI)
def _ftoi_fits(op: FToI) -> Trapping | None:
    if op.saturating:
        return None
    target = _target(op)
    message = f"the value does not fit {target.name} when {op.signedness.text}"
    return trapping_where(message, promises.conversion_overflows(op.signedness, _source(op), target))
