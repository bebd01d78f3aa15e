"""``arith`` as MLIR documents it, and as Triton's compiler for NVIDIA GPUs lowers it where that is weaker.

A rule takes the instruction and the arrays of its operands, and gives the lanes of the result, with poison where the
result is not defined.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.ttir_machine.values import (
    Array,
    Lanes,
    MachineFault,
    as_integer,
    bits_of,
    constant,
    from_bits,
    signed,
    unsigned,
    width,
)
from tileir.gpu.ttir.ir.code import ConstantBits, Instruction
from tileir.ir import types as t
from tileir.ir.attributes import Rounding
from tileir.numerics import formats, rounding

Rule = Callable[..., "Array | Lanes"]
NEAREST = Rounding.NEAREST_EVEN
ELEMENTS: dict[str, t.ElementType] = {"f16": t.F16, "bf16": t.BF16, "f32": t.F32, "f64": t.F64}
"""The float types that have arithmetic."""


def element_of(instruction: Instruction) -> str:
    """The element type of the (first) result."""
    return instruction.result_types[0].element


# ------------------------------------------------------------ integers


def _modular(function: Callable[[Array, Array], Array], wide: Callable[[int, int], int]) -> Rule:
    """Arithmetic modulo 2^width; overflow is poison if the instruction promises that there is none."""

    def rule(instruction: Instruction, x: Array, y: Array) -> Array | Lanes:
        result = as_integer(function(unsigned(x), unsigned(y)), element_of(instruction))
        promised = str(getattr(instruction.attributes.get("overflowFlags"), "text", ""))
        poison = np.zeros(result.shape, np.bool_)
        for word, reading in (("nsw", signed), ("nuw", unsigned)):
            if word in promised:
                poison |= _overflows(wide, reading(x), reading(y), reading(result))
        return Lanes(result, poison)

    return rule


def _overflows(wide: Callable[[int, int], int], x: Array, y: Array, result: Array) -> Array:
    exact = np.vectorize(wide, otypes=[object])(x.astype(object), y.astype(object))
    return np.asarray(exact != result.astype(object), np.bool_)


def _bitwise(function: Callable[[Array, Array], Array]) -> Rule:
    return lambda instruction, x, y: function(x, y)


def _by_reading(reading: Callable[[Array], Array], function: Callable[[Array, Array], Array]) -> Rule:
    """A function of integers read as signed or unsigned."""
    return lambda instruction, x, y: as_integer(function(reading(x), reading(y)), element_of(instruction))


def _shift(reading: Callable[[Array], Array], function: Callable[[Array, Array], Array]) -> Rule:
    """Poison from the width on."""

    def rule(instruction: Instruction, x: Array, y: Array) -> Lanes:
        poison = unsigned(y) >= width(x)
        value = reading(x)
        distance = np.where(poison, 0, unsigned(y)).astype(value.dtype)
        return Lanes(as_integer(function(value, distance), element_of(instruction)), np.asarray(poison))

    return rule


def _divide(is_signed: bool, remainder: bool) -> Rule:
    """Truncated division. A divisor of zero and MIN / -1 are undefined behaviour, not only poison."""

    def rule(instruction: Instruction, x: Array, y: Array) -> Array:
        dividend, divisor = (signed(x), signed(y)) if is_signed else (unsigned(x), unsigned(y))
        if not np.all(divisor):
            raise MachineFault("division by zero")
        if is_signed and np.any((dividend == np.iinfo(dividend.dtype).min) & (divisor == -1)):
            raise MachineFault("signed division overflows: MIN / -1")
        rest = np.fmod(dividend, divisor)
        return as_integer(rest if remainder else (dividend - rest) // divisor, element_of(instruction))

    return rule


_COMPARISONS: tuple[tuple[Callable[[Array], Array], Callable[[Array, Array], Array]], ...] = (
    (unsigned, np.equal), (unsigned, np.not_equal),
    (signed, np.less), (signed, np.less_equal), (signed, np.greater), (signed, np.greater_equal),
    (unsigned, np.less), (unsigned, np.less_equal), (unsigned, np.greater), (unsigned, np.greater_equal),
)  # fmt: skip
"""By MLIR's number of the predicate."""


def _predicate(instruction: Instruction) -> int:
    number = instruction.attributes["predicate"]
    assert isinstance(number, ConstantBits)
    return number.bits


