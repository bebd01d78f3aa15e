"""Rules of the conversions (operations 4)."""

from __future__ import annotations

import math

from tileir.ir.attributes import Rounding
from tileir.ir.declare import Version
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
    FloatFormat,
)
from tileir.ops.conversion import Bitcast, ExtI, FToF, FToI, IToF, TruncI
from tileir.verify.rounding import rounding_rule
from tileir.verify.rule import Fault, Rules, Scope, listed

rules = Rules()


@rules("E0430", Bitcast)
def bitcast_width(op: Bitcast, scope: Scope) -> Fault | None:
    source, result = op.source.type.element, op.result.type.element
    if source.bits == result.bits:
        return None
    return Fault("result", f"elements of {source.bits} bits, as {source!r}", f"{result!r} with {result.bits}")


@rules("E0431", ExtI)
def wider(op: ExtI, scope: Scope) -> Fault | None:
    source, result = op.source.type.element, op.to.type.element
    if result.bits > source.bits:
        return None
    hint = "'trunci' makes integers narrower" if result.bits < source.bits else None
    return Fault("result 'to'", f"integers wider than {source!r}", repr(result), hint=hint)


@rules("E0432", TruncI)
def narrower(op: TruncI, scope: Scope) -> Fault | None:
    source, result = op.source.type.element, op.to.type.element
    if result.bits < source.bits:
        return None
    hint = "'exti' makes integers wider" if result.bits > source.bits else None
    return Fault("result 'to'", f"integers narrower than {source!r}", repr(result), hint=hint)


@rules("E0433", FToF)
def converts(op: FToF, scope: Scope) -> Fault | None:
    if op.source.type is not op.to.type:
        return None
    return Fault("result 'to'", f"another element type than {op.source.type.element!r}", repr(op.to.type))


@rules("E0434", FToF)
def conversion_rounding(op: FToF, scope: Scope) -> Fault | None:
    source, result = op.source.type.element, op.to.type.element
    allowed = conversion_modes(source, result, scope.level)
    if op.rounding_mode in allowed:
        return None
    expected = f"{listed([mode.text for mode in allowed])} from {source!r} to {result!r}"
    hint = "write the rounding mode: the default is nearest_even" if result is F8E8M0FNU else None
    return Fault("attribute 'rounding_mode'", expected, op.rounding_mode.text, hint=hint)


rules.add("E0701", rounding_rule(Rounding.NEAREST_INT_TO_ZERO), FToI)


@rules("E0436", IToF)
def not_to_powers_of_two(op: IToF, scope: Scope) -> Fault | None:
    if op.to.type.element is not F8E8M0FNU:
        return None
    hint = "convert to another float type first, then use 'ftof'"
    return Fault("result 'to'", "a float type other than f8E8M0FNU", repr(op.to.type), hint=hint)


rules.add("E0701", rounding_rule(Rounding.NEAREST_EVEN), IToF)

# ---------------------------------------------------------------- the rounding table of ftof (operations 4.4)

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
    """The rounding modes of a conversion between float types; 13.4 added most of them."""
    if result is F8E8M0FNU:
        return (Rounding.ZERO, Rounding.POSITIVE_INF)
    if result in _NARROW or level < (13, 4):
        return _NEAREST
    if widens(source, result):
        return _WIDENING
    return _PAIRS.get((source, result), (Rounding.NEAREST_EVEN, Rounding.ZERO))


def widens(source: ElementType, result: ElementType) -> bool:
    """True if precision and exponent range of `result` include those of `source`."""
    assert source.format is not None
    assert result.format is not None
    low, high = _exponents(source.format)
    result_low, result_high = _exponents(result.format)
    return result.format.precision >= source.format.precision and result_low <= low and result_high >= high


def _exponents(format: FloatFormat) -> tuple[int, int]:
    """The exponents of the smallest normal and of the largest number."""
    smallest = 1 - format.bias if format.fraction else -format.bias
    return smallest, math.frexp(format.max_finite)[1] - 1
