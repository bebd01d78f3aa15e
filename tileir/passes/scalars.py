"""Scalars that a pass may compute: formulas over values of the program that become operations once the pass decides so.

    first = moved(given(%p), times(given(%block), number(4096, 32)))       # nothing is computed yet
    value = emitted(first, walk, loc)                                      # offset %p, (muli %block, 4096)

Equal formulas are equal objects, so that a condition is known inside an `if` that tests the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tileir.analysis.affine import Affines
from tileir.analysis.expressions import number as constant
from tileir.analysis.forms import Affine, kept
from tileir.analysis.values import COMBINED
from tileir.ir import types as t
from tileir.ir.attributes import Overflow, Signedness
from tileir.ir.core import Op, Value
from tileir.ir.loc import Location
from tileir.ops.conversion import ExtI
from tileir.ops.core import Constant, Offset
from tileir.ops.division import DivI
from tileir.ops.integer import AddI, MinI, MulI, SubI
from tileir.ops.shapes import Reshape
from tileir.passes.facts import signed_splat_of, splat
from tileir.passes.rebuilding import Rebuilding

WIDEST = 64


@dataclass(frozen=True)
class KnownScalar:
    """An integer, read as signed."""

    number: int
    bits: int


@dataclass(frozen=True)
class GivenScalar:
    """The only element of a tile of the program as it was."""

    value: Value


@dataclass(frozen=True)
class ComputedScalar:
    """The result of an operation on other formulas."""

    kind: type[Op]
    operands: tuple[ScalarFormula, ...]
    type: t.TileType
    overflow: Overflow = Overflow.NONE
    size: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", 1 + sum(map(size_of, self.operands)))


ScalarFormula = KnownScalar | GivenScalar | ComputedScalar

_INTEGERS = {element.bits: element for element in t.INTS}


def type_of(formula: ScalarFormula) -> t.TileType:
    if isinstance(formula, KnownScalar):
        return t.tile(_INTEGERS[formula.bits])
    return formula.type if isinstance(formula, ComputedScalar) else t.tile(formula.value.tile.element)


def size_of(formula: ScalarFormula) -> int:
    """Return the number of operations in a formula, each as often as it occurs."""
    return formula.size if isinstance(formula, ComputedScalar) else 0


def bits_of(formula: ScalarFormula) -> int:
    """Return the number of bits of an integer."""
    return formula.bits if isinstance(formula, KnownScalar) else type_of(formula).element.bits


def values_in(formula: ScalarFormula) -> Iterator[Value]:
    """Yield the values of the program that a formula is made of."""
    if isinstance(formula, GivenScalar):
        yield formula.value
    elif isinstance(formula, ComputedScalar):
        for operand in formula.operands:
            yield from values_in(operand)


def known_number(formula: ScalarFormula) -> int | None:
    return formula.number if isinstance(formula, KnownScalar) else None


# ---------------------------------------------------------------- makers


def number(value: int, bits: int) -> KnownScalar:
    """Return an integer modulo 2^bits."""
    half = 1 << (bits - 1)
    return KnownScalar((value + half) % (1 << bits) - half, bits)


def given(value: Value) -> ScalarFormula:
    """Return the only element of a tile."""
    known = signed_splat_of(value)
    return GivenScalar(value) if known is None else KnownScalar(known, value.tile.number.bits)


def added(a: ScalarFormula, b: ScalarFormula, overflow: Overflow = Overflow.NONE) -> ScalarFormula:
    """Return a sum modulo 2^width."""
    if known_number(a) == 0 or known_number(b) == 0:
        return b if known_number(a) == 0 else a
    if isinstance(a, KnownScalar) and isinstance(b, KnownScalar):
        return number(a.number + b.number, a.bits)
    return ComputedScalar(AddI, (a, b), type_of(a), overflow)


def subtracted(a: ScalarFormula, b: ScalarFormula, overflow: Overflow = Overflow.NONE) -> ScalarFormula:
    """Return a difference modulo 2^width."""
    if known_number(b) == 0:
        return a
    if isinstance(a, KnownScalar) and isinstance(b, KnownScalar):
        return number(a.number - b.number, a.bits)
    return ComputedScalar(SubI, (a, b), type_of(a), overflow)


def multiplied(a: ScalarFormula, b: ScalarFormula, overflow: Overflow = Overflow.NONE) -> ScalarFormula:
    """Return a product modulo 2^width."""
    for one, other in ((a, b), (b, a)):
        if known_number(one) in (0, 1):
            return one if known_number(one) == 0 else other
    if isinstance(a, KnownScalar) and isinstance(b, KnownScalar):
        return number(a.number * b.number, a.bits)
    return ComputedScalar(MulI, (a, b), type_of(a), overflow)


def extended(formula: ScalarFormula, bits: int) -> ScalarFormula:
    """Return the signed reading in more bits."""
    if bits_of(formula) == bits:
        return formula
    if isinstance(formula, KnownScalar):
        return KnownScalar(formula.number, bits)
    return ComputedScalar(ExtI, (formula,), t.tile(_INTEGERS[bits]))


def smaller(a: ScalarFormula, b: ScalarFormula) -> ScalarFormula:
    """Return the smaller of two, read as signed."""
    return a if a == b else ComputedScalar(MinI, (a, b), type_of(a))


def divided(formula: ScalarFormula, by: int) -> ScalarFormula:
    """Return the quotient of a number by one that is positive, rounded toward zero."""
    return ComputedScalar(DivI, (formula, number(by, bits_of(formula))), type_of(formula))


def moved(pointer: ScalarFormula, distance: ScalarFormula) -> ScalarFormula:
    """Return a pointer at a distance in elements."""
    return pointer if known_number(distance) == 0 else ComputedScalar(Offset, (pointer, distance), type_of(pointer))


# ---------------------------------------------------------------- what is known of them


def affine(formula: ScalarFormula, known: Affines) -> Affine:
    """Return the expression of an integer."""
    if isinstance(formula, KnownScalar):
        return Affine(constant(formula.number), formula.bits)
    if isinstance(formula, GivenScalar):
        return known.of(formula.value)
    found = [affine(operand, known) for operand in formula.operands]
    if formula.kind is ExtI:
        reading = found[0].signed
        return Affine(reading.form, bits_of(formula), reading.needs)
    a, b = found
    return kept(COMBINED[formula.kind](a.form, b.form), a.bits, a, b, overflow=formula.overflow)


# ---------------------------------------------------------------- operations


def emitted(formula: ScalarFormula, walk: Rebuilding, loc: Location) -> Value:
    """Return the value of a formula, computed where `walk` stands."""
    type = type_of(formula)
    if isinstance(formula, KnownScalar):
        return walk.emit(Constant.build([type], loc, value=splat(type, formula.number)))[0]
    if isinstance(formula, GivenScalar):
        value = walk.values[formula.value]
        return value if value.tile.rank == 0 else walk.emit(Reshape.build([type], loc, source=value))[0]
    made = formula.kind([emitted(operand, walk, loc) for operand in formula.operands], [type], {}, (), loc)
    if formula.overflow is not Overflow.NONE:
        made.attributes["overflow"] = formula.overflow
    if formula.kind in (ExtI, MinI, DivI):
        made.attributes["signedness"] = Signedness.SIGNED
    return walk.emit(made)[0]
