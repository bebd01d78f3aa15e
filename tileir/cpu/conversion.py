"""Native code for the conversions (specification 8.4).

Knows: for each pair of element types a straight-line conversion that rounds once. A NaN stays one of any pattern where
the target is f16, f32 or f64 (specification, semantics 11); narrower formats have only one.
Does not know: encodings (`cpu.codec`), rounding to a grid (`cpu.rounding`).
"""

from __future__ import annotations

from llvmlite import ir

from tileir.cpu.algebra import Real, Whole
from tileir.cpu.elements import DOUBLE, FLOAT, I8, I32, I64, Num, is_native, memory_type
from tileir.cpu.elementwise import Compute, element_of, held, pointwise, real, result_element, rounded, whole, wholes
from tileir.cpu.lowering import Lower, Lowering
from tileir.cpu.rounding import narrowed
from tileir.cpu.tiles import address_of, bits, wide
from tileir.ir import types as t
from tileir.ir.attributes import Rounding, Signedness
from tileir.ir.rules import Rules
from tileir.ops.conversion import Bitcast, ExtI, FToF, FToI, IntToPtr, IToF, PtrToInt, PtrToPtr, TruncI

rules: Rules[Lower] = Rules()

# ---------------------------------------------------------------- reinterpretation


@rules(Bitcast)
def lower_bitcast(lowering: Lowering, op: Bitcast) -> None:
    source, target = element_of(op), result_element(op)

    def compute(builder: ir.IRBuilder, number: Num) -> Num:
        return number if source is target else _with_pattern(builder, target, _pattern(builder, number))

    pointwise(lowering, op, compute)


def _pattern(builder: ir.IRBuilder, number: Num) -> ir.Value:
    """The bits of an element as an integer."""
    element = number.element
    assert isinstance(element, t.ElementType)
    if is_native(element):
        return real(builder, number).pattern().value
    return wide(builder, number) if element.is_int else bits(builder, number)


def _with_pattern(builder: ir.IRBuilder, element: t.ElementType, pattern: ir.Value) -> Num:
    if is_native(element):
        return held(element, Whole(builder, pattern).as_real())
    return Num(element, wide=pattern) if element.is_int else Num(element, bits=pattern)


@rules(IntToPtr)
def lower_int_to_ptr(lowering: Lowering, op: IntToPtr) -> None:
    element = op.result.type.element
    pointwise(lowering, op, lambda builder, number: Num(element, wide=wide(builder, number)))


@rules(PtrToInt)
def lower_ptr_to_int(lowering: Lowering, op: PtrToInt) -> None:
    pointwise(lowering, op, lambda builder, number: Num(t.I64, wide=address_of(builder, number)))


@rules(PtrToPtr)
def lower_ptr_to_ptr(lowering: Lowering, op: PtrToPtr) -> None:
    element = op.result.type.element
    pointwise(lowering, op, lambda builder, number: Num(element, wide=number.wide, base=number.base))


# ---------------------------------------------------------------- integers


@rules(ExtI)
def lower_exti(lowering: Lowering, op: ExtI) -> None:
    type, signed = ir.IntType(result_element(op).bits), op.signedness is Signedness.SIGNED
    wholes(lowering, op, lambda number: number.extended(type, signed))


@rules(TruncI)
def lower_trunci(lowering: Lowering, op: TruncI) -> None:
    type = ir.IntType(result_element(op).bits)
    wholes(lowering, op, lambda number: number.truncated(type))


# ---------------------------------------------------------------- integers and floats


@rules(IToF)
def lower_itof(lowering: Lowering, op: IToF) -> None:
    target, signed = result_element(op), op.signedness is Signedness.SIGNED
    pointwise(lowering, op, lambda builder, number: _integer_to_float(whole(builder, number), target, signed))


