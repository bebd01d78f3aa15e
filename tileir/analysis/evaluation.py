"""Footprints for given arguments and a grid.

    program = Program(footprints(kernel.entry))          # once per kernel; can be pickled
    program.extents([None, None, 1024], (8, 1, 1))       # per launch: one Extent or Unmapped for each footprint

Each symbol gets an interval of numbers, parameters a single one; sums are bounded by their parts.
``2 * stride * row + 2 * column`` is linear in the row and the column once the stride is known to be 192. A guard
``columns - column - 1 >= 0`` narrows the interval of the column. The remaining form is linear in the symbols, so it is
a set of runs at regular distances (`analysis.extents`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tileir.analysis.conditions import Guard
from tileir.analysis.expressions import Expression, Symbol, of
from tileir.analysis.extents import Extent, empty, extent
from tileir.analysis.footprint import Coordinate, Footprint
from tileir.analysis.ranges import Range
from tileir.analysis.symbols import (
    RANGES,
    BlockId,
    Either,
    Function,
    GridExtent,
    Lane,
    NoWrap,
    ScalarParameter,
    Turn,
    Unknown,
)

Blocks = tuple[tuple[int, int], tuple[int, int], tuple[int, int]]
"""The first tile block along each axis, and the one after the last."""

WIDE = 1 << 31
"""The number of values from which an unknown symbol makes the address unknown."""

FAR = 1 << 62
"""Bytes from the beginning of a memory at which addresses might wrap around."""


@dataclass(frozen=True)
class Unmapped:
    """A footprint that cannot be told, and why."""

    why: str


@dataclass
class State:
    """The interval of each symbol; those of which all numbers in it occur, whatever the others are; whether promises of
    the program are relied on."""

    low: dict[Symbol, int]
    high: dict[Symbol, int]
    full: set[Symbol]
    trust: bool

    def copy(self) -> State:
        return State(self.low.copy(), self.high.copy(), self.full.copy(), self.trust)

    def bounds(self, form: Expression) -> tuple[int, int]:
        """Return the bounds of a sum, from those of its symbols: ``lane - block * lane`` is one multiple of the lane in
        a known tile block."""
        low, high = self.low, self.high
        if any(len(product) > 1 for product in form.terms):
            constant, factors, plain = self.linear(form)
            form = Expression(constant, {(symbol,): factor for symbol, factor in factors.items()}) if plain else form
        least = most = form.constant
        for product, factor in form.terms.items():
            a = b = factor
            for symbol in product:
                x, y = low[symbol], high[symbol]
                products = (a * x, a * y, b * x, b * y) if x != y else (a * x, b * x)
                a, b = min(products), max(products)
            least += min(a, b)
            most += max(a, b)
        return least, most

    def linear(self, form: Expression) -> tuple[int, dict[Symbol, int], bool]:
        """Return the part of a sum that is known already, the factor of each symbol that is not, and whether that is
        all: no products of two such symbols."""
        constant, factors, plain = form.constant, dict[Symbol, int](), True
        for product, factor in form.terms.items():
            free = []
            for symbol in product:
                if self.low[symbol] == self.high[symbol]:
                    factor *= self.low[symbol]
                else:
                    free.append(symbol)
            if not free or not factor:
                constant += factor
            elif len(free) == 1:
                factors[free[0]] = factors.get(free[0], 0) + factor
            else:
                plain = False
        return constant, {symbol: factor for symbol, factor in factors.items() if factor}, plain

    def holds(self, needs: Iterable[NoWrap]) -> bool:
        """Return whether conditions hold, or are promised."""
        for need in needs:
            least, most = (need.low, need.high) if need.promised and self.trust else self.bounds(need.form)
            if least < need.low or most > need.high:
                return False
        return True

    # ------------------------------------------------------------ symbols that depend on others

    def derive(self, symbol: Turn | Function | Either) -> None:
        """Narrow a symbol by those that it is made of; every turn occurs if their count is known exactly."""
        low, high = self.low[symbol], self.high[symbol]
        if isinstance(symbol, Either):
            (a, b), (c, d) = map(self.bounds, symbol.choices)
            self.low[symbol], self.high[symbol] = min(a, c), max(b, d)
        elif not self.holds(symbol.needs):
            return
        elif isinstance(symbol, Turn):
            if symbol.count is not None:
                least, most = self.bounds(symbol.count)
                self.high[symbol] = min(most - 1, high)
                (self.full.add if least == most else self.full.discard)(symbol)
        else:
            found = RANGES[symbol.kind](*(Range(1, *self.bounds(argument)) for argument in symbol.arguments))
            if found is not None:
                self.low[symbol], self.high[symbol] = max(found.low, low), min(found.high, high)

    # ------------------------------------------------------------ coordinates and guards

    def start(self, coordinate: Coordinate) -> None:
        """Give a coordinate the interval of its sum; it is full if every number between its bounds occurs."""
        self.low[coordinate], self.high[coordinate] = self.bounds(coordinate.form)
        _, factors, plain = self.linear(coordinate.form)
        reach = 0
        for symbol, factor in sorted(factors.items(), key=lambda item: abs(item[1])):
            plain = plain and abs(factor) <= reach + 1 and symbol in self.full
            reach += abs(factor) * (self.high[symbol] - self.low[symbol])
        if plain:
            self.full.add(coordinate)

    def narrow(self, guards: Sequence[Guard]) -> bool | None:
        """Apply guards; whether nothing is lost, None where one holds nowhere.

        Their conditions are judged by the state before, in which none has narrowed anything.
        """
        before = self.copy() if any(guard.needs for guard in guards) else self
        exact = True
        for guard in guards:
            kept = False
            if (self.trust or not guard.promised) and before.holds(guard.needs):
                applied = self._apply(guard.form)
                if applied is None:
                    return None
                kept = applied
            exact = exact and kept
        return exact

    def _apply(self, form: Expression) -> bool | None:
        """Narrow the symbols of a sum that is 0 or more."""
        low, high = self.low, self.high
        least, most = self.bounds(form)
        if least >= 0:
            return True
        if most < 0:
            return None
        _, factors, plain = self.linear(form)
        for symbol, factor in factors.items():
            if factor > 0:
                # The others give at most `most - factor * high`.
                low[symbol] = max(low[symbol], high[symbol] - most // factor)
            elif factor < 0:
                high[symbol] = min(high[symbol], low[symbol] + most // -factor)
        return plain and len(factors) == 1 and self.full.issuperset(factors)


# ---------------------------------------------------------------- accesses


class Access:
    """A footprint with its symbols, inner ones first; `first` are the guards without coordinates, `guards` the others;
    `sources` says of symbols why nothing may be known of an address with them."""

    def __init__(self, footprint: Footprint) -> None:
        self.footprint = footprint
        self.symbols: dict[Symbol, None] = {}
        forms = [footprint.form, *(one.form for one in footprint.coordinates), *map(of, footprint.loops)]
        for needs, guards in ((footprint.needs, ()), *((guard.needs, (guard.form,)) for guard in footprint.guards)):
            forms += [*guards, *(need.form for need in needs)]
        for form in forms:
            self._collect(form)
        with_coordinates = [_has_coordinates(guard.form) for guard in footprint.guards]
        self.first = [guard for guard, found in zip(footprint.guards, with_coordinates) if not found]
        self.guards = [guard for guard, found in zip(footprint.guards, with_coordinates) if found]
        address = dict.fromkeys(symbol for product in footprint.form.terms for symbol in product)
        found = ((symbol, _source(symbol)) for symbol in address)
        self.sources = [(symbol, why) for symbol, why in found if why is not None]

    def _collect(self, form: Expression) -> None:
        for product in form.terms:
            for symbol in product:
                if symbol not in self.symbols:
                    for inner in symbol.inner if isinstance(symbol, Turn | Function | Either) else ():
                        self._collect(inner)
                    self.symbols[symbol] = None

    def state(
        self,
        arguments: Sequence[int | None],
        grid: tuple[int, int, int] | None,
        blocks: Blocks | None,
        trust: bool,
    ) -> State:
        state = State({}, {}, set(), trust)
        for symbol in self.symbols:
            bounds = symbol.otherwise if isinstance(symbol, Function) else symbol.range
            low, high = bounds.low, bounds.high
            if isinstance(symbol, ScalarParameter):
                given = arguments[symbol.index]
                if given is not None:
                    half = 1 << symbol.bits - 1
                    low = high = (int(given) + half) % (2 * half) - half
            elif isinstance(symbol, GridExtent) and grid is not None:
                low = high = grid[symbol.axis]
            elif isinstance(symbol, BlockId):
                high = high if grid is None else grid[symbol.axis] - 1
                low, high = (low, high) if blocks is None else (blocks[symbol.axis][0], blocks[symbol.axis][1] - 1)
            state.low[symbol], state.high[symbol] = low, high
            if isinstance(symbol, BlockId | Lane):
                state.full.add(symbol)
            elif isinstance(symbol, Turn | Function | Either):
                state.derive(symbol)
        return state

    def extent(self, state: State) -> Extent | Unmapped:
        loops, coordinates = self.footprint.loops, self.footprint.coordinates
        if any(state.high[turn] < 0 for turn in loops):
            return empty()
        exact = self.footprint.complete and state.full.issuperset(loops)
        kept = state.narrow(self.first)
        for coordinate in coordinates:
            state.start(coordinate)
        started = {one: (state.low[one], state.high[one]) for one in coordinates}
        also = state.narrow(self.guards) if kept is not None else None
        if kept is None or also is None:
            return empty()
        why = self._unmapped(state)
        return why if why is not None else self._mapped(state, started, exact and kept and also)

    def is_whole(self, state: State) -> bool:
        """Return whether each tile is accessed with all its elements: no guard leaves any out."""
        for coordinate in self.footprint.coordinates:
            state.start(coordinate)
        guards = self.footprint.guards
        needs = self.footprint.needs.union(*(guard.needs for guard in guards))
        sure = self.footprint.complete and state.holds(needs)
        return sure and all(state.bounds(guard.form)[0] >= 0 for guard in guards)

    def _unmapped(self, state: State) -> Unmapped | None:
        if not state.holds(self.footprint.needs):
            return Unmapped("index arithmetic may wrap around")
        for symbol, source in self.sources:
            if state.high[symbol] - state.low[symbol] >= WIDE:
                return Unmapped(source)
        least, most = state.bounds(self.footprint.form)
        return Unmapped("addresses may wrap around") if least < -FAR or most > FAR else None

    def _mapped(self, state: State, started: dict[Coordinate, tuple[int, int]], exact: bool) -> Extent:
        footprint, low, high = self.footprint, state.low, state.high
        coordinates = footprint.coordinates if footprint.through_view else ()
        box = tuple((low[one], high[one] + 1) for one in coordinates)
        least, most = state.bounds(footprint.form)
        start, factors, plain = state.linear(footprint.form)
        if not plain:
            return _in_bytes(least, most, least, [(most - least + 1, 1)], footprint.size, False, box)
        dims: list[tuple[int, int]] = []
        used: list[Symbol] = []
        for symbol, factor in factors.items():
            if isinstance(symbol, Coordinate) and symbol not in state.full:
                piece = _sparse(symbol, started[symbol], state)
            else:
                own = [*state.linear(symbol.form)[1]] if isinstance(symbol, Coordinate) else [symbol]
                piece = Piece(low[symbol], [(high[symbol] - low[symbol] + 1, 1)], own, symbol in state.full)
            start += factor * piece.first
            dims += [(count, factor * distance) for count, distance in piece.dims]
            used += piece.symbols
            exact = exact and piece.exact
        exact = exact and len(set(used)) == len(used)
        return _in_bytes(least, most, start, dims, footprint.size, exact, box)


def _has_coordinates(form: Expression) -> bool:
    return any(isinstance(symbol, Coordinate) for symbol in form.symbols())


def _source(symbol: Symbol) -> str | None:
    """Return the reason for an unknown address that a symbol causes."""
    unknown = min((part for part in of(symbol).all_symbols() if isinstance(part, Unknown)), default=None)
    if unknown is not None:
        return f"the address depends on {unknown.why}"
    if isinstance(symbol, Turn):
        return "it is not known how often the loop around runs"
    return f"the address depends on parameter {symbol.index}" if isinstance(symbol, ScalarParameter) else None


@dataclass(frozen=True)
class Piece:
    """The numbers of one coordinate: the first, counts and distances, the symbols that they come from, and whether all
    of them occur."""

    first: int
    dims: list[tuple[int, int]]
    symbols: list[Symbol]
    exact: bool


def _sparse(coordinate: Coordinate, before: tuple[int, int], state: State) -> Piece:
    """Return the numbers of a coordinate with gaps, from those of its parts."""
    low, high = state.low[coordinate], state.high[coordinate]
    constant, factors, plain = state.linear(coordinate.form)
    full = plain and state.full.issuperset(factors)
    if plain and len(factors) == 1:
        ((symbol, factor),) = factors.items()
        size = abs(factor)
        first = low + (before[0] - low) % size
        return Piece(first, [((high - first) // size + 1, size)], [symbol], full)
    if plain and (low, high) == before:
        counts = [(state.high[symbol] - state.low[symbol] + 1, factor) for symbol, factor in factors.items()]
        first = constant + sum(factor * state.low[symbol] for symbol, factor in factors.items())
        return Piece(first, counts, list(factors), full)
    return Piece(low, [(high - low + 1, 1)], list(factors), False)


def _in_bytes(
    least: int, most: int, start: int, dims: list[tuple[int, int]], bits: int, exact: bool, box: tuple
) -> Extent:
    """Convert offsets in bytes, or in elements that share bytes.

    Both the bounds and the dimensions may say too much: ``n * lane - lane`` has a lane in two terms of its bounds,
    and in one dimension.
    """
    if bits >= 8:
        found = extent(start, dims, bits // 8, exact)
        return replace(found, low=max(least, found.low), high=min(most + bits // 8, found.high), box=box)
    elements = extent(start, dims, 1, exact)
    share = 8 // bits
    low, high = max(least, elements.low) // share, min(most, elements.high - 1) // share + 1
    if elements.start % share or any(distance % share for _, distance in elements.dims):
        return Extent(low, high, low, (), high - low, exact and not elements.dims, box)
    kept = tuple((count, distance // share) for count, distance in elements.dims)
    return Extent(low, high, elements.start // share, kept, -(-elements.run // share), exact, box)


# ---------------------------------------------------------------- programs


class Program:
    """Footprints, ready to be evaluated."""

    def __init__(self, footprints: Sequence[Footprint]) -> None:
        self._accesses = [Unmapped(one.unknown) if one.unknown else Access(one) for one in footprints]

    @property
    def axes(self) -> list[int]:
        """The axes of the tile block ids that extents depend on."""
        known = (access.symbols for access in self._accesses if isinstance(access, Access))
        return sorted({symbol.axis for symbols in known for symbol in symbols if isinstance(symbol, BlockId)})

    def extents(
        self,
        arguments: Sequence[int | None],
        grid: tuple[int, int, int] | None,
        blocks: Blocks | None = None,
        trust: bool = True,
    ) -> list[Extent | Unmapped]:
        """Return the extent of each footprint, in their order.

        `arguments` are one per parameter of the entry; those of pointers and floats do not matter, and None is a number
        that is not known. Without a `grid` it may be any. `blocks` restricts the tile blocks. Unless the launch checks
        them, what the program promises can be left aside: ``trust=False``.
        """
        return [
            access if isinstance(access, Unmapped) else access.extent(access.state(arguments, grid, blocks, trust))
            for access in self._accesses
        ]

    def whole(self, arguments: Sequence[int | None], grid: tuple[int, int, int]) -> list[bool]:
        """Return for each footprint whether every tile block of a launch surely accesses all elements of its tile."""
        return [
            isinstance(access, Access) and access.is_whole(access.state(arguments, grid, None, trust=False))
            for access in self._accesses
        ]
