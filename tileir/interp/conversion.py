"""Rules of the conversions (spec: conversion#top)."""

from __future__ import annotations

from tileir.host import undefined
from tileir.interp.api import PureRule, StrictCheck, StrictRule
from tileir.interp.arithmetic import promise_check, trapping_where
from tileir.ir import types as t
from tileir.ir.rules import Rules
from tileir.ir.storage import dtype_of
from tileir.numerics import conversion, promises
from tileir.numerics.conversion import Conversion
from tileir.ops.conversion import Bitcast, ExtI, FToF, FToI, IntToPtr, IToF, PtrToInt, PtrToPtr, TruncI

rules: Rules[PureRule] = Rules()
strict: Rules[StrictRule] = Rules()


@rules(Bitcast, IntToPtr, PtrToInt, PtrToPtr)
def _reinterpreted(op: Bitcast | IntToPtr | PtrToInt | PtrToPtr) -> Conversion:
    dtype = dtype_of(op.result.type.element)
    return lambda source: source.view(dtype)


@rules(ExtI)
def _exti(op: ExtI) -> Conversion:
    return conversion.extended(op.signedness, op.source.type.number, op.to.type.number)


@rules(TruncI)
def _trunci(op: TruncI) -> Conversion:
    return conversion.truncated(op.to.type.number)


@rules(FToF)
def _ftof(op: FToF) -> Conversion:
    return conversion.float_to_float(op.source.type.number, op.to.type.number, op.rounding_mode)


@rules(FToI)
def _ftoi(op: FToI) -> Conversion:
    """Convert with saturation even without `saturating`, where a value out of range is undefined behaviour."""
    return conversion.float_to_integer(op.signedness, op.source.type.number, op.to.type.number)


@rules(IToF)
def _itof(op: IToF) -> Conversion:
    return conversion.integer_to_float(op.signedness, op.to.type.number)


@strict(TruncI)
def _trunci_promised(op: TruncI) -> StrictCheck | None:
    source, target = op.source.type.number, op.to.type.number
    return promise_check(op.overflow, lambda reading: promises.truncation_overflows(reading, source, target))


@strict(FToI)
def _ftoi_fits(op: FToI) -> StrictCheck | None:
    target = op.to.type.number
    if op.saturating or target is t.I1:
        return None
    message = undefined.unfit(target, op.signedness)
    return trapping_where(message, promises.conversion_overflows(op.signedness, op.source.type.number, target))
