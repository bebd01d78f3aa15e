"""Tiles as numbers: formulas in Python's notation that make operations.

    x = TileNumber(build, value)
    y = (x * x + 1.0).sqrt()
    z = where(x < 0.0, -y, y)

Operands are broadcast from Python's numbers. Integers are signed unless an operation is named for unsigned ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tileir.ir import types as t
from tileir.ir.attributes import Predicate, Rounding, Signedness
from tileir.ir.core import Op, Value
from tileir.ops.conversion import FToI, IToF
from tileir.ops.floating import AbsF, AddF, Ceil, DivF, Floor, Fma, MaxF, MinF, MulF, NegF, Sqrt, SubF
from tileir.ops.functions import Exp, Exp2, Log, Log2
from tileir.ops.integer import AbsI, AddI, AndI, MulI, NegI, OrI, ShlI, ShrI, SubI, XOrI
from tileir.triton.importer.building import TileBuilder

_FLOAT_OF = {32: t.F32, 64: t.F64}


@dataclass(frozen=True, eq=False)
class TileNumber:
    """A tile of floats, integers or truths."""

    build: TileBuilder
    value: Value

    @property
    def element(self) -> t.ElementType:
        return self.value.tile.number

    @property
    def is_float(self) -> bool:
        return self.element.is_float

    def apply(self, cls: type[Op], *others: TileNumber | float, **attributes: Any) -> TileNumber:
        """Return an operation whose operands and result have this type."""
        operands = [self.value, *(self.like(other).value for other in others)]
        return TileNumber(self.build, self.build.same(cls, *operands, **attributes))

    def like(self, other: TileNumber | float) -> TileNumber:
        """Return `other`, as a tile of this type if it is a Python number."""
        if isinstance(other, TileNumber):
            return other
        return TileNumber(self.build, self.build.number(self.value.tile, other))

    # ------------------------------------------------------------ arithmetic

    def __add__(self, other: TileNumber | float) -> TileNumber:
        return self.apply(AddF if self.is_float else AddI, other)

    def __radd__(self, other: float) -> TileNumber:
        return self.like(other) + self

    def __sub__(self, other: TileNumber | float) -> TileNumber:
        return self.apply(SubF if self.is_float else SubI, other)

    def __rsub__(self, other: float) -> TileNumber:
        return self.like(other) - self

    def __mul__(self, other: TileNumber | float) -> TileNumber:
        return self.apply(MulF if self.is_float else MulI, other)

    def __rmul__(self, other: float) -> TileNumber:
        return self.like(other) * self

    def __truediv__(self, other: TileNumber | float) -> TileNumber:
        return self.apply(DivF, other)

    def __rtruediv__(self, other: float) -> TileNumber:
        return self.like(other) / self

    def __neg__(self) -> TileNumber:
        return self.apply(NegF if self.is_float else NegI)

    def __abs__(self) -> TileNumber:
        return self.apply(AbsF if self.is_float else AbsI)

    def fma(self, factor: TileNumber | float, summand: TileNumber | float) -> TileNumber:
        return self.apply(Fma, factor, summand)

    def sqrt(self) -> TileNumber:
        return self.apply(Sqrt)

    def exp(self) -> TileNumber:
        return self.apply(Exp)

    def exp2(self) -> TileNumber:
        return self.apply(Exp2)

    def log(self) -> TileNumber:
        return self.apply(Log)

    def log2(self) -> TileNumber:
        return self.apply(Log2)

    def floor(self) -> TileNumber:
        return self.apply(Floor)

    def ceil(self) -> TileNumber:
        return self.apply(Ceil)

    def maximum(self, other: TileNumber | float) -> TileNumber:
        """Return the larger number; a NaN loses."""
        return self.apply(MaxF, other)

    def minimum(self, other: TileNumber | float) -> TileNumber:
        return self.apply(MinF, other)

    # ------------------------------------------------------------ bits

    def __and__(self, other: TileNumber | int) -> TileNumber:
        return self.apply(AndI, other)

    def __or__(self, other: TileNumber | int) -> TileNumber:
        return self.apply(OrI, other)

    def __xor__(self, other: TileNumber | int) -> TileNumber:
        return self.apply(XOrI, other)

    def __invert__(self) -> TileNumber:
        return self ^ -1

    def __lshift__(self, other: TileNumber | int) -> TileNumber:
        return self.apply(ShlI, other)

    def __rshift__(self, other: TileNumber | int) -> TileNumber:
        """Shift right by copies of the sign."""
        return self.apply(ShrI, other, signedness=Signedness.SIGNED)

    def shifted_right(self, other: TileNumber | int) -> TileNumber:
        """Shift right by zeros."""
        return self.apply(ShrI, other, signedness=Signedness.UNSIGNED)

    # ------------------------------------------------------------ comparisons

    def compare(self, predicate: Predicate, other: TileNumber | float, signed: bool = True) -> TileNumber:
        """Compare; of a NaN only that it is not equal."""
        rhs = self.like(other).value
        if not self.is_float:
            return TileNumber(self.build, self.build.compare(predicate, self.value, rhs, signed))
        ordered = predicate is not Predicate.NOT_EQUAL
        return TileNumber(self.build, self.build.compare_floats(predicate, self.value, rhs, ordered))

    def __lt__(self, other: TileNumber | float) -> TileNumber:
        return self.compare(Predicate.LESS_THAN, other)

    def __le__(self, other: TileNumber | float) -> TileNumber:
        return self.compare(Predicate.LESS_THAN_OR_EQUAL, other)

    def __gt__(self, other: TileNumber | float) -> TileNumber:
        return self.compare(Predicate.GREATER_THAN, other)

    def __ge__(self, other: TileNumber | float) -> TileNumber:
        return self.compare(Predicate.GREATER_THAN_OR_EQUAL, other)

    def equals(self, other: TileNumber | float) -> TileNumber:
        return self.compare(Predicate.EQUAL, other)

    def differs(self, other: TileNumber | float) -> TileNumber:
        return self.compare(Predicate.NOT_EQUAL, other)

    # ------------------------------------------------------------ conversions

    def to(self, element: t.ElementType, signed: bool = True, rounding: Rounding | None = None) -> TileNumber:
        """Convert to another type: rounded to nearest even, or to integers towards zero and saturated."""
        build, value = self.build, self.value
        mode = {} if rounding is None else {"rounding_mode": rounding}
        if self.is_float and element.is_float:
            made = build.converted(value, element, **mode)
        elif self.is_float:
            made = build.cast(FToI, value, element, signedness=Signedness(signed), saturating=True)
        elif element.is_float:
            made = build.cast(IToF, value, element, signedness=Signedness(signed))
        else:
            made = build.resized(value, element, signed)
        return TileNumber(build, made)

    @property
    def bits(self) -> TileNumber:
        """The bits of floats as integers."""
        return TileNumber(self.build, self.build.bits(self.value))

    @property
    def float(self) -> TileNumber:
        """Bits as floats."""
        return TileNumber(self.build, self.build.bitcast(self.value, _FLOAT_OF[self.element.bits]))


def where(condition: TileNumber, yes: TileNumber | float, no: TileNumber | float) -> TileNumber:
    """Choose element by element; at most one of the two choices is a Python number."""
    if isinstance(yes, TileNumber):
        other = yes.like(no)
    else:
        assert isinstance(no, TileNumber)
        yes, other = no.like(yes), no
    return TileNumber(condition.build, condition.build.select(condition.value, yes.value, other.value))


def polynomial(x: TileNumber, coefficients: Sequence[float]) -> TileNumber:
    """Return a polynomial; the coefficients begin with that of the power 0."""
    total = x.like(coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        total = total.fma(x, coefficient)
    return total