def _compare(instruction: Instruction, x: Array, y: Array) -> Array:
    reading, function = _COMPARISONS[_predicate(instruction)]
    return function(reading(x), reading(y))


def _extend(reading: Callable[[Array], Array]) -> Rule:
    return lambda instruction, x: as_integer(reading(x), element_of(instruction))


def _truncate(instruction: Instruction, x: Array) -> Array:
    return as_integer(x, element_of(instruction))


# ------------------------------------------------------------ floats


def exact(function: Callable[[t.ElementType, Rounding], Callable[..., Array]]) -> Rule:
    """An operation rounded once to nearest even."""

    def rule(instruction: Instruction, *operands: Array) -> Array:
        return function(arithmetic_type(instruction), NEAREST)(*operands)

    return rule


def arithmetic_type(instruction: Instruction) -> t.ElementType:
    element = element_of(instruction)
    if element not in ELEMENTS:
        raise MachineFault(f"'{instruction.name}' has no code for {element}")
    return ELEMENTS[element]


def approximate(instruction: Instruction, x: Array, error: int = 1) -> Array:
    """A result that is promised only to be near: the number `error` steps farther from zero."""
    bits = bits_of(x)
    inexact = np.isfinite(x.astype(np.float64)) & (x != 0)
    return from_bits(np.where(inexact, bits + bits.dtype.type(error), bits), element_of(instruction))


def _divide_float(instruction: Instruction, x: Array, y: Array) -> Array:
    """``div.full.f32``, which is off by up to 2 ulp; ``div.rn.f64``; Triton has no code for narrower types."""
    element = element_of(instruction)
    if element not in ("f32", "f64"):
        raise MachineFault(f"'arith.divf' has no code for {element}")
    quotient = np.asarray(x / y)
    if element == "f64":
        return quotient
    is_exact = quotient.astype(np.float64) * y.astype(np.float64) == x
    return np.where(is_exact, quotient, approximate(instruction, quotient))


def _remainder_float(instruction: Instruction, x: Array, y: Array) -> Array:
    """LLVM has x - trunc(x / y) * y for it, which is wrong for large quotients."""
    arithmetic_type(instruction)
    return (x - np.trunc((x / y).astype(x.dtype)) * y).astype(x.dtype)


def _negate_float(instruction: Instruction, x: Array) -> Array:
    bits = bits_of(x)
    return from_bits(bits ^ bits.dtype.type(1 << (8 * bits.dtype.itemsize - 1)), element_of(instruction))


def extreme(larger: bool, propagates: bool) -> Rule:
    """The larger or smaller operand, with -0 below +0; a NaN wins if it `propagates`, else loses."""

    def rule(instruction: Instruction, x: Array, y: Array) -> Array:
        arithmetic_type(instruction)
        first = (x > y) | ((x == y) & ~np.signbit(x)) if larger else (x < y) | ((x == y) & np.signbit(x))
        result = np.where(first, x, y)
        lost = np.where(np.isnan(x), x if propagates else y, np.where(np.isnan(y), y if propagates else x, result))
        return lost.astype(x.dtype)

    return rule


_ORDERED: tuple[Callable[[Array, Array], Array], ...] = (
    np.equal, np.greater, np.greater_equal, np.less, np.less_equal, lambda x, y: (x < y) | (x > y),
)  # fmt: skip
"""Predicates 1 to 6 of ``arith.cmpf``; 7 is ord, 8 to 13 the same unordered, 14 uno."""


def _compare_float(instruction: Instruction, x: Array, y: Array) -> Array:
    predicate = _predicate(instruction)
    unordered = np.asarray(np.isnan(x) | np.isnan(y))
    if predicate in (0, 15):
        return np.full(unordered.shape, predicate == 15)
    if predicate in (7, 14):
        return unordered if predicate == 14 else ~unordered
    if predicate < 7:
        return _ORDERED[predicate - 1](x, y) & ~unordered
    return _ORDERED[predicate - 8](x, y) | unordered


# ------------------------------------------------------------ conversions


def _float_cast(instruction: Instruction, x: Array) -> Array:
    """Rounded once to nearest even."""
    if x.dtype.itemsize == 1:
        raise MachineFault(f"'{instruction.name}' has no code for f8")
    wide = x if x.dtype in (np.float32, np.float64) else x.astype(np.float32)
    return rounding.narrowed(wide, arithmetic_type(instruction), NEAREST)


