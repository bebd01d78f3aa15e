"""The functions of AMD's pseudo-code.

They follow the documents of the instruction sets.

Where a document allows an error (reciprocals, roots, powers, logarithms, sines), the result is the nearest.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.hsaco_machine.typed import Array, Typed, as_float, fma, from_number, integer, mask_of, truth

Function = Callable[..., Typed]
_BIASES = {16: 15, 32: 127, 64: 1023}
_EXTREME_KINDS = ("f16", "f32", "i16", "i32", "u16", "u32", "num_f16", "num_f32")
_FRACTIONS = {16: 10, 32: 23, 64: 52}


def _field(x: Typed) -> Array:
    fraction = _FRACTIONS[x.width]
    return (x.raw >> np.uint64(fraction)) & mask_of(x.width - 1 - fraction)


def _exponent(x: Typed) -> Typed:
    """The exponent with its bias; of a subnormal as if it were normal."""
    number = np.abs(x.number.astype(np.float64))
    with np.errstate(all="ignore"):
        _, found = np.frexp(np.where(np.isfinite(number), number, 1.0))
    biased = found.astype(np.int64) - 1 + _BIASES[x.width]
    field = _field(x).astype(np.int64)
    biased = np.where(field == field.dtype.type(mask_of(x.width - 1 - _FRACTIONS[x.width])), field, biased)
    return Typed(np.where(number == 0, 0, biased).astype(np.int64).view(np.uint64) & mask_of(32), 32, "i")


def _mantissa(x: Typed) -> Typed:
    return from_number(np.frexp(x.number.astype(np.float64))[0].astype(x.number.dtype))


def _sign(x: Typed) -> Typed:
    return Typed(x.raw >> np.uint64(x.width - 1), 1, "u")


def _absolute(x: Typed) -> Typed:
    if x.kind == "f":
        return Typed(x.raw & mask_of(x.width - 1), x.width, "f")
    return Typed(np.abs(x.signed).view(np.uint64) & mask_of(x.width), x.width, "i")


def _quiet(x: Typed) -> Array:
    return ((x.raw >> np.uint64(_FRACTIONS[x.width] - 1)) & np.uint64(1)) == 1


def _to_quiet(x: Typed) -> Typed:
    return Typed(x.raw | np.uint64(1 << _FRACTIONS[x.width] - 1), x.width, "f")


def _ldexp(x: Typed, by: Typed) -> Typed:
    with np.errstate(all="ignore"):
        return from_number(np.ldexp(x.number, by.signed.astype(np.int32)))


def _same(function: Callable[[Array], Array]) -> Function:
    def apply(x: Typed) -> Typed:
        with np.errstate(all="ignore"):
            return from_number(function(x.number).astype(x.number.dtype))

    return apply


def _wide(function: Callable[..., Array]) -> Function:
    """Computed in f64 and rounded."""

    def apply(*operands: Typed) -> Typed:
        with np.errstate(all="ignore"):
            found = function(*(operand.number.astype(np.float64) for operand in operands))
        return from_number(np.asarray(found).astype(operands[-1].number.dtype))

    return apply


def _to_integer(kind: str, width: int) -> Function:
    """Towards zero, saturated, 0 of NaN."""
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if kind == "i" else (0, (1 << width) - 1)

    def apply(x: Typed) -> Typed:
        number = np.trunc(np.nan_to_num(x.number.astype(np.float64), nan=0.0, posinf=2.0**70, neginf=-(2.0**70)))
        limited = np.clip(number, low, high)
        return Typed(limited.astype(np.int64).view(np.uint64) & mask_of(width), width, kind)

    return apply


def _to_float(width: int) -> Function:
    kinds = {16: np.float16, 32: np.float32, 64: np.float64}
    return lambda x: from_number(x.number.astype(kinds[width]))


def _between(width: int) -> Function:
    def apply(x: Typed) -> Typed:
        with np.errstate(all="ignore"):
            return as_float(x, width)

    return apply


def _signext_from_bit(x: Typed, count: Typed) -> Typed:
    """The low `count` bits with their sign."""
    shift = (np.uint64(64) - count.raw) & np.uint64(63)
    found = ((x.raw << shift).astype(np.int64) >> shift.astype(np.int64)).view(np.uint64)
    return Typed(np.where(count.raw == 0, np.uint64(0), found) & mask_of(x.width), x.width, "i")


def _power(base: Typed, exponent: Typed) -> Typed:
    """``v_exp``; that of f32 has no subnormal results, as its document notes."""
    found = _wide(np.power)(base, exponent)
    smallest = np.finfo(np.float32).tiny if exponent.width == 32 else 0
    return from_number(np.where(found.number < smallest, 0, found.number))


def _even(x: Typed) -> Typed:
    return truth(np.mod(x.number, 2) == 0)


def _first_one(x: Typed) -> Typed:
    """The number of the lowest bit that is set."""
    value = int(x.raw[0])
    return integer((value & -value).bit_length() - 1)


def _extreme(larger: bool) -> Function:
    """``v_max_f32``, ``v_min_f32`` and those of integers: a NaN loses, +0 is above -0."""

    def apply(*operands: Typed) -> Typed:
        found = operands[0]
        for other in operands[1:]:
            found = _further(found, other, larger)
        return found

    return apply


def _further(x: Typed, y: Typed, larger: bool) -> Typed:
    a, b = np.broadcast_arrays(x.number, y.number)
    if x.kind != "f":
        return Typed(np.where((a > b) == larger, x.raw, y.raw), x.width, x.kind)
    signs = _sign(x).raw < _sign(y).raw if larger else _sign(x).raw > _sign(y).raw
    first = np.where(larger, a > b, a < b) | ((a == b) & signs) | np.isnan(b)
    return Typed(np.where(first, x.raw, y.raw), x.width, "f")


FUNCTIONS: dict[str, Function] = {
    **{f"v_max{count}_{kind}": _extreme(larger=True) for count in ("", "3") for kind in _EXTREME_KINDS},
    **{f"v_min{count}_{kind}": _extreme(larger=False) for count in ("", "3") for kind in _EXTREME_KINDS},
    "abs": _absolute,
    "sign": _sign,
    "exponent": _exponent,
    "mantissa": _mantissa,
    "ldexp": _ldexp,
    "fma": fma,
    "sqrt": _same(np.sqrt),
    "floor": _same(np.floor),
    "ceil": _same(np.ceil),
    "trunc": _same(np.trunc),
    "fract": _same(lambda x: x - np.floor(x)),
    "pow": _power,
    "log2": _wide(np.log2),
    "sin": _wide(np.sin),
    "cos": _wide(np.cos),
    "isEven": _even,
    "isNAN": lambda x: truth(np.isnan(x.number)),
    "isSignalNAN": lambda x: truth(np.isnan(x.number) & ~_quiet(x)),
    "isQuietNAN": lambda x: truth(np.isnan(x.number) & _quiet(x)),
    "cvtToQuietNAN": _to_quiet,
    "signext": lambda x: x.of("i", 64) if x.kind == "i" else Typed(x.raw, x.width, "i").of("i", 64),
    "signext_from_bit": _signext_from_bit,
    "f32_to_i32": _to_integer("i", 32),
    "f32_to_u32": _to_integer("u", 32),
    "f64_to_i32": _to_integer("i", 32),
    "f64_to_u32": _to_integer("u", 32),
    "f16_to_i16": _to_integer("i", 16),
    "f16_to_u16": _to_integer("u", 16),
    "i32_to_f32": _to_float(32),
    "u32_to_f32": _to_float(32),
    "i32_to_f64": _to_float(64),
    "u32_to_f64": _to_float(64),
    "i16_to_f16": _to_float(16),
    "u16_to_f16": _to_float(16),
    "i8_to_i32": lambda x: x.of("i", 8).of("i", 32),
    "u8_to_u32": lambda x: x.of("u", 32),
    "f16_to_f32": _between(32),
    "f32_to_f16": _between(16),
    "f32_to_f64": _between(64),
    "f64_to_f32": _between(32),
    "s_ff1_i32_b32": _first_one,
    "s_ff1_i32_b64": _first_one,
}