def _integer_to_float(number: Whole, target: t.ElementType, signed: bool) -> Num:
    """f32 holds every integer that is within the range of a narrow type; but bf16 and tf32 have the range of f32."""
    if number.width < 32:
        number = number.extended(I32, signed)
    if is_native(target):
        return held(target, number.converted(memory_type(target), signed))
    if target not in (t.BF16, t.TF32):
        return rounded(target, number.converted(FLOAT, signed))
    return narrowed(target, Rounding.NEAREST_EVEN, _odd_f64(number, signed))


def _odd_f64(number: Whole, signed: bool) -> Real:
    """The integer as an f64; one that needs more bits is rounded to odd first, so that a later rounding is single."""
    if number.width == 64:
        lost = (number & 0x7FF).differs(0).whole(I64) << 11
        fits = (number + (1 << 53)).below_unsigned(1 << 54) if signed else number.below_unsigned(1 << 53)
        number = fits.choose(number, (number & ~0x7FF) | lost)
    return number.converted(DOUBLE, signed)


@rules(FToI)
def lower_ftoi(lowering: Lowering, op: FToI) -> None:
    """Saturates also without `saturating`, where a value out of range is undefined behaviour."""
    target, signed = result_element(op), op.signedness is Signedness.SIGNED

    def compute(builder: ir.IRBuilder, number: Num) -> Num:
        return Num(target, wide=_float_to_integer(real(builder, number), target.bits, signed).value)

    pointwise(lowering, op, compute)


def _float_to_integer(x: Real, width: int, signed: bool) -> Whole:
    """Truncated towards zero, then saturated; NaN gives 0."""
    least, limit = (-(1 << (width - 1)), 1 << (width - 1)) if signed else (0, 1 << width)
    inside = (x < float(limit)).choose(x.at_least(float(least)), 0.0)
    working = I64 if width == 64 else I32
    number = inside.to_whole(working, signed or width < 32)
    result = (x >= float(limit)).choose(Whole(x.builder, number.constant(limit - 1)), number)
    return result if result.width == width else result.truncated(ir.IntType(width))


# ---------------------------------------------------------------- floats


@rules(FToF)
def lower_ftof(lowering: Lowering, op: FToF) -> None:
    pointwise(lowering, op, _float_conversion(element_of(op), result_element(op), op.rounding_mode))


def _float_conversion(source: t.ElementType, target: t.ElementType, mode: Rounding) -> Compute:
    if target is t.F8E8M0FNU:
        return lambda builder, number: _power_of_two(real(builder, number), mode)
    if target is t.F64:
        return lambda builder, number: held(target, real(builder, number).double())
    if _holds(target, source) or (source is not t.F64 and mode is Rounding.NEAREST_EVEN):
        return lambda builder, number: rounded(target, real(builder, number))
    return lambda builder, number: narrowed(target, mode, real(builder, number).double())


def _holds(target: t.ElementType, source: t.ElementType) -> bool:
    """Whether every finite value of `source` is one of `target`, and infinities are kept."""
    wide, narrow = target.format, source.format
    assert wide is not None
    assert narrow is not None
    return (
        wide.signed >= narrow.signed
        and wide.has_inf >= narrow.has_inf
        and wide.precision >= narrow.precision
        and wide.max_finite >= narrow.max_finite
        and _smallest_exponent(wide) <= _smallest_exponent(narrow)
    )


def _smallest_exponent(layout: t.FloatFormat) -> int:
    return (1 if layout.fraction else 0) - layout.bias - layout.fraction


def _power_of_two(x: Real, mode: Rounding) -> Num:
    """f8E8M0FNU: the exponent of the magnitude, rounded; underflow gives the smallest, overflow the largest."""
    magnitude = abs(x.double())
    pattern = magnitude.pattern()
    if mode is Rounding.POSITIVE_INF:
        pattern = pattern + ((1 << 52) - 1)
    biased = ((pattern >> 52) - (1023 - 127)).signed_maximum(0).signed_minimum(0xFE)
    biased = magnitude.is_nan().choose(Whole(x.builder, biased.constant(0xFF)), biased)
    return Num(t.F8E8M0FNU, bits=biased.truncated(I8).value)