def _to_float(reading: Callable[[Array], Array]) -> Rule:
    """Rounded once; bf16 by way of f32, as Triton does it."""

    def rule(instruction: Instruction, x: Array) -> Array:
        element = arithmetic_type(instruction)
        if element is t.BF16:
            return rounding.nearest_bf16(rounded_integer(reading(x), t.F32, NEAREST))
        return rounded_integer(reading(x), element, NEAREST)

    return rule


def rounded_integer(x: Array, element: t.ElementType, mode: Rounding) -> Array:
    """Integers as floats, rounded once."""
    negative = np.asarray(x < 0)
    wide = x.astype(np.int64 if x.dtype.kind == "i" else np.uint64).view(np.uint64)
    magnitude = np.where(negative, ~wide + np.uint64(1), wide)
    patterns = formats.rounded_magnitude(
        negative, *formats.normalized(magnitude, np.zeros(x.shape, np.int64)), element, mode
    )
    return formats.stored(formats.with_sign(patterns, negative, element), element)


def _to_integer(is_signed: bool) -> Rule:
    """Truncated towards zero; poison out of range."""

    def rule(instruction: Instruction, x: Array) -> Lanes:
        bits = instruction.result_types[0].bits
        low, high = (-(2.0 ** (bits - 1)), 2.0 ** (bits - 1)) if is_signed else (0.0, 2.0**bits)
        whole = np.trunc(x.astype(np.float64))
        inside = (whole >= low) & (whole < high)
        number = np.where(inside, whole, 0.0).astype(np.int64 if is_signed else np.uint64)
        return Lanes(as_integer(number, element_of(instruction)), np.asarray(~inside))

    return rule


def bitcast(instruction: Instruction, x: Array) -> Array:
    """The same bits as another element of the same width."""
    return from_bits(bits_of(x), element_of(instruction))


def _constant(instruction: Instruction) -> Array:
    number = instruction.attributes["value"]
    assert isinstance(number, ConstantBits)
    return constant(number)


RULES: dict[str, Rule] = {
    "arith.constant": _constant,
    "arith.addi": _modular(np.add, lambda x, y: x + y),
    "arith.subi": _modular(np.subtract, lambda x, y: x - y),
    "arith.muli": _modular(np.multiply, lambda x, y: x * y),
    "arith.andi": _bitwise(np.bitwise_and),
    "arith.ori": _bitwise(np.bitwise_or),
    "arith.xori": _bitwise(np.bitwise_xor),
    "arith.maxsi": _by_reading(signed, np.maximum),
    "arith.minsi": _by_reading(signed, np.minimum),
    "arith.maxui": _by_reading(unsigned, np.maximum),
    "arith.minui": _by_reading(unsigned, np.minimum),
    "arith.shli": _shift(unsigned, np.left_shift),
    "arith.shrui": _shift(unsigned, np.right_shift),
    "arith.shrsi": _shift(signed, np.right_shift),
    "arith.divsi": _divide(is_signed=True, remainder=False),
    "arith.divui": _divide(is_signed=False, remainder=False),
    "arith.remsi": _divide(is_signed=True, remainder=True),
    "arith.remui": _divide(is_signed=False, remainder=True),
    "arith.cmpi": _compare,
    "arith.extsi": _extend(signed),
    "arith.extui": _extend(unsigned),
    "arith.trunci": _truncate,
    "arith.addf": exact(rounding.add),
    "arith.subf": exact(rounding.sub),
    "arith.mulf": exact(rounding.mul),
    "arith.divf": _divide_float,
    "arith.remf": _remainder_float,
    "arith.negf": _negate_float,
    "arith.maximumf": extreme(larger=True, propagates=True),
    "arith.minimumf": extreme(larger=False, propagates=True),
    "arith.maxnumf": extreme(larger=True, propagates=False),
    "arith.minnumf": extreme(larger=False, propagates=False),
    "arith.cmpf": _compare_float,
    "arith.extf": _float_cast,
    "arith.truncf": _float_cast,
    "arith.sitofp": _to_float(signed),
    "arith.uitofp": _to_float(unsigned),
    "arith.fptosi": _to_integer(is_signed=True),
    "arith.fptoui": _to_integer(is_signed=False),
    "arith.bitcast": bitcast,
    "tt.bitcast": bitcast,
    "tt.int_to_ptr": bitcast,
    "tt.ptr_to_int": bitcast,
}
