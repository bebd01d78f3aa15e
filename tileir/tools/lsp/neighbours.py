"""Groups of neighbours in a tile, which an editor shows of a value.

In a 16 x 64 tile of f32 with the addresses ``base + 4 * stride * lane_0 + 4 * lane_1``, each row is 64 neighbours in
memory:

    contiguity       (1, 64)           groups of so many along a dimension rise by one element
    divisibility     (4, 16)           the first of each group is a multiple of this, if the base is one of 16
    constancy        (1, 1)            groups of so many are equal

(the three of Triton's AxisInfo).
"""

from __future__ import annotations

from dataclasses import dataclass

from tileir.analysis.expressions import Expression, Known, Symbol, of
from tileir.analysis.ranges import MAX_DIVISOR, power_in
from tileir.analysis.symbols import Function, Kind, Lane
from tileir.ir.types import PointerType, TileType


@dataclass(frozen=True)
class AxisInfo:
    """Along one dimension of `extent` elements: sizes of groups, all powers of two."""

    contiguity: int
    divisibility: int
    constancy: int


def axes(form: Expression, type: TileType, known: Known) -> tuple[AxisInfo, ...]:
    """Return the groups of neighbours along each dimension of a tile whose elements are `form`; of addresses, those of
    neighbours in memory. `known` are the ranges of symbols."""
    unit = type.element.pointee.alignment if isinstance(type.element, PointerType) else 1
    return tuple(_Dimension(Lane(dim, extent), known, unit).axis(form) for dim, extent in enumerate(type.shape))


@dataclass(frozen=True)
class _Dimension:
    """One dimension, with the index `lane` along it."""

    lane: Lane
    known: Known
    unit: int

    def axis(self, form: Expression) -> AxisInfo:
        constancy = self.constancy(form)
        contiguity = self.contiguity(form, self.unit)
        return AxisInfo(contiguity, self.divisibility(form, max(contiguity, constancy)), constancy)

    def constancy(self, form: Expression) -> int:
        """Return the size of groups of equal elements."""
        return min((self._constancy(symbol) for symbol in form.symbols()), default=self.lane.extent)

    def _constancy(self, symbol: Symbol) -> int:
        if symbol == self.lane:
            return 1
        if isinstance(symbol, Function) and not symbol.needs:
            return self._of_function(symbol)
        return self.lane.extent if self._stays(symbol) else 1

    def _of_function(self, symbol: Function) -> int:
        a, b = symbol.arguments
        together = min(self.constancy(a), self.constancy(b))
        if symbol.kind is Kind.FLOOR and b.is_constant and b.constant > 0:
            # A group that starts at a multiple of its size stays within one multiple of the divisor.
            group = min(self.contiguity(a, 1), power_in(b.constant))
            return max(together, min(group, self.divisibility(a, group)))
        return together

    def contiguity(self, form: Expression, unit: int) -> int:
        """Return the size of groups of elements that rise by `unit` each."""
        rising, rest = form.split(lambda product, factor: not all(map(self._stays, product)))
        if len(rising.terms) != 1:
            return 1
        ((product, factor),) = rising.terms.items()
        if factor != unit or len(product) != 1:
            return 1
        return min(self._run(product[0]), self.constancy(rest))

    def _run(self, symbol: Symbol) -> int:
        """Return the contiguity of one symbol."""
        if symbol == self.lane:
            return self.lane.extent
        if isinstance(symbol, Function) and symbol.kind is Kind.MODULO and symbol.arguments[1].is_constant:
            a, b = symbol.arguments
            group = min(self.contiguity(a, 1), power_in(b.constant))
            return 1 if symbol.needs else min(group, self.divisibility(a, group))
        return 1

    def divisibility(self, form: Expression, group: int) -> int:
        """Return a divisor of the first elements of groups of `group`."""
        found = power_in(form.constant)
        for product, factor in form.terms.items():
            part = power_in(factor)
            for symbol in product:
                part *= group if symbol == self.lane else self.known(symbol).divisor
            found = min(found, part)
        return min(found, MAX_DIVISOR)

    def _stays(self, symbol: Symbol) -> bool:
        """Return whether the symbol is the same for all elements along the dimension."""
        return not of(symbol).mentions(lambda part: part == self.lane)
