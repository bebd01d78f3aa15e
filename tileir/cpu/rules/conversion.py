"""Native code for the conversions (spec: conversion#top).

Each pair of element types has a straight-line conversion that rounds once. A NaN stays one of any pattern where the
target is f16, f32 or f64 (spec: undefined#catalogue); narrower formats have only one.
"""

from __future__ import annotations

from llvmlite import ir

from tileir.cpu.emit.algebra import Flag, Int, Real
from tileir.cpu.emit.elements import DOUBLE, FLOAT, I8, I32, I64, Num, is_native, memory_type
from tileir.cpu.emit.tiles import (
    Compute,
    Converted,
    address_of,
    bits,
    boolean,
    held,
    integer,
    real,
    rounded,
    wide,
)
from tileir.cpu.lowering.elementwise import element_of, integers, pointwise, result_element, trap_where_elements
from tileir.cpu.lowering.state import Lower, Lowering
from tileir.cpu.mathlib.arithmetic import narrowed
from tileir.host import undefined
from tileir.ir import types as t
from tileir.ir.attributes import Rounding, Signedness
from tileir.ir.rules import Rules
from tileir.numerics.promises import promised_readings
from tileir.ops.conversion import Bitcast, ExtI, FToF, FToI, IntToPtr, IToF, PtrToInt, PtrToPtr, TruncI

rules: Rules[Lower] = Rules()
strict: Rules[Lower] = Rules()

# ---------------------------------------------------------------- reinterpretation


@rules(Bitcast)
def lower_bitcast(lowering: Lowering, op: Bitcast) -> None:
    source, target = element_of(op), result_element(op)

    def compute(builder: ir.IRBuilder, number: Num) -> Num:
        return number if source is target else _with_pattern(builder, target, _pattern(builder, number))

    pointwise(lowering, op, compute)


def _pattern(builder: ir.IRBuilder, number: Num) -> ir.Value:
    """Return the bits of an element as an integer."""
    element = t.checked_cast(number.element, t.ElementType)
    if is_native(element):
        return real(builder, number).pattern().value
    return wide(builder, number) if element.is_int else bits(builder, number)


def _with_pattern(builder: ir.IRBuilder, element: t.ElementType, pattern: ir.Value) -> Num:
    if is_native(element):
        return held(element, Int(builder, pattern).as_real())
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
    integers(lowering, op, lambda number: number.extended(type, signed))


@rules(TruncI)
def lower_trunci(lowering: Lowering, op: TruncI) -> None:
    type = ir.IntType(result_element(op).bits)
    integers(lowering, op, lambda number: number.truncated(type))


@strict(TruncI)
def keep_promise(lowering: Lowering, op: TruncI) -> None:
    """Check a promise: extending again must restore the operand."""
    type = ir.IntType(result_element(op).bits)
    for reading in promised_readings(op.overflow):
        signed = reading is Signedness.SIGNED

        def lost(x: Int, signed: bool = signed) -> Flag:
            return x.truncated(type).extended(x.type, signed).differs(x)

        trap_where_elements(lowering, op, lost, undefined.overflow(op.overflow, reading))


# ---------------------------------------------------------------- integers and floats


@rules(IToF)
def lower_itof(lowering: Lowering, op: IToF) -> None:
    target, signed = result_element(op), op.signedness is Signedness.SIGNED
    pointwise(lowering, op, lambda builder, number: _integer_to_float(integer(builder, number), target, signed))


def _integer_to_float(number: Int, target: t.ElementType, signed: bool) -> Num:
    """Return the integer as a float. f32 holds every integer within the range of a narrow type, but bf16 and tf32 have
    the range of f32."""
    if number.width < 32:
        number = number.extended(I32, signed)
    if is_native(target):
        return held(target, number.converted(memory_type(target), signed))
    if target not in (t.BF16, t.TF32):
        return rounded(target, number.converted(FLOAT, signed))
    return narrowed(target, Rounding.NEAREST_EVEN, _odd_f64(number, signed))


