"""Expressions of the results of integer operations, from those of the operands.

``muli`` of ``block_x`` and ``128`` is ``128 * block_x``; ``exti signed`` to i64 is the signed reading of its operand;
``shli`` by a constant is a product, ``andi`` with 2^k - 1 what a quotient by 2^k leaves.

Knows: one rule per operation whose result is an expression of its operands. A result without one is a number that
nothing but its type is known of. Does not know: what places of a tile elements stand at (`analysis.layout`).
"""

from __future__ import annotations

from tileir.analysis import ranges
from tileir.analysis.expressions import number
from tileir.analysis.forms import Affine, Forms, Reading, Rule, is_integer, kept, width
from tileir.analysis.ranges import Range, power_in
from tileir.analysis.symbols import Kind, NoWrap, function
from tileir.ir.attributes import Rounding, Signedness
from tileir.ir.core import Op
from tileir.ir.rules import Rules
from tileir.ops import conversion, core, division, integer

rules: Rules[Rule] = Rules()


# ---------------------------------------------------------------- sums and products, modulo 2^width


@rules(integer.AddI)
def _add(op: integer.AddI, known: Forms) -> Affine:
    a, b = known.of(op.lhs), known.of(op.rhs)
    return kept(a.form + b.form, a.bits, a, b, overflow=op.overflow)


@rules(integer.SubI)
def _subtract(op: integer.SubI, known: Forms) -> Affine:
    a, b = known.of(op.lhs), known.of(op.rhs)
    return kept(a.form - b.form, a.bits, a, b, overflow=op.overflow)


@rules(integer.MulI)
def _multiply(op: integer.MulI, known: Forms) -> Affine:
    a, b = known.of(op.lhs), known.of(op.rhs)
    return kept(a.form * b.form, a.bits, a, b, overflow=op.overflow)


@rules(integer.NegI)
def _negate(op: integer.NegI, known: Forms) -> Affine:
    a = known.of(op.source)
    return kept(-a.form, a.bits, a, overflow=op.overflow)


@rules(integer.ShlI)
def _shift_left(op: integer.ShlI, known: Forms) -> Affine | None:
    a, amount = known.of(op.lhs), known.of(op.rhs).unsigned
    by = amount.form.range.constant
    if by is None or amount.needs:
        return None
    return kept(a.form * (1 << by), a.bits, a, overflow=op.overflow) if by < a.bits else Affine(number(0), a.bits)


# ---------------------------------------------------------------- readings


@rules(conversion.ExtI)
def _extend(op: conversion.ExtI, known: Forms) -> Affine:
    found = known.of(op.source).read(op.signedness)
    return Affine(found.form, width(op.to), found.needs)


@rules(conversion.TruncI)
def _truncate(op: conversion.TruncI, known: Forms) -> Affine:
    a = known.of(op.source)
    return kept(a.form, width(op.to), a, overflow=op.overflow)


@rules(conversion.IntToPtr, conversion.PtrToInt, conversion.PtrToPtr)
def _same_bits(op: Op, known: Forms) -> Affine:
    return known.of(op.operands[0])


@rules(conversion.Bitcast)
def _bitcast(op: conversion.Bitcast, known: Forms) -> Affine | None:
    return known.of(op.source) if is_integer(op.source.type) and is_integer(op.result.type) else None


