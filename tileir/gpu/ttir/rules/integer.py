"""TTIR of the integer and bitwise chapters (spec: integer#top). Division is in `ttir.rules.division`.

Everything is modulo 2^width, whatever `overflow` promises, and no instruction gets an operand for which its result is
undefined (spec: undefined#catalogue).
"""

from __future__ import annotations

from collections.abc import Callable

from tileir.gpu.ttir.forms import PREDICATES
from tileir.gpu.ttir.lib.words import Word
from tileir.gpu.ttir.lowering import Lower, TtirLowering
from tileir.ir.attributes import Signedness
from tileir.ir.core import Op
from tileir.ir.rules import Rules
from tileir.ops.integer import (
    AbsI,
    AddI,
    AndI,
    CmpI,
    MaxI,
    MinI,
    MulhiI,
    MulI,
    NegI,
    OrI,
    ShlI,
    ShrI,
    SubI,
    XOrI,
)

rules: Rules[Lower] = Rules()
_SIGNED, _UNSIGNED = Signedness.SIGNED, Signedness.UNSIGNED


def wholes(lowering: TtirLowering, op: Op, formula: Callable[..., Word]) -> None:
    """Bind the result of `op` to `formula` of its operands."""
    (result,) = op.results
    lowering.bind(result, formula(*(Word(lowering.build, lowering.value(value)) for value in op.operands)).value)


# ---------------------------------------------------------------- wider than a bit


def _absolute(x: Word) -> Word:
    """Return the magnitude; MIN stays MIN."""
    return x.is_negative.choose(-x, x)


def _high_product(x: Word, y: Word) -> Word:
    """Return the upper half of the unsigned product of twice the width."""
    if x.width >= 32:
        return x.high_product(y)
    product = x.resized("i32") * y.resized("i32")
    return (product >> x.width).resized(f"i{x.width}")


def _shifted_left(x: Word, amount: Word) -> Word:
    """Zero from the width on."""
    return _shifted(x, amount, Word.__lshift__)


def _shifted_right(x: Word, amount: Word) -> Word:
    return _shifted(x, amount, Word.__rshift__)


def _shifted(x: Word, amount: Word, shift: Callable[[Word, Word], Word]) -> Word:
    """Shift by amounts below the width alone: instructions differ beyond. A constant amount is looked at here."""
    if amount.known is None:
        return amount.below(x.width).choose(shift(x, amount), 0)
    return shift(x, amount) if amount.known < x.width else x.constant(0)


def _shifted_right_signed(x: Word, amount: Word) -> Word:
    """Shift right; from the width on the result consists of sign bits."""
    if amount.known is None:
        return x.shifted_signed(amount.minimum(x.width - 1, signed=False))
    return x.shifted_signed(min(amount.known, x.width - 1))


_PLAIN: dict[type[Op], Callable[..., Word]] = {
    AbsI: _absolute,
    AddI: Word.__add__,
    AndI: Word.__and__,
    MulI: Word.__mul__,
    MulhiI: _high_product,
    NegI: Word.__neg__,
    OrI: Word.__or__,
    ShlI: _shifted_left,
    SubI: Word.__sub__,
    XOrI: Word.__xor__,
}
_BY_READING: dict[type[Op], dict[Signedness, Callable[..., Word]]] = {
    MaxI: {_SIGNED: lambda x, y: x.maximum(y, signed=True), _UNSIGNED: lambda x, y: x.maximum(y, signed=False)},
    MinI: {_SIGNED: lambda x, y: x.minimum(y, signed=True), _UNSIGNED: lambda x, y: x.minimum(y, signed=False)},
    ShrI: {_SIGNED: _shifted_right_signed, _UNSIGNED: _shifted_right},
}

# ---------------------------------------------------------------- one bit: 0 and 1, or 0 and -1 when signed


def _same(x: Word, *others: Word) -> Word:
    return x


def _without(x: Word, amount: Word) -> Word:
    """Return whether shifting back does not give the operand."""
    return x & ~amount


_PLAIN_BIT: dict[type[Op], Callable[..., Word]] = {
    AbsI: _same,
    AddI: Word.__xor__,
    AndI: Word.__and__,
    MulI: Word.__and__,
    MulhiI: lambda x, y: x.constant(0),
    NegI: _same,
    OrI: Word.__or__,
    ShlI: _without,
    SubI: Word.__xor__,
    XOrI: Word.__xor__,
}
_BIT_BY_READING: dict[type[Op], dict[Signedness, Callable[..., Word]]] = {
    MaxI: {_SIGNED: Word.__and__, _UNSIGNED: Word.__or__},
    MinI: {_SIGNED: Word.__or__, _UNSIGNED: Word.__and__},
    ShrI: {_SIGNED: _same, _UNSIGNED: _without},
}

# ---------------------------------------------------------------- rules


@rules(*_PLAIN)
def lower_plain(lowering: TtirLowering, op: Op) -> None:
    wholes(lowering, op, (_PLAIN_BIT if _is_bit(lowering, op) else _PLAIN)[type(op)])


@rules(*_BY_READING)
def lower_by_reading(lowering: TtirLowering, op: MaxI | MinI | ShrI) -> None:
    table = _BIT_BY_READING if _is_bit(lowering, op) else _BY_READING
    wholes(lowering, op, table[type(op)][op.signedness])


def _is_bit(lowering: TtirLowering, op: Op) -> bool:
    return lowering.type_of(op.operands[0]).element == "i1"


@rules(CmpI)
def lower_cmpi(lowering: TtirLowering, op: CmpI) -> None:
    """Compare bits as wider integers; this fixes the order of i1, which compilers leave open."""
    signed, predicate = op.signedness is _SIGNED, PREDICATES[op.comparison_predicate]
    if predicate not in ("eq", "ne"):
        predicate = ("s" if signed else "u") + predicate

    def compared(x: Word, y: Word) -> Word:
        if x.width == 1:
            x, y = (bit.resized("i8", signed) for bit in (x, y))
        return x.compared(predicate, y)

    wholes(lowering, op, compared)