def _odd_f64(number: Int, signed: bool) -> Real:
    """Return the integer as an f64; one that needs more bits is rounded to odd first, so that a later rounding is
    single."""
    if number.width == 64:
        lost = (number & 0x7FF).differs(0).as_integer(I64) << 11
        fits = (number + (1 << 53)).below_unsigned(1 << 54) if signed else number.below_unsigned(1 << 53)
        number = fits.choose(number, (number & ~0x7FF) | lost)
    return number.converted(DOUBLE, signed)


@rules(FToI)
def lower_ftoi(lowering: Lowering, op: FToI) -> None:
    """Convert with saturation even without `saturating`, where a value out of range is undefined behaviour; i1 is a
    test for zero."""
    target, signed = result_element(op), op.signedness is Signedness.SIGNED

    def compute(builder: ir.IRBuilder, number: Num) -> Num:
        x = real(builder, number)
        if target is t.I1:
            return boolean(x.compared_or_unordered("!=", 0.0).value)
        return Num(target, wide=_float_to_integer(x, target.bits, signed).value)

    pointwise(lowering, op, compute)


@strict(FToI)
def check_range(lowering: Lowering, op: FToI) -> None:
    """Look for a number out of range, which is undefined unless the conversion saturates."""
    target, signed = result_element(op), op.signedness is Signedness.SIGNED
    if op.saturating or target is t.I1:
        return
    least, limit = _range(target.bits, signed)

    def outside(x: Real) -> Flag:
        integral = x.truncated()
        return ~((integral >= float(least)) & (integral < float(limit)))

    trap_where_elements(lowering, op, outside, undefined.unfit(target, op.signedness))


def _range(width: int, signed: bool) -> tuple[int, int]:
    """Return the smallest integer of a type, and the first beyond its largest."""
    return (-(1 << (width - 1)), 1 << (width - 1)) if signed else (0, 1 << width)


def _float_to_integer(x: Real, width: int, signed: bool) -> Int:
    """Truncate towards zero, then saturate; NaN gives 0."""
    least, limit = _range(width, signed)
    inside = (x < float(limit)).choose(x.at_least(float(least)), 0.0)
    working = I64 if width == 64 else I32
    number = inside.to_integer(working, signed or width < 32)
    result = (x >= float(limit)).choose(Int(x.builder, number.constant(limit - 1)), number)
    return result if result.width == width else result.truncated(ir.IntType(width))


# ---------------------------------------------------------------- floats


@rules(FToF)
def lower_ftof(lowering: Lowering, op: FToF) -> None:
    types = element_of(op), result_element(op), op.rounding_mode
    type, source = op.results[0].tile, lowering.tile(op.operands[0])
    lowering.bind(op.results[0], Converted(type, source, _float_conversion(*types), op.rounding_mode))


def _float_conversion(source: t.ElementType, target: t.ElementType, mode: Rounding) -> Compute:
    if target is t.F8E8M0FNU:
        return lambda builder, number: _power_of_two(real(builder, number), mode)
    if target is t.F64:
        return lambda builder, number: held(target, real(builder, number).double())
    if target.layout.contains(source.layout) or (source is not t.F64 and mode is Rounding.NEAREST_EVEN):
        return lambda builder, number: rounded(target, real(builder, number))
    return lambda builder, number: narrowed(target, mode, real(builder, number).double())


def _power_of_two(x: Real, mode: Rounding) -> Num:
    """Convert to f8E8M0FNU: the exponent of the magnitude, rounded; underflow gives the smallest, overflow the
    largest."""
    magnitude = abs(x.double())
    pattern = magnitude.pattern()
    if mode is Rounding.POSITIVE_INF:
        pattern = pattern + ((1 << 52) - 1)
    biased = ((pattern >> 52) - (1023 - 127)).signed_maximum(0).signed_minimum(0xFE)
    biased = magnitude.is_nan().choose(Int(x.builder, biased.constant(0xFF)), biased)
    return Num(t.F8E8M0FNU, bits=biased.truncated(I8).value)
