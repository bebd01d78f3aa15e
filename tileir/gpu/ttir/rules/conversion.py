"""TTIR of the conversions (spec: conversion#top): for each pair of element types the shortest code that rounds once."""

from __future__ import annotations

from tileir.gpu.ttir.forms import held
from tileir.gpu.ttir.ir.code import TtirValue
from tileir.gpu.ttir.lib import narrow
from tileir.gpu.ttir.lib.words import Word
from tileir.gpu.ttir.lowering import Lower, TtirLowering
from tileir.ir import types as t
from tileir.ir.attributes import Rounding, Signedness
from tileir.ir.rules import Rules
from tileir.ops.conversion import Bitcast, ExtI, FToF, FToI, IntToPtr, IToF, PtrToInt, PtrToPtr, TruncI

rules: Rules[Lower] = Rules()


# ---------------------------------------------------------------- reinterpretation


@rules(Bitcast, PtrToPtr)
def lower_reinterpretation(lowering: TtirLowering, op: Bitcast | PtrToPtr) -> TtirValue:
    element = lowering.type_of(op.result).element
    return lowering.build.bitcast(lowering.value(op.source), element)


@rules(IntToPtr, PtrToInt)
def lower_address(lowering: TtirLowering, op: IntToPtr | PtrToInt) -> TtirValue:
    name = "tt.int_to_ptr" if isinstance(op, IntToPtr) else "tt.ptr_to_int"
    return lowering.build.op(name, lowering.value(op.source), type=lowering.type_of(op.result))


# ---------------------------------------------------------------- integers


@rules(ExtI)
def lower_exti(lowering: TtirLowering, op: ExtI) -> TtirValue:
    """Extend; an i4 lies sign-extended in its i8. An unsigned i1 becomes 1 in every width."""
    source, signed = lowering.value(op.source), op.signedness is Signedness.SIGNED
    if op.source.type.number is t.I4 and not signed:
        source = (Word(lowering.build, source) & 0xF).value
    return lowering.build.resized(source, lowering.type_of(op.to).element, signed)


@rules(TruncI)
def lower_trunci(lowering: TtirLowering, op: TruncI) -> TtirValue:
    """Drop bits whatever `overflow` promises (spec: undefined#catalogue)."""
    target = op.to.type.number
    number = Word(lowering.build, lowering.value(op.source)).resized(held(target))
    if target is t.I4:
        number = (number << 4).shifted_signed(4)
    return number.value


# ---------------------------------------------------------------- integers to floats


@rules(IToF)
def lower_itof(lowering: TtirLowering, op: IToF) -> TtirValue:
    """Convert by way of f32, which holds every integer in the range of a narrow type; but bf16 and tf32 have the range
    of f32, so that a second rounding would show."""
    build, signed, target = lowering.build, op.signedness is Signedness.SIGNED, op.to.type.number
    source = Word(build, lowering.value(op.source))
    if source.width == 1:
        source = source.resized("i32", signed)
    if source.width > 16 and target in (t.BF16, t.TF32):
        number = build.vendor.odd_f32(source.value, signed)
    else:
        nearest = "arith.sitofp" if signed else "arith.uitofp"
        number = build.cast(nearest, source.value, "f64" if target is t.F64 else "f32")
    return number if target is t.F64 else _encoded(lowering, number, target, Rounding.NEAREST_EVEN)


# ---------------------------------------------------------------- floats to integers


@rules(FToI)
def lower_ftoi(lowering: TtirLowering, op: FToI) -> TtirValue:
    """Convert with saturation even without `saturating`, where a value out of range is undefined behaviour; i1 is a
    test for zero."""
    element = op.source.type.number
    number = lowering.value(op.source)
    if element is not t.F64:
        number = _decoded(lowering, number, element)
    build, target = lowering.build, op.to.type.number
    if target is t.I1:
        return build.compare_float("une", number, build.bits(number.type, 0))
    bits, signed = target.bits, op.signedness is Signedness.SIGNED
    whole = Word(build, build.vendor.truncated(number, max(bits, 32), signed))
    if bits < 32:
        whole = _saturated(whole, bits, signed).resized(f"i{bits}")
    return whole.value


def _saturated(whole: Word, bits: int, signed: bool) -> Word:
    if not signed:
        return whole.minimum((1 << bits) - 1, signed=False)
    limit = 1 << (bits - 1)
    return whole.minimum(limit - 1, signed=True).maximum(-limit, signed=True)


# ---------------------------------------------------------------- floats


@rules(FToF)
def lower_ftof(lowering: TtirLowering, op: FToF) -> TtirValue:
    source, target = op.source.type.number, op.to.type.number
    number, build, widens = lowering.value(op.source), lowering.build, target.layout.contains(source.layout)
    if source is t.F64:
        return _from_f64(lowering, number, target, op.rounding_mode)
    if target is t.F64:
        return build.cast("arith.extf", _decoded(lowering, number, source), "f64")
    if lowering.arch.has_fp8 and t.F16 in (source, target) and not {source, target}.isdisjoint(narrow.NATIVE):
        return narrow.native_conversion(build, number, held(target), narrows=source is t.F16)
    if target is t.TF32 and widens:
        return _decoded(lowering, number, source)
    if target is t.TF32 and op.rounding_mode is Rounding.NEAREST_EVEN and lowering.arch.rounds_to_tf32:
        return _nearest_tf32(lowering, op)
    mode = Rounding.NEAREST_EVEN if widens else op.rounding_mode
    return _encoded(lowering, _decoded(lowering, number, source), target, mode)


def _nearest_tf32(lowering: TtirLowering, op: FToF) -> TtirValue:
    """Round to tf32 with an instruction that leaves the unused bits undefined; products ignore them."""
    words = Word(lowering.build, lowering.build.vendor.nearest_tf32(lowering.value(op.source)))
    if not lowering.users.only_multiplied(op.to):
        words = words & t.TF32_MASK
    return words.as_float("f32")


def _decoded(lowering: TtirLowering, value: TtirValue, element: t.ElementType) -> TtirValue:
    return narrow.decoded(lowering.build, value, element, lowering.arch.has_fp8)


def _encoded(lowering: TtirLowering, number: TtirValue, element: t.ElementType, mode: Rounding) -> TtirValue:
    return narrow.encoded(lowering.build, number, element, mode, lowering.arch.has_fp8)


def _from_f64(lowering: TtirLowering, number: TtirValue, target: t.ElementType, mode: Rounding) -> TtirValue:
    """Round an f64: GPUs round to f32 and f16 by themselves; other formats are reached by way of f32."""
    build = lowering.build
    if target not in (t.F32, t.F16):
        return _encoded(lowering, narrow.odd_f32(build, number), target, mode)
    if mode is Rounding.NEAREST_EVEN:
        return build.cast("arith.truncf", number, target.name)
    return build.vendor.directed(number, target.name, mode)
