"""Footprints with numbers in the place of what is known, and with the numbers that their symbols can be.

Arguments and extents of the grid are put in first, so that expressions simplify: quotients by an argument become
quotients by a constant. Then guards bound the symbols: a store of rows ``128 * block_x + lane_0`` that a mask or a view
keeps below 1000 has a coordinate from 0 to 999, however many tile blocks there are. Where such a bound is right only if
some arithmetic does not wrap around, that is noted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce

from tileir.analysis.expressions import ZERO, Expression, Symbol, number, of
from tileir.analysis.extents import Term
from tileir.analysis.footprint import Coordinate, Footprint, with_coordinate
from tileir.analysis.ranges import Range, multiply
from tileir.analysis.symbols import BlockId, GridExtent, Lane, NoWrap, ScalarParameter, Turn

Grid = tuple[int | None, int | None, int | None]
"""Extents along the axes; None may be any."""

ANY_GRID: Grid = (None, None, None)


def specialised(footprint: Footprint, arguments: Sequence[int | None] | None, grid: Grid) -> Footprint:
    """Return the footprint for these arguments, one per parameter (None: any), and this grid. May raise `TooLarge`."""

    def given(symbol: Symbol) -> Expression | None:
        if isinstance(symbol, ScalarParameter) and arguments is not None:
            value = arguments[symbol.index]
            return None if value is None else number(_signed(value, symbol.bits))
        if isinstance(symbol, GridExtent):
            extent = grid[symbol.axis]
            return None if extent is None else number(extent)
        return ZERO if isinstance(symbol, BlockId) and grid[symbol.axis] == 1 else None

    return _changed(footprint, given)


def _signed(value: int, bits: int) -> int:
    half = 1 << (bits - 1)
    return (int(value) + half) % (1 << bits) - half


def _changed(footprint: Footprint, given: Callable[[Symbol], Expression | None]) -> Footprint:
    made = {one: Coordinate(one.dim, one.form.substituted(given)) for one in footprint.coordinates}

    def replaced(symbol: Symbol) -> Expression | None:
        return of(made[symbol]) if isinstance(symbol, Coordinate) else given(symbol)

    def change(form: Expression) -> Expression:
        return form.substituted(replaced)

    turns = [of(turn).substituted(given) for turn in footprint.loops]
    return replace(
        footprint,
        form=change(footprint.form),
        coordinates=tuple(made.values()),
        guards=tuple(guard.of(change) for guard in footprint.guards),
        needs=frozenset(need.of(change(need.form)) for need in footprint.needs),
        kept_inside=tuple((made[one], change(limit)) for one, limit in footprint.kept_inside),
        loops=tuple(symbol for turn in turns for symbol in turn.symbols() if isinstance(symbol, Turn)),
    )


# ---------------------------------------------------------------- what guards leave of each symbol


class NarrowedFootprint:
    """A footprint with the ranges of its symbols, narrowed by its guards, and the conditions that this relies on."""

    def __init__(self, footprint: Footprint, grid: Grid, trust: bool) -> None:
        self.footprint = _with_coordinates(footprint)
        self.assumed: set[NoWrap] = set()
        self._ranges: dict[Symbol, Range] = {
            BlockId(axis): Range(1, 0, extent - 1) for axis, extent in enumerate(grid) if extent is not None
        }
        self._trust = trust
        for coordinate in self.footprint.coordinates:
            self._ranges[coordinate] = coordinate.form.range_if(self.range)
        for guard in self.footprint.guards:
            if trust or not guard.promised:
                self._rely(guard.needs)
                self._narrow(guard.form)
        self._rely(self.footprint.needs)

    def _rely(self, needs: frozenset[NoWrap]) -> None:
        """Assume conditions that are not seen to hold."""
        for need in needs:
            if not (need.promised and self._trust) and not need.holds(self.range):
                self.assumed.add(need)
                if need.form.constant == 0 and list(need.form.terms.values()) == [1]:
                    self._narrow(need.form - need.low)

    def _narrow(self, form: Expression) -> None:
        """Bound each symbol that a sum which is not negative has times one."""
        for symbol in form.symbols():
            step = form.step(symbol)
            if step is None or not step.is_constant or abs(step.constant) != 1:
                continue
            known, others = self.range(symbol), (form - of(symbol) * step.constant).range_if(self.range)
            low = max(known.low, -others.high) if step.constant > 0 else known.low
            high = min(known.high, others.high) if step.constant < 0 else known.high
            self._ranges[symbol] = Range(known.divisor, low, high)

    def range(self, symbol: Symbol) -> Range:
        return self._ranges.get(symbol, symbol.range)

    @property
    def empty(self) -> bool:
        """True if some guard holds nowhere."""
        return any(found.low > found.high for found in self._ranges.values())

    def bounds(self, form: Expression) -> Range:
        return form.range_if(self.range)

    def span(self, coordinate: Coordinate) -> Expression | None:
        """Return the largest difference of two values of a coordinate, as its guards bound it."""
        known = self.range(coordinate)
        for guard in self.footprint.guards:
            if guard.form.step(coordinate) == number(-1):
                return guard.form + of(coordinate) - known.low
        return number(known.high - known.low)

    def terms(self, form: Expression) -> list[Term]:
        """Return the products of a sum, as multiples of numbers in the ranges of their symbols."""
        found = []
        for product, factor in form.terms.items():
            bounds = reduce(multiply, map(self.range, product[1:]), self.range(product[0]))
            found.append(Term(factor, bounds.low, bounds.high))
        return found

    @property
    def size(self) -> int:
        """Bytes of an element; where elements are counted that share bytes, how many share one."""
        return self.footprint.bytes if self.footprint.size >= 8 else 8 // self.footprint.size


def _with_coordinates(footprint: Footprint) -> Footprint:
    """Add a coordinate for each element index without a guard: rows that differ from tile block to tile block."""
    steps = {lane: footprint.form.step(lane) for lane in footprint.form.symbols() if isinstance(lane, Lane)}
    for lane, step in sorted(steps.items(), key=_farthest_first):
        if step is not None and (step.terms or step.constant):
            multiples = ((symbol, multiple_of(footprint.form.step(symbol), step)) for symbol in _blocks(footprint.form))
            rows = sum((of(symbol) * times for symbol, times in multiples if times), of(lane))
            footprint = with_coordinate(footprint, lane, rows)
    return footprint


def _farthest_first(entry: tuple[Lane, Expression | None]) -> tuple[bool, int, Lane]:
    lane, step = entry
    return (step is not None and step.is_constant, -abs(step.constant) if step is not None else 0, lane)


def _blocks(form: Expression) -> list[Symbol]:
    return [symbol for symbol in form.symbols() if isinstance(symbol, BlockId)]


def multiple_of(step: Expression | None, by: Expression) -> int:
    """Return ``step // by`` if exact, else 0."""
    if step is None or not step.terms.keys() >= by.terms.keys():
        return 0
    product = next(iter(by.terms), ())
    factor, divisor = (form.terms[product] if product else form.constant for form in (step, by))
    times = factor // divisor if divisor else 0
    return times if times and step == by * times else 0
