"""Rules of element-wise arithmetic, conversions included (spec: floating#modifiers, spec: conversion#top)."""

from __future__ import annotations

import math

from tileir.ir.attributes import Overflow, Rounding, Signedness
from tileir.ir.core import Op
from tileir.ir.formats import FloatFormat
from tileir.ir.types import (
    F4E2M1FN,
    F8E4M3FN,
    F8E5M2,
    F8E8M0FNU,
    F32,
    F64,
    FNV8E5M3FNU,
    TF32,
    ElementType,
)
from tileir.ir.versions import Version
from tileir.ops.conversion import Bitcast, ExtI, FToF, FToI, IToF, TruncI
from tileir.ops.division import DivI
from tileir.ops.floating import AddF, DivF, Fma, MaxF, MinF, MulF, Sqrt, SubF
from tileir.ops.functions import Exp, Exp2, Rsqrt, Tanh
from tileir.ops.integer import NegI
from tileir.verify.rule import Check, CheckContext, RuleTable, Violation, listed


def rounding_rule(*allowed: Rounding, name: str = "rounding_mode") -> Check:
    """E0701 for operations whose attribute `name` may only be one of `allowed`; an absent one is the default."""
    modes = frozenset(allowed)
    expected = listed([mode.text for mode in allowed])

    def check(op: Op, context: CheckContext) -> Violation | None:
        mode = op.attributes.get(name)
        return None if mode is None or mode in modes else Violation(f"attribute '{name}'", expected, mode.text)

    return check


def flush_needs_f32(op: Op, context: CheckContext) -> Violation | None:
    """E0702."""
    if not op.attributes.get("flush_to_zero") or op.results[0].tile.element is F32:
        return None
    return Violation("attribute 'flush_to_zero'", "f32 elements", repr(op.results[0].type))


def approximation_needs_f32(op: Op, context: CheckContext) -> Violation | None:
    """E0703."""
    mode = op.attributes.get("rounding_mode")
    if mode not in _f32_modes(op) or op.results[0].tile.element is F32:
        return None
    return Violation(f"rounding mode {mode.text}", "f32 elements", repr(op.results[0].type))


def _f32_modes(op: Op) -> tuple[Rounding, ...]:
    return (Rounding.APPROX, Rounding.FULL) if isinstance(op, DivF) else (Rounding.APPROX,)


rules = RuleTable()


@rules("E0705", NegI)
def negation_is_signed(op: NegI, context: CheckContext) -> Violation | None:
    if op.overflow is not Overflow.NO_UNSIGNED_WRAP:
        return None
    return Violation("attribute 'overflow'", "none, no_signed_wrap or no_wrap", op.overflow.text)


rules.add("E0701", rounding_rule(Rounding.ZERO, Rounding.NEGATIVE_INF, Rounding.POSITIVE_INF, name="rounding"), DivI)


@rules("E0704", DivI)
def floor_needs_signed(op: DivI, context: CheckContext) -> Violation | None:
    if op.rounding is not Rounding.NEGATIVE_INF or op.signedness is not Signedness.UNSIGNED:
        return None
    hint = "the quotient of unsigned integers is never negative: 'zero' rounds the same way"
    return Violation("rounding mode negative_inf", "signed", "unsigned", hint=hint)


IEEE = (Rounding.NEAREST_EVEN, Rounding.ZERO, Rounding.NEGATIVE_INF, Rounding.POSITIVE_INF)

rules.add("E0701", rounding_rule(*IEEE), AddF, SubF, MulF, Fma)
rules.add("E0701", rounding_rule(*IEEE, Rounding.APPROX, Rounding.FULL), DivF)
rules.add("E0701", rounding_rule(*IEEE, Rounding.APPROX), Sqrt)
rules.add("E0702", flush_needs_f32, AddF, SubF, MulF, DivF, Fma, Sqrt, MaxF, MinF)
rules.add("E0703", approximation_needs_f32, DivF, Sqrt)


rules.add("E0701", rounding_rule(Rounding.APPROX, Rounding.FULL), Exp, Tanh)
rules.add("E0702", flush_needs_f32, Rsqrt, Exp2)
rules.add("E0703", approximation_needs_f32, Exp, Tanh)


# ---------------------------------------------------------------- conversions


