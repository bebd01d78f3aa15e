"""TTIR of integer division: quotients in three roundings, and remainders (spec: division#top).

Dividing by 0 is undefined in Tile IR too, but only its result: no instruction is given such a divisor, which would let
the compiler drop code that has nothing to do with it.
"""

from __future__ import annotations

from tileir.gpu.ttir.lib.words import Word
from tileir.gpu.ttir.lowering import Lower, TtirLowering
from tileir.gpu.ttir.rules.integer import wholes
from tileir.ir.attributes import Rounding, Signedness
from tileir.ir.rules import Rules
from tileir.ops.division import DivI, RemI

rules: Rules[Lower] = Rules()


@rules(DivI)
def lower_divi(lowering: TtirLowering, op: DivI) -> None:
    signed = op.signedness is Signedness.SIGNED
    wholes(lowering, op, lambda x, y: _quotient(x, y, signed, op.rounding))


@rules(RemI)
def lower_remi(lowering: TtirLowering, op: RemI) -> None:
    signed = op.signedness is Signedness.SIGNED
    wholes(lowering, op, lambda x, y: _remainder(x, y, signed))


def _quotient(x: Word, y: Word, signed: bool, rounding: Rounding) -> Word:
    """Return the quotient: MIN for MIN and -1, anything for a division by 0."""
    if x.width == 1:
        return x
    if rounding is Rounding.NEGATIVE_INF and (places := _places(y)) is not None:
        return x.shifted_signed(places)
    dividend, divisor = _divisible(x, y, signed)
    quotient = dividend.quotient(divisor, signed)
    if rounding is not Rounding.ZERO:
        quotient = _stepped(quotient, dividend - quotient * divisor, divisor, signed, rounding)
    return quotient.resized(f"i{x.width}")


def _places(divisor: Word) -> int | None:
    """Return the logarithm of a constant divisor that is a positive power of two."""
    known = divisor.known
    if not known or known & (known - 1) or known >> (divisor.width - 1):
        return None
    return known.bit_length() - 1


def _stepped(quotient: Word, rest: Word, divisor: Word, signed: bool, rounding: Rounding) -> Word:
    """Return the truncated quotient moved to the integer below or above if it left a rest."""
    inexact, word = rest.differs(0), f"i{quotient.width}"
    if not signed:
        return quotient + inexact.resized(word)
    below = (rest ^ divisor).is_negative
    if rounding is Rounding.NEGATIVE_INF:
        return quotient - (inexact & below).resized(word)
    return quotient + (inexact & ~below).resized(word)


def _remainder(x: Word, y: Word, signed: bool) -> Word:
    """Return the remainder with the sign of the dividend; 0 for MIN and -1."""
    if x.width == 1:
        return x.constant(0)
    dividend, divisor = _divisible(x, y, signed)
    return dividend.remainder(divisor, signed).resized(f"i{x.width}")


def _divisible(x: Word, y: Word, signed: bool) -> tuple[Word, Word]:
    """Return operands of at least 32 bits with the same quotient and remainder, for which the division has a result.

    Of narrower integers no quotient overflows in 32 bits. A division by -1 becomes one of -x by 1.
    """
    if x.width < 32:
        x, y = x.resized("i32", signed), y.resized("i32", signed)
        overflows = False
    else:
        overflows = signed
    if y.known is not None and 0 < y.known < (1 << y.width) - 1:
        return x, y
    if not overflows:
        return x, y.equals(0).choose(y.constant(1), y)
    return y.equals(-1).choose(-x, x), (y + 1).below(2).choose(y.constant(1), y)
