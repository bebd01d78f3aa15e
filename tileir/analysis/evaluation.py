"""Footprints for given arguments and a grid.

    program = Program(footprints(kernel.entry))          # once per kernel; can be pickled
    program.extents([None, None, 1024], (8, 1, 1))       # per launch: one Extent or Unmapped for each footprint

Each symbol gets a *slot* with an interval of numbers, parameters a single one; sums are bounded by their parts. ``2 *
stride * row + 2 * column`` is a `Sum` over slots; once the stride is known to be 192 it is linear in the other two. A
guard ``columns - column - 1 >= 0`` narrows the interval of the column. The remaining form is linear in the symbols, so
it is a set of runs at regular distances (`analysis.extents`).
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
    Kind,
    Lane,
    NoWrap,
    ScalarParameter,
    Turn,
    Unknown,
)

Terms = tuple[tuple[int, tuple[int, ...]], ...]


@dataclass(frozen=True)
class Sum:
    """``constant`` plus, for each of `terms`, a factor times the numbers of some slots."""

    constant: int
    terms: Terms

    def bounds(self, low: list[int], high: list[int]) -> tuple[int, int]:
        """Return the bounds of the sum, from those of the slots."""
        least = most = self.constant
        for factor, slots in self.terms:
            a = b = factor
            for slot in slots:
                x, y = low[slot], high[slot]
                if x == y:
                    a *= x
                    b *= x
                else:
                    products = (a * x, a * y, b * x, b * y)
                    a, b = min(products), max(products)
            if a > b:
                a, b = b, a
            least += a
            most += b
        return least, most

    def linear(self, low: list[int], high: list[int]) -> tuple[int, dict[int, int], bool]:
        """Return the part that is known already, the factor of each slot that is not, and whether that is all: no
        products of two such slots."""
        constant, factors, plain = self.constant, dict[int, int](), True
        for factor, slots in self.terms:
            free = [slot for slot in slots if low[slot] != high[slot]]
            for slot in slots:
                if low[slot] == high[slot]:
                    factor *= low[slot]
            if not free or not factor:
                constant += factor
            elif len(free) == 1:
                factors[free[0]] = factors.get(free[0], 0) + factor
            else:
                plain = False
        return constant, {slot: factor for slot, factor in factors.items() if factor}, plain


@dataclass(frozen=True)
class Fits:
    """A condition that a sum lies in [`low`, `high`]."""

    sum: Sum
    low: int
    high: int
    promised: bool

    def holds(self, state: State) -> bool:
        if self.promised and state.trust:
            return True
        least, most = self.sum.bounds(state.low, state.high)
        return self.low <= least and most <= self.high


@dataclass
class State:
    """The interval of each slot; whether all numbers in it occur, whatever the other slots are; whether promises of the
    program are relied on."""

    low: list[int]
    high: list[int]
    full: list[bool]
    trust: bool

    def copy(self) -> State:
        return State(self.low.copy(), self.high.copy(), self.full.copy(), self.trust)


# ---------------------------------------------------------------- steps: symbols that depend on others


@dataclass(frozen=True)
class TurnStep:
    slot: int
    count: Sum
    needs: tuple[Fits, ...]

    def run(self, state: State) -> None:
        """Narrow the turn to its count; every turn occurs if the count is known exactly."""
        if all(need.holds(state) for need in self.needs):
            least, most = self.count.bounds(state.low, state.high)
            state.high[self.slot] = min(most - 1, state.high[self.slot])
            state.full[self.slot] = least == most


@dataclass(frozen=True)
class FunctionStep:
    slot: int
    kind: Kind
    a: Sum
    b: Sum
    needs: tuple[Fits, ...]

    def run(self, state: State) -> None:
        if all(need.holds(state) for need in self.needs):
            a, b = (Range(1, *operand.bounds(state.low, state.high)) for operand in (self.a, self.b))
            found = RANGES[self.kind](a, b)
            if found is not None:
                state.low[self.slot] = max(found.low, state.low[self.slot])
                state.high[self.slot] = min(found.high, state.high[self.slot])


@dataclass(frozen=True)
class EitherStep:
    slot: int
    a: Sum
    b: Sum

    def run(self, state: State) -> None:
        a, b = (operand.bounds(state.low, state.high) for operand in (self.a, self.b))
        state.low[self.slot], state.high[self.slot] = min(a[0], b[0]), max(a[1], b[1])


Step = TurnStep | FunctionStep | EitherStep


# ---------------------------------------------------------------- guards


@dataclass(frozen=True)
class Bound:
    """A guard: `sum` is at least 0, as long as `needs` hold."""

    sum: Sum
    needs: tuple[Fits, ...]
    promised: bool

    def apply(self, state: State, before: State) -> bool | None:
        """Narrow the slots. Whether nothing is lost by that: None if the guard holds nowhere.

        Its conditions are judged by `before`, in which the guard itself has narrowed nothing.
        """
        if (self.promised and not state.trust) or not all(need.holds(before) for need in self.needs):
            return False
        low, high = state.low, state.high
        least, most = self.sum.bounds(low, high)
        if least >= 0:
            return True
        if most < 0:
            return None
        _, factors, plain = self.sum.linear(low, high)
        for slot, factor in factors.items():
            if factor > 0:
                # The others give at most `most - factor * high`.
                low[slot] = max(low[slot], high[slot] - most // factor)
            elif factor < 0:
                high[slot] = min(high[slot], low[slot] + most // -factor)
        return plain and len(factors) == 1 and all(state.full[slot] for slot in factors)


@dataclass(frozen=True)
class CoordinateSlot:
    """A coordinate: the slot of a sum of others."""

    slot: int
    sum: Sum

    def free(self, state: State) -> list[int]:
        """Return the slots in the sum that are not known."""
        return list(self.sum.linear(state.low, state.high)[1])

    def start(self, state: State) -> None:
        state.low[self.slot], state.high[self.slot] = self.sum.bounds(state.low, state.high)
        state.full[self.slot] = self._dense(state)

    def _dense(self, state: State) -> bool:
        """Return whether every number between its bounds occurs."""
        _, factors, plain = self.sum.linear(state.low, state.high)
        reach = 0
        for factor, slot in sorted((abs(factor), slot) for slot, factor in factors.items()):
            if factor > reach + 1 or not state.full[slot]:
                return False
            reach += factor * (state.high[slot] - state.low[slot])
        return plain


# ---------------------------------------------------------------- accesses


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


# ---------------------------------------------------------------- accesses


@dataclass(frozen=True)
class Access:
    """A footprint over slots. `first` are the guards without coordinates, `guards` the others; `sources` says of slots
    why nothing may be known of an address with them."""

    address: Sum
    axes: tuple[CoordinateSlot, ...]
    first: tuple[Bound, ...]
    guards: tuple[Bound, ...]
    needs: tuple[Fits, ...]
    loops: tuple[int, ...]
    bits: int
    complete: bool
    boxed: bool
    sources: tuple[tuple[int, str], ...]

    def extent(self, shared: State) -> Extent | Unmapped:
        state = shared.copy()
        if any(state.high[turn] < 0 for turn in self.loops):
            return empty()
        exact = self.complete and all(state.full[turn] for turn in self.loops)
        kept = _narrow(self.first, state)
        for axis in self.axes:
            axis.start(state)
        started = [(state.low[axis.slot], state.high[axis.slot]) for axis in self.axes]
        also = _narrow(self.guards, state) if kept is not None else None
        if kept is None or also is None:
            return empty()
        why = self._unmapped(state)
        return why if why is not None else self._mapped(state, started, exact and kept and also)

    def _unmapped(self, state: State) -> Unmapped | None:
        for need in self.needs:
            if not need.holds(state):
                return Unmapped("index arithmetic may wrap around")
        for slot, source in self.sources:
            if state.high[slot] - state.low[slot] >= WIDE:
                return Unmapped(source)
        least, most = self.address.bounds(state.low, state.high)
        return Unmapped("addresses may wrap around") if least < -FAR or most > FAR else None

    def _mapped(self, state: State, started: list[tuple[int, int]], exact: bool) -> Extent:
        low, high = state.low, state.high
        box = tuple((low[axis.slot], high[axis.slot] + 1) for axis in self.axes) if self.boxed else ()
        least, most = self.address.bounds(low, high)
        start, factors, plain = self.address.linear(low, high)
        if not plain:
            return _in_bytes(least, most, least, [(most - least + 1, 1)], self.bits, False, box)
        axes = {axis.slot: (axis, before) for axis, before in zip(self.axes, started)}
        dims: list[tuple[int, int]] = []
        used: list[int] = []
        for slot, factor in factors.items():
            if slot in axes and not state.full[slot]:
                piece = _sparse(*axes[slot], state)
            else:
                slots = axes[slot][0].free(state) if slot in axes else [slot]
                piece = Piece(low[slot], [(high[slot] - low[slot] + 1, 1)], slots, state.full[slot])
            start += factor * piece.first
            dims += [(count, factor * distance) for count, distance in piece.dims]
            used += piece.slots
            exact = exact and piece.exact
        exact = exact and len(set(used)) == len(used)
        return _in_bytes(least, most, start, dims, self.bits, exact, box)


def _narrow(guards: Sequence[Bound], state: State) -> bool | None:
    """Apply guards; whether nothing is lost, None where one holds nowhere."""
    before = state.copy() if any(guard.needs for guard in guards) else state
    exact = True
    for guard in guards:
        kept = guard.apply(state, before)
        if kept is None:
            return None
        exact = exact and kept
    return exact


@dataclass(frozen=True)
class Piece:
    """The numbers of one coordinate: the first, counts and distances, the slots that they come from, and whether all of
    them occur."""

    first: int
    dims: list[tuple[int, int]]
    slots: list[int]
    exact: bool


def _sparse(axis: CoordinateSlot, before: tuple[int, int], state: State) -> Piece:
    """Return the numbers of a coordinate with gaps, from those of its parts."""
    low, high = state.low[axis.slot], state.high[axis.slot]
    constant, factors, plain = axis.sum.linear(state.low, state.high)
    full = plain and all(state.full[slot] for slot in factors)
    if plain and len(factors) == 1:
        ((slot, factor),) = factors.items()
        size = abs(factor)
        first = low + (before[0] - low) % size
        return Piece(first, [((high - first) // size + 1, size)], [slot], full)
    if plain and (low, high) == before:
        counts = [(state.high[slot] - state.low[slot] + 1, factor) for slot, factor in factors.items()]
        first = constant + sum(factor * state.low[slot] for slot, factor in factors.items())
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
    """Footprints, ready to be evaluated together."""

    def __init__(self, footprints: Sequence[Footprint]) -> None:
        builder = _Builder()
        self.accesses = [builder.access(footprint) for footprint in footprints]
        self.low, self.high, self._full = builder.low, builder.high, builder.full
        """Bounds of each slot that hold in every launch."""
        self.steps = builder.steps
        self.parameters = builder.parameters
        """Slots of integer parameters, with their index and their bits."""
        self.block_ids = builder.blocks
        self.grid_extents = builder.extents
        """Slots of tile block ids and of the extents of the grid, with their axes."""

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
        state = State(self.low.copy(), self.high.copy(), self._full.copy(), trust)
        for slot, index, bits in self.parameters:
            given = arguments[index]
            if given is not None:
                state.low[slot] = state.high[slot] = (int(given) + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)
        if grid is not None:
            for slot, axis in self.grid_extents:
                state.low[slot] = state.high[slot] = grid[axis]
            for slot, axis in self.block_ids:
                state.high[slot] = grid[axis] - 1
        if blocks is not None:
            for slot, axis in self.block_ids:
                state.low[slot], state.high[slot] = blocks[axis][0], blocks[axis][1] - 1
        for step in self.steps:
            step.run(state)
        return [found if isinstance(found, Unmapped) else found.extent(state) for found in self.accesses]


class _Builder:
    """Gives each symbol a slot, and notes how its interval is found."""

    def __init__(self) -> None:
        self.low: list[int] = []
        self.high: list[int] = []
        self.full: list[bool] = []
        self.steps: list[Step] = []
        self.parameters: list[tuple[int, int, int]] = []
        self.blocks: list[tuple[int, int]] = []
        self.extents: list[tuple[int, int]] = []
        self._slots: dict[Symbol, int] = {}
        self._sources: dict[int, str] = {}

    # ------------------------------------------------------------ symbols

    def slot(self, symbol: Symbol) -> int:
        if symbol not in self._slots:
            self._slots[symbol] = self._new(symbol)
        return self._slots[symbol]

    def _new(self, symbol: Symbol) -> int:
        inner = [self.sum(form) for form in symbol.inner] if isinstance(symbol, Turn | Function | Either) else []
        slot = len(self.low)
        bounds = symbol.otherwise if isinstance(symbol, Function) else symbol.range
        self.low.append(bounds.low)
        self.high.append(bounds.high)
        self.full.append(isinstance(symbol, BlockId | Lane))
        if isinstance(symbol, ScalarParameter):
            self.parameters.append((slot, symbol.index, symbol.bits))
        elif isinstance(symbol, BlockId):
            self.blocks.append((slot, symbol.axis))
        elif isinstance(symbol, GridExtent):
            self.extents.append((slot, symbol.axis))
        elif isinstance(symbol, Turn | Function | Either) and inner:
            self.steps.append(self._step(symbol, slot, inner))
        self._note_source(symbol, slot)
        return slot

    def _step(self, symbol: Turn | Function | Either, slot: int, inner: list[Sum]) -> Step:
        if isinstance(symbol, Turn):
            return TurnStep(slot, inner[0], self._fits(symbol.needs))
        if isinstance(symbol, Function):
            return FunctionStep(slot, symbol.kind, inner[0], inner[1], self._fits(symbol.needs))
        return EitherStep(slot, inner[0], inner[1])

    def _note_source(self, symbol: Symbol, slot: int) -> None:
        """Note the reason for an unknown address that this symbol causes."""
        unknown = next((part for part in of(symbol).all_symbols() if isinstance(part, Unknown)), None)
        if unknown is not None:
            self._sources[slot] = f"the address depends on {unknown.why}"
        elif isinstance(symbol, Turn):
            self._sources[slot] = "it is not known how often the loop around runs"
        elif isinstance(symbol, ScalarParameter):
            self._sources[slot] = f"the address depends on parameter {symbol.index}"

    def sum(self, form: Expression) -> Sum:
        terms = tuple((factor, tuple(map(self.slot, product))) for product, factor in form.terms.items())
        return Sum(form.constant, terms)

    def _fits(self, needs: Iterable[NoWrap]) -> tuple[Fits, ...]:
        return tuple(Fits(self.sum(need.form), need.low, need.high, need.promised) for need in needs)

    # ------------------------------------------------------------ accesses

    def access(self, footprint: Footprint) -> Access | Unmapped:
        if footprint.unknown:
            return Unmapped(footprint.unknown)
        # Coordinates of different accesses are different symbols of the same names.
        for coordinate in footprint.coordinates:
            self._slots.pop(coordinate, None)
        axes = tuple(
            CoordinateSlot(self.slot(coordinate), self.sum(coordinate.form)) for coordinate in footprint.coordinates
        )
        address = self.sum(footprint.form)
        first = [guard for guard in footprint.guards if not _has_coordinates(guard.form)]
        others = [guard for guard in footprint.guards if _has_coordinates(guard.form)]
        slots = dict.fromkeys(slot for _, product in address.terms for slot in product)
        return Access(
            address,
            axes,
            self._bounds(first),
            self._bounds(others),
            self._fits(footprint.needs),
            tuple(map(self.slot, footprint.loops)),
            footprint.size,
            footprint.complete,
            footprint.through_view,
            tuple((slot, self._sources[slot]) for slot in slots if slot in self._sources),
        )

    def _bounds(self, guards: Iterable[Guard]) -> tuple[Bound, ...]:
        return tuple(Bound(self.sum(guard.form), self._fits(guard.needs), guard.promised) for guard in guards)


def _has_coordinates(form: Expression) -> bool:
    return any(isinstance(symbol, Coordinate) for symbol in form.symbols())


def evaluated(
    footprint: Footprint,
    arguments: Sequence[int | None],
    grid: tuple[int, int, int] | None,
    blocks: Blocks | None = None,
    trust: bool = True,
) -> Extent | Unmapped:
    """Evaluate one footprint by itself; see `Program.extents`."""
    return Program([footprint]).extents(arguments, grid, blocks, trust)[0]