@rules("E0430", Bitcast)
def bitcast_width(op: Bitcast, context: CheckContext) -> Violation | None:
    source, result = op.source.type.element, op.result.type.element
    if source.bits == result.bits:
        return None
    return Violation("result", f"elements of {source.bits} bits, as {source!r}", f"{result!r} with {result.bits}")


@rules("E0431", ExtI)
def wider(op: ExtI, context: CheckContext) -> Violation | None:
    source, result = op.source.type.element, op.to.type.element
    if result.bits > source.bits:
        return None
    hint = "'trunci' makes integers narrower" if result.bits < source.bits else None
    return Violation("result 'to'", f"integers wider than {source!r}", repr(result), hint=hint)


@rules("E0432", TruncI)
def narrower(op: TruncI, context: CheckContext) -> Violation | None:
    source, result = op.source.type.element, op.to.type.element
    if result.bits < source.bits:
        return None
    hint = "'exti' makes integers wider" if result.bits > source.bits else None
    return Violation("result 'to'", f"integers narrower than {source!r}", repr(result), hint=hint)


@rules("E0433", FToF)
def converts(op: FToF, context: CheckContext) -> Violation | None:
    if op.source.type is not op.to.type:
        return None
    return Violation("result 'to'", f"another element type than {op.source.type.element!r}", repr(op.to.type))


@rules("E0434", FToF)
def conversion_rounding(op: FToF, context: CheckContext) -> Violation | None:
    source, result = op.source.type.number, op.to.type.number
    allowed = conversion_modes(source, result, context.level)
    if op.rounding_mode in allowed:
        return None
    expected = f"{listed([mode.text for mode in allowed])} from {source!r} to {result!r}"
    hint = "write the rounding mode: the default is nearest_even" if result is F8E8M0FNU else None
    return Violation("attribute 'rounding_mode'", expected, op.rounding_mode.text, hint=hint)


rules.add("E0701", rounding_rule(Rounding.NEAREST_INT_TO_ZERO), FToI)


@rules("E0436", IToF)
def not_to_powers_of_two(op: IToF, context: CheckContext) -> Violation | None:
    if op.to.type.element is not F8E8M0FNU:
        return None
    hint = "convert to another float type first, then use 'ftof'"
    return Violation("result 'to'", "a float type other than f8E8M0FNU", repr(op.to.type), hint=hint)


rules.add("E0701", rounding_rule(Rounding.NEAREST_EVEN), IToF)

# ---------------------------------------------------------------- the rounding table of ftof (spec: conversion#ftof)

_NARROW = (F8E4M3FN, F8E5M2, F4E2M1FN, FNV8E5M3FNU)
_NEAREST = (Rounding.NEAREST_EVEN,)
_WIDENING = (
    Rounding.NEAREST_EVEN,
    Rounding.ZERO,
    Rounding.NEGATIVE_INF,
    Rounding.POSITIVE_INF,
    Rounding.NEAREST_AWAY,
)
_PAIRS = {
    (F64, F32): (Rounding.NEAREST_EVEN, Rounding.ZERO, Rounding.NEGATIVE_INF, Rounding.POSITIVE_INF),
    (F32, TF32): (Rounding.NEAREST_EVEN, Rounding.ZERO, Rounding.NEAREST_AWAY),
}


def conversion_modes(source: ElementType, result: ElementType, level: Version) -> tuple[Rounding, ...]:
    """Return the rounding modes of a conversion between float types; 13.4 added most of them."""
    if result is F8E8M0FNU:
        return (Rounding.ZERO, Rounding.POSITIVE_INF)
    if result in _NARROW or level < (13, 4):
        return _NEAREST
    if widens(source, result):
        return _WIDENING
    return _PAIRS.get((source, result), (Rounding.NEAREST_EVEN, Rounding.ZERO))


def widens(source: ElementType, result: ElementType) -> bool:
    """True if precision and exponent range of `result` include those of `source`."""
    low, high = _exponents(source.layout)
    result_low, result_high = _exponents(result.layout)
    return result.layout.precision >= source.layout.precision and result_low <= low and result_high >= high


def _exponents(format: FloatFormat) -> tuple[int, int]:
    """Return the exponents of the smallest normal and of the largest number."""
    return format.lowest_exponent, math.frexp(format.max_finite)[1] - 1