@rules(core.Offset)
def _offset(op: core.Offset, known: Forms) -> Affine:
    """Addresses modulo 2^64, moved by the signed reading of a number of elements, rounded to whole bytes toward 0."""
    pointer, distance = known.of(op.ptr), known.of(op.offset).signed
    bits = op.ptr.tile.pointer.pointee.memory_bits
    moved = distance.form * (bits // 8) if bits >= 8 else function(Kind.TRUNCATED, distance.form, number(8 // bits))
    return Affine(pointer.form + moved, 64, pointer.needs | distance.needs)


# ---------------------------------------------------------------- functions

_QUOTIENTS = {Rounding.ZERO: Kind.TRUNCATED, Rounding.NEGATIVE_INF: Kind.FLOOR}


def _function(kind: Kind, a: Reading, b: Reading, bits: int, limits: Range | None = None) -> Affine:
    """A function of two readings. Its result lies in `limits` whether their conditions hold or not."""
    either = Range(1, -1 << (bits - 1), (1 << bits) - 1)
    return Affine(function(kind, a.form, b.form, a.needs | b.needs, limits or either), bits)


@rules(division.DivI)
def _divide(op: division.DivI, known: Forms) -> Affine:
    a, b = (known.of(operand).read(op.signedness) for operand in (op.lhs, op.rhs))
    if op.rounding is Rounding.POSITIVE_INF:
        positive = NoWrap(b.form, 1, ranges.unsigned(64).high)
        return _function(Kind.FLOOR, Reading(a.form + b.form - 1, a.needs | {positive}), b, width(op.result))
    return _function(_QUOTIENTS[op.rounding], a, b, width(op.result))


@rules(division.RemI)
def _remainder(op: division.RemI, known: Forms) -> Affine:
    a, b = (known.of(operand).read(op.signedness) for operand in (op.lhs, op.rhs))
    return _function(Kind.REMAINDER, a, b, width(op.result))


@rules(integer.ShrI)
def _shift_right(op: integer.ShrI, known: Forms) -> Affine | None:
    a, amount = known.of(op.lhs), known.of(op.rhs).unsigned
    by = amount.form.range.constant
    if by is None or amount.needs or by >= a.bits:
        return None
    limits = ranges.unsigned(a.bits - by) if op.signedness is Signedness.UNSIGNED else ranges.signed(a.bits - by)
    return _function(Kind.FLOOR, a.read(op.signedness), Reading(number(1 << by)), a.bits, limits)


@rules(integer.MaxI, integer.MinI)
def _extremum(op: integer.MaxI | integer.MinI, known: Forms) -> Affine:
    a, b = (known.of(operand).read(op.signedness) for operand in (op.lhs, op.rhs))
    return _function(Kind.LARGEST if isinstance(op, integer.MaxI) else Kind.SMALLEST, a, b, width(op.result))


@rules(integer.AbsI)
def _absolute(op: integer.AbsI, known: Forms) -> Affine:
    found = known.of(op.source).signed
    return _function(Kind.LARGEST, found, Reading(-found.form, found.needs), width(op.result))


# ---------------------------------------------------------------- bits


@rules(integer.AndI)
def _and(op: integer.AndI, known: Forms) -> Affine:
    a, b = known.of(op.lhs), known.of(op.rhs)
    if a.form.is_constant:
        a, b = b, a
    mask = b.form.constant if b.form.is_constant else 0
    if mask > 0 and mask + 1 == power_in(mask + 1) and mask < 1 << (a.bits - 1):
        # The low bits are those of what the element is congruent to.
        return Affine(function(Kind.MODULO, a.form, number(mask + 1)), a.bits, a.needs)
    if mask < 0 and -mask == power_in(mask):
        return Affine(a.form - function(Kind.MODULO, a.form, number(-mask)), a.bits, a.needs)
    return _bitwise(Kind.AND, a, b)


@rules(integer.OrI)
def _or(op: integer.OrI, known: Forms) -> Affine:
    a, b = known.of(op.lhs), known.of(op.rhs)
    if _apart(a, b) or _apart(b, a):
        return kept(a.form + b.form, a.bits, a, b)
    return _bitwise(Kind.OR, a, b)


@rules(integer.XOrI)
def _xor(op: integer.XOrI, known: Forms) -> Affine:
    a, b = known.of(op.lhs), known.of(op.rhs)
    if _apart(a, b) or _apart(b, a):
        return kept(a.form + b.form, a.bits, a, b)
    return _bitwise(Kind.XOR, a, b)


def _apart(high: Affine, low: Affine) -> bool:
    """Whether no bit is set in both: the one is a multiple of a power of two that the other is less than."""
    small = low.form.range
    return not (high.needs or low.needs) and small.low >= 0 and small.high < high.form.range.divisor


def _bitwise(kind: Kind, a: Affine, b: Affine) -> Affine:
    return _function(kind, a.signed, b.signed, a.bits, ranges.signed(a.bits))
