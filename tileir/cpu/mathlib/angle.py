"""Angles too large for a reduction in floats, by integers (Payne and Hanek, 1983).

Knows: 2/pi to 1216 bits, and how the bits that matter for one exponent are multiplied with a significand.
Does not know: sine and cosine (`mathlib.trigonometric`).
"""

from __future__ import annotations

from typing import NamedTuple

from llvmlite import ir

from tileir.cpu.emit.algebra import Int, Real, call_intrinsic
from tileir.cpu.emit.elements import DOUBLE, I64
from tileir.cpu.mathlib.error_free import Pair
from tileir.cpu.mathlib.polynomials import constant_pair, multiply_pairs

_I128 = ir.IntType(128)
_TWO_OVER_PI = (
    "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424dd2e006492eea09d1921cfe1deb1cb129a73e"
    "e88235f52ebb4484e99c7026b45f7e413991d639835339f49c845f8bbdf9283b1ff897ffde05980fef2f118b5a0a6d1f6d367ecf27cb09b7"
    "4f463f669e5fea2d7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d0856033046fc7b6bab"
)
"""The fraction in hexadecimal."""
_TABLE = "math.two_over_pi"
_ZERO_BITS = 64
"""Zeros in front of the table, for exponents that want bits above the point."""
PI_OVER_2 = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)
"""As the sum of three f64."""


class Turned(NamedTuple):
    """x = quadrant * pi/2 + rest, with the quadrant (an i64) modulo 4 and a rest of at most pi/4."""

    quadrant: Int
    rest: Pair


def turned(x: Real) -> Turned:
    """A finite f64 of at least 1 in magnitude."""
    pattern = x.pattern()
    exponent = ((pattern >> 52) & 0x7FF) - 1075
    significand = (pattern & ((1 << 52) - 1)) | (1 << 52)
    turns = _fraction_of_turns(x.builder, significand, exponent - 2 + _ZERO_BITS)
    quadrant = (turns + (1 << 125)) >> 126
    rest = _pair(turns - (quadrant << 126))
    sign = (x < 0.0).choose(x.of(-1.0), 1.0)
    low = quadrant.truncated(I64)
    return Turned((x < 0.0).choose(-low, low), Pair(rest.high * sign, rest.low * sign))


def _fraction_of_turns(builder: ir.IRBuilder, significand: Int, begin: Int) -> Int:
    """The product with 2/pi modulo 4, as an i128 of 126 fraction bits; `begin` is the first bit of the table it needs.

    Bits before weigh a multiple of 4, bits after the three words weigh nothing.
    """
    word, bit = begin >> 6, begin & 63
    words = [_table_word(builder, word + place) for place in range(4)]
    high, middle, low = (_bits(builder, words[place], words[place + 1], bit) for place in range(3))
    factor = significand.extended(_I128)
    carried = ((low.extended(_I128) * factor) >> 64) + middle.extended(_I128) * factor
    return carried + ((high.extended(_I128) * factor) << 64)


def _bits(builder: ir.IRBuilder, first: Int, second: Int, bit: Int) -> Int:
    """64 bits of two words, from `bit` on."""
    return Int(builder, call_intrinsic(builder, "llvm.fshl", I64, (first.value, second.value, bit.value)))


def _table_word(builder: ir.IRBuilder, place: Int) -> Int:
    table = builder.module.globals.get(_TABLE) or _new_table(builder.module)
    address = builder.gep(table, [place.value], source_etype=I64)
    return Int(builder, builder.load(address, typ=I64))


def _new_table(module: ir.Module) -> ir.GlobalVariable:
    words = [0] + [int(_TWO_OVER_PI[at : at + 16], 16) for at in range(0, len(_TWO_OVER_PI), 16)]
    array = ir.Constant(ir.ArrayType(I64, len(words)), words)
    table = ir.GlobalVariable(module, array.type, _TABLE)
    table.initializer, table.global_constant, table.linkage = array, True, "private"
    return table


def _pair(turns: Int) -> Pair:
    """A signed fraction of 126 bits times pi/2, as two f64."""
    negative = turns < 0
    magnitude = negative.choose(-turns, turns)
    zeros = magnitude.leading_zeros()
    normal = magnitude << zeros
    high = (normal >> 75).truncated(I64).converted(DOUBLE)
    low = ((normal >> 22).truncated(I64) & ((1 << 53) - 1)).converted(DOUBLE)
    scale = ((Int(zeros.builder, zeros.constant(1023 + 75 - 126)) - zeros).truncated(I64) << 52).as_real()
    scale = negative.choose(-scale, scale)
    fraction = Pair(high * scale, low * scale * 2.0**-53)
    return multiply_pairs(fraction, constant_pair(high, PI_OVER_2[0], PI_OVER_2[1]))
