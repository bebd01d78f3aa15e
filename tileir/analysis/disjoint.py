"""Proofs that two accesses never touch the same byte: in different tile blocks, or in one.

    disjoint(store, store)                              in any two tile blocks, whatever the arguments and the grid
    disjoint(store, store, arguments=args)              for these arguments and any grid
    disjoint(store, load, arguments=args, grid=grid)    for this launch
    disjoint(load, store, across_blocks=False)          in one and the same tile block
    disjoint_in_turns(store, arguments=args, grid=grid) in one tile block, in two turns of a loop

A store at ``4 * columns * row + 4 * column`` with ``0 <= column < columns`` touches one byte from two tile blocks only
if rows and columns agree: rows are ``columns`` apart, and columns do not reach further. With rows ``128 * block_x + i``
and ``0 <= i < 128`` the first coordinates of the blocks then agree; if no two blocks have the same coordinates, no two
touch the same byte.

A block that works on tile ``(id % 4, id // 4)`` of a matrix has coordinates that no sum of multiples of its id gives.
On a grid of some thousand blocks they are simply computed.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import NamedTuple

import numpy as np

from tileir.analysis.evaluation import Blocks, Program, Unmapped
from tileir.analysis.expressions import ZERO, Expression, Symbol, TooLarge, number, of
from tileir.analysis.extents import Term, TooHard, common, reached
from tileir.analysis.footprint import Coordinate, Footprint
from tileir.analysis.narrowing import ANY_GRID, Grid, NarrowedFootprint, multiple_of, specialised
from tileir.analysis.ranges import Range
from tileir.analysis.symbols import BlockId, Function, GridExtent, Kind, NoWrap, ScalarParameter, StorageKind

Block = tuple[int, int, int]


@dataclass(frozen=True)
class Proved:
    """They touch no byte in common, provided that `assuming` hold."""

    assuming: frozenset[NoWrap] = frozenset()


@dataclass(frozen=True)
class Refuted:
    """They do: tile blocks `first` and `second` of a grid of extents `grid` both touch the byte at `offset`."""

    first: Block
    second: Block
    grid: tuple[int, int, int]
    offset: int


@dataclass(frozen=True)
class Undecided:
    why: str


Verdict = Proved | Refuted | Undecided


def disjoint(
    a: Footprint,
    b: Footprint,
    *,
    across_blocks: bool = True,
    arguments: Sequence[int | None] | None = None,
    grid: Grid | None = None,
    trust: bool = True,
    unfolded: bool = False,
) -> Verdict:
    """Return whether two accesses touch no byte in common, in any two different tile blocks or in the same one.

    `arguments` has one entry per parameter, None if it may be any; those of pointers do not matter: accesses to
    different memories are not decided. `trust`: the program keeps its promises. `unfolded`: different elements of one
    view lie at different addresses.
    """
    extents = grid or ANY_GRID
    for footprint in (a, b):
        if footprint.unknown:
            return Undecided(footprint.unknown)
    if a.storage != b.storage:
        return Undecided("different pointers may lead to the same memory")
    assert a.storage is not None, "a footprint that is known lies in a memory"
    if across_blocks and a.storage.kind is StorageKind.OWN:
        return Proved()
    try:
        pair = _Pair(specialised(a, arguments, extents), specialised(b, arguments, extents), extents, trust, unfolded)
        found = pair.verdict(across_blocks)
    except TooLarge:
        found = Undecided("the addresses are too large expressions")
    if isinstance(found, Proved):
        return found
    witness = _witness(a, b, across_blocks, arguments, extents)
    return found if witness is None else witness


def disjoint_in_turns(access: Footprint, *, arguments: Sequence[int | None], grid: Grid, trust: bool = True) -> Verdict:
    """Return whether an access touches no byte in two turns of the loops around it, in one tile block."""
    if access.unknown:
        return Undecided(access.unknown)
    try:
        known = specialised(access, arguments, grid)
        pair = _Pair(known, known, grid, trust, False)
        return pair.proved() if pair.differ_in_turns() else Undecided("nothing tells the turns of a loop apart")
    except TooLarge:
        return Undecided("the addresses are too large expressions")


# ---------------------------------------------------------------- two accesses

Differences = Mapping[Symbol, tuple[int, int]]
"""By how much symbols of the first access differ from those of the second: from one number to another."""
_SAME_BLOCK: Differences = {BlockId(axis): (0, 0) for axis in range(3)}


class Agreement(NamedTuple):
    """A condition that holds where both touch one byte: `first` less `second` is from `low` to `high`."""

    first: Expression
    second: Expression
    low: int
    high: int


class Match(NamedTuple):
    """A coordinate of each access, the stride by which both addresses grow with it, and a constant that the second
    coordinate is moved by: that of an access one row further on by one."""

    one: Coordinate
    other: Coordinate
    stride: Expression
    shift: int = 0


class _Pair:
    """Two accesses to the same memory."""

    def __init__(self, a: Footprint, b: Footprint, grid: Grid, trust: bool, unfolded: bool) -> None:
        self.a, self.b = NarrowedFootprint(a, grid, trust), NarrowedFootprint(b, grid, trust)
        self.grid = grid
        self._unfolded = unfolded

    def verdict(self, across_blocks: bool) -> Verdict:
        if self.a.empty or self.b.empty:
            return self.proved()
        if self.a.footprint.size != self.b.footprint.size and min(self.a.footprint.size, self.b.footprint.size) < 8:
            return Undecided("elements of less than a byte beside others")
        agreements = [*self._agreements(across_blocks), *self._agreements_of_a_view()]
        if across_blocks:
            proved = all(self._told_apart(agreements, axis) for axis in range(3) if self.grid[axis] != 1)
            proved = proved or self._all_apart(agreements)
        else:
            proved = any(self._impossible(agreement, _SAME_BLOCK) for agreement in agreements)
        if proved:
            return self.proved()
        return Undecided("nothing tells the tile blocks apart" if across_blocks else "nothing tells the accesses apart")

    def proved(self) -> Proved:
        """Return the proof; its conditions are about symbols of the program alone, not about coordinates."""
        assumed = self.a.assumed | self.b.assumed
        return Proved(frozenset(need.of(need.form.substituted(_of_coordinate)) for need in assumed))

    # ------------------------------------------------------------ what must agree

    def _agreements(self, across_blocks: bool) -> Iterator[Agreement]:
        """Yield coordinates that are equal wherever both touch one byte, and the rest of the addresses."""
        rest_a, rest_b = self.a.footprint.form, self.b.footprint.form
        pairs = list(self._coordinates())
        for pair in pairs:
            rest_a -= of(pair.one) * pair.stride
            rest_b -= of(pair.other) * pair.stride
        pairs = list(_shifted(pairs, rest_b - rest_a))
        for pair in pairs:
            rest_b -= pair.stride * pair.shift
        is_same = _is_uniform if across_blocks else _is_of_block
        (shared, own), (other_shared, other_own) = rest_a.split(is_same), rest_b.split(is_same)
        bounds_a, bounds_b = self.a.bounds(own + (shared - other_shared)), self.b.bounds(other_own)
        reach = Range(1, bounds_a.low - bounds_b.high - self.b.size + 1, bounds_a.high - bounds_b.low + self.a.size - 1)
        agreeing = self._agreeing(pairs, reach)
        for pair in agreeing:
            yield Agreement(pair.one.form, pair.other.form + pair.shift, 0, 0)
        for pair in pairs:
            if pair not in agreeing:
                rest_a += of(pair.one) * pair.stride
                rest_b += (of(pair.other) + pair.shift) * pair.stride
        yield Agreement(rest_a, rest_b, 1 - self.a.size, self.b.size - 1)

    def _agreements_of_a_view(self) -> Iterator[Agreement]:
        """Yield all coordinates if both accesses go through one view whose elements all have addresses of their own."""
        one, other = self.a.footprint, self.b.footprint
        if not (self._unfolded and one.through_view and other.through_view and one.size == other.size >= 8):
            return
        pairs = list(zip(one.coordinates, other.coordinates))
        rest_a = one.form - sum((of(a) * _stride(one, a) for a, _ in pairs), ZERO)
        rest_b = other.form - sum((of(b) * _stride(other, b) for _, b in pairs), ZERO)
        if rest_a == rest_b and len(one.coordinates) == len(other.coordinates) and all(map(self._same_axis, pairs)):
            for a, b in pairs:
                yield Agreement(a.form, b.form, 0, 0)

    def _same_axis(self, pair: tuple[Coordinate, Coordinate]) -> bool:
        """Return whether two coordinates are along one dimension of one view, with the same stride and extent."""
        (one, other), (a, b) = pair, (self.a.footprint, self.b.footprint)
        same = one.dim == other.dim and _stride(a, one) == _stride(b, other)
        return same and _limits(a, one) == _limits(b, other)

    def _coordinates(self) -> Iterator[Match]:
        """Yield pairs of coordinates that the addresses grow by with the same stride."""
        left = [(one, self.b.footprint.form.step(one)) for one in self.b.footprint.coordinates]
        for one in self.a.footprint.coordinates:
            stride = self.a.footprint.form.step(one)
            match = next((entry for entry in left if stride is not None and entry[1] == stride), None)
            if match is not None and stride is not None and (stride.terms or stride.constant):
                left.remove(match)
                yield Match(one, match[0], stride)

    def _difference(self, pair: Match) -> Range:
        a, b = self.a.range(pair.one), self.b.range(pair.other)
        return Range(1, a.low - b.high - pair.shift, a.high - b.low - pair.shift)

    def _agreeing(self, pairs: list[Match], reach: Range) -> list[Match]:
        """Return the pairs of coordinates that are equal wherever the addresses are.

        `reach` bounds by how much the rest of the addresses differs there.
        """
        if all(pair.stride.is_constant for pair in pairs):
            return [pair for pair in pairs if all(self._unreachable(pair, pairs, reach, sign) for sign in (1, -1))]
        in_order = any(self._in_order(order, reach) for order in permutations(pairs))
        return pairs if in_order else []

    def _unreachable(self, pair: Match, pairs: list[Match], reach: Range, sign: int) -> bool:
        """Return whether the other coordinates cannot compensate for any difference of this sign in one of them."""
        terms = []
        for one in pairs:
            found = self._difference(one)
            if one is pair:
                found = replace(found, low=max(1, found.low)) if sign > 0 else replace(found, high=min(-1, found.high))
            if found.low > found.high:
                return True
            terms.append(Term(one.stride.constant, found.low, found.high))
        return _unreached(-reach.high, -reach.low, terms)

    def _in_order(self, pairs: Sequence[Match], reach: Range) -> bool:
        """Return whether each stride is larger than anything the coordinates before it and the rest can compensate for.

        A coordinate may be bounded by a symbol: rows that are ``columns`` apart, columns that do not reach further.
        """
        reached_so_far = number(max(-reach.low, reach.high, 0))
        for pair in pairs:
            if self.a.bounds(pair.stride - reached_so_far).low < 1:
                return False
            span = self._span(pair)
            if span is None:
                return pair is pairs[-1]
            reached_so_far += pair.stride * span
        return True

    def _span(self, pair: Match) -> Expression | None:
        """Return the largest difference of two coordinates, if it is the same for both."""
        spans = (self.a.span(pair.one), self.b.span(pair.other))
        return spans[0] + abs(pair.shift) if spans[0] is not None and spans[0] == spans[1] else None

    # ------------------------------------------------------------ tile blocks

    def _told_apart(self, agreements: Sequence[Agreement], axis: int) -> bool:
        """Return whether tile blocks that differ along an axis never agree."""
        known = [(block, self.a.range(block), self.b.range(block)) for block in map(BlockId, range(3))]
        ranges: Differences = {block: (one.low - other.high, one.high - other.low) for block, one, other in known}
        return any(self._in_strides(one, axis) for one in agreements) or self._differ(agreements, BlockId(axis), ranges)

    def differ_in_turns(self) -> bool:
        """Return whether the accesses, which are the same, agree in no two turns of loops around it, in one block."""
        agreements = list(self._agreements(across_blocks=False))
        turns = ((turn, self.a.range(turn).high) for turn in self.a.footprint.loops)
        return all(self._differ(agreements, turn, {**_SAME_BLOCK, turn: (-last, last)}) for turn, last in turns)

    def _differ(self, agreements: Sequence[Agreement], symbol: Symbol, differences: Differences) -> bool:
        """Return whether two accesses for which a symbol differs never agree."""
        low, high = differences[symbol]
        return all(
            first > last or any(self._impossible(one, {**differences, symbol: (first, last)}) for one in agreements)
            for first, last in ((1, high), (low, -1))
        )

    def _impossible(self, agreement: Agreement, differences: Differences) -> bool:
        """Return whether two accesses, for which symbols differ so, cannot be in agreement."""
        one, other = _split(agreement.first, differences), _split(agreement.second, differences)
        terms = []
        for symbol, (low, high) in differences.items():
            # With p = q + d: f * p - g * q = (f - g) * q + f * d.
            f, g, known = one[0].get(symbol, 0), other[0].get(symbol, 0), self.b.range(symbol)
            terms += [Term(f - g, known.low, known.high)] if f != g else []
            terms += [Term(f, low, high)] if f else []
        # What is one number for both, such as a parameter, drops out if it has the same factor in both.
        (shared, own), (other_shared, other_own) = one[1].split(_is_uniform), other[1].split(_is_uniform)
        a, b = self.a.terms(own + (shared - other_shared)), self.b.terms(other_own)
        terms += [*a, *(Term(-distance, low, high) for distance, low, high in b)]
        apart = other[1].constant - one[1].constant
        return _unreached(agreement.low + apart, agreement.high + apart, terms)

    def _in_strides(self, agreement: Agreement, axis: int) -> bool:
        """Return whether both are ``f * (id + extent * turns)`` plus less than f: loops in steps of the whole grid, in
        which no two tile blocks meet."""
        block = BlockId(axis)
        step = _split(agreement.first, {block})[0].get(block, 0)
        if step == 0 or _split(agreement.second, {block})[0].get(block, 0) != step:
            return False

        def in_steps(product: tuple[Symbol, ...], factor: int) -> bool:
            return factor % step == 0 and (product == (block,) or GridExtent(axis) in product)

        a, b = (form.split(in_steps)[1] for form in (agreement.first, agreement.second))
        rest_a, rest_b = self.a.bounds(a), self.b.bounds(b)
        least, most = agreement.low - rest_a.high + rest_b.low, agreement.high - rest_a.low + rest_b.high
        return -abs(step) < least and most < abs(step)

    def _all_apart(self, agreements: Sequence[Agreement]) -> bool:
        """Return whether no two tile blocks of a known grid agree."""
        x, y, z = self.grid
        if x is None or y is None or z is None:
            return False
        windows = []
        for one in agreements:
            (first, rest), (second, others) = (_split_ids(form) for form in (one.first, one.second))
            a, b = self.a.bounds(rest), self.b.bounds(others)
            windows.append(Closeness(first, second, one.low - a.high + b.low, one.high - a.low + b.high))
        return not any_close(windows, (x, y, z))


def _of_coordinate(symbol: Symbol) -> Expression | None:
    return symbol.form if isinstance(symbol, Coordinate) else None


def _stride(footprint: Footprint, coordinate: Coordinate) -> Expression:
    found = footprint.form.step(coordinate)
    assert found is not None, "the address of an element of a view is a sum over its coordinates"
    return found


def _limits(footprint: Footprint, coordinate: Coordinate) -> set[Expression]:
    """Return the upper limits of a coordinate that guards state."""
    guards = (guard.form for guard in footprint.guards if guard.form.step(coordinate) == number(-1))
    return {form + of(coordinate) for form in guards}


def _shifted(pairs: Sequence[Match], apart: Expression) -> Iterator[Match]:
    """Yield the pairs, with as much of the distance between the addresses as is a multiple of their strides."""
    for pair in sorted(pairs, key=lambda pair: (pair.stride.is_constant, -abs(pair.stride.constant))):
        shift = multiple_of(apart, pair.stride)
        if pair.stride.is_constant:
            shift = _nearest(apart.constant, pair.stride.constant)
        apart -= pair.stride * shift
        yield pair._replace(shift=shift)


def _nearest(distance: int, step: int) -> int:
    """Return the multiple of a step that is nearest to a distance."""
    return (2 * distance + abs(step)) // (2 * abs(step)) * (1 if step > 0 else -1)


def _split_ids(form: Expression) -> tuple[Expression, Expression]:
    """Return the part of a sum that is computed from tile block ids alone, and the rest."""
    return form.split(lambda product, factor: all(map(of_ids_alone, product)))


def _split(form: Expression, symbols: Container[Symbol]) -> tuple[dict[Symbol, int], Expression]:
    """Return the factors of some symbols in a sum, and the rest, known only by its bounds."""
    own, rest = form.split(lambda product, factor: len(product) == 1 and product[0] in symbols)
    return {symbol: factor for (symbol,), factor in own.terms.items()}, rest


def _is_uniform(product: tuple[Symbol, ...], factor: int) -> bool:
    """Return whether a product is the same in all tile blocks of a launch."""
    return all(isinstance(symbol, ScalarParameter | GridExtent) for symbol in product)


def _is_of_block(product: tuple[Symbol, ...], factor: int) -> bool:
    """Return whether a product is the same all over a tile block."""
    return all(isinstance(symbol, ScalarParameter | GridExtent | BlockId) for symbol in product)


def _unreached(low: int, high: int, terms: Sequence[Term]) -> bool:
    """Return whether certainly no values of the terms give a sum from `low` to `high`."""
    try:
        return reached(low, high, terms) is None
    except TooHard:
        return False


# ---------------------------------------------------------------- witnesses


def _witness(
    a: Footprint, b: Footprint, across_blocks: bool, arguments: Sequence[int | None] | None, grid: Grid
) -> Refuted | None:
    """Return two tile blocks that certainly touch one byte, sought among neighbours; None if there are none."""
    if arguments is None or (a.storage is not None and a.storage.kind >= StorageKind.SHARED):
        return None
    extents = tuple(2 if extent is None else extent for extent in grid)
    program = Program([a, b])
    whole = (extents[0], extents[1], extents[2])
    for first, second in _candidates(whole) if across_blocks else [((0, 0, 0),) * 2]:
        offset = _shared_byte(program, arguments, whole, (first, second))
        if offset is not None:
            return Refuted(first, second, whole, offset)
    return None


def shared_byte(
    a: Footprint, b: Footprint, arguments: Sequence[int | None], grid: tuple[int, int, int], blocks: tuple[Block, Block]
) -> int | None:
    """Return the offset of a byte that both certainly touch, each in its tile block; None if that is not seen."""
    return _shared_byte(Program([a, b]), arguments, grid, blocks)


def _shared_byte(
    program: Program, arguments: Sequence[int | None], grid: tuple[int, int, int], blocks: tuple[Block, Block]
) -> int | None:
    one, other = (program.extents(arguments, grid, only(block))[at] for at, block in enumerate(blocks))
    if isinstance(one, Unmapped) or isinstance(other, Unmapped) or not (one.exact and other.exact):
        return None
    try:
        return common(one, other)
    except TooHard:
        return None


def _candidates(grid: tuple[int, int, int]) -> Iterator[tuple[Block, Block]]:
    """Yield pairs of tile blocks next to each other, and at opposite ends, along each axis."""
    for axis, extent in enumerate(grid):
        for place in {1, extent - 1} if extent > 1 else ():
            first, second = [0, 0, 0], [0, 0, 0]
            second[axis] = place
            for pair in ((first, second), (second, first)):
                yield tuple(pair[0]), tuple(pair[1])  # type: ignore[misc]


def only(block: Block) -> Blocks:
    """Return one tile block, as `Program.extents` takes it."""
    return ((block[0], block[0] + 1), (block[1], block[1] + 1), (block[2], block[2] + 1))


# ---------------------------------------------------------------- tile blocks one by one


MOST_BLOCKS = 1 << 16
MOST_PAIRS = 1 << 22
LARGEST = 1 << 61
"""Numbers up to this are computed with those of 64 bits."""

Ids = tuple[np.ndarray, np.ndarray, np.ndarray]


class Closeness(NamedTuple):
    """Two blocks are close in one respect if `first` of the one less `second` of the other is from `low` to `high`."""

    first: Expression
    second: Expression
    low: int
    high: int


def of_ids_alone(symbol: Symbol) -> bool:
    """Return whether a symbol is computed from tile block ids and constants."""
    if not isinstance(symbol, Function):
        return isinstance(symbol, BlockId)
    if symbol.needs or (symbol.kind < Kind.SMALLEST and symbol.arguments[1].range.low <= 0):
        return False
    return all(of_ids_alone(part) for form in symbol.arguments for part in form.symbols())


def any_close(windows: Sequence[Closeness], grid: tuple[int, int, int]) -> bool:
    """Return whether two different blocks may be close in all respects; `windows` are over tile block ids alone."""
    count, windows = grid[0] * grid[1] * grid[2], list(filter(_is_small, windows))
    if count > MOST_BLOCKS or not windows:
        return True
    number = np.arange(count)
    ids = (number % grid[0], number // grid[0] % grid[1], number // (grid[0] * grid[1]))
    order, *others = ((values(one.first, ids), values(one.second, ids), one.low, one.high) for one in windows)
    pairs = _pairs(*order)
    if pairs is None:
        return True
    one, other = pairs
    close = one != other
    for first, second, low, high in others:
        apart = first[one] - second[other]
        close &= (low <= apart) & (apart <= high)
    return bool(close.any())


def _is_small(window: Closeness) -> bool:
    ranges = (window.first.range, window.second.range, Range(1, window.low, window.high))
    return all(found.low > -LARGEST and found.high < LARGEST for found in ranges)


def _pairs(first: np.ndarray, second: np.ndarray, low: int, high: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Return all pairs of blocks that are close in one respect; None if there are very many."""
    order = np.argsort(second, kind="stable")
    begin = np.searchsorted(second[order], first - high, "left")
    counts = np.searchsorted(second[order], first - low, "right") - begin
    if counts.sum() > MOST_PAIRS:
        return None
    one = np.repeat(np.arange(first.size), counts)
    steps = np.arange(one.size) - np.repeat(counts.cumsum() - counts, counts)
    return one, order[np.repeat(begin, counts) + steps]


# ---------------------------------------------------------------- values

FUNCTIONS: dict[Kind, Callable[..., np.ndarray]] = {
    Kind.FLOOR: np.floor_divide,
    Kind.TRUNCATED: lambda a, b: np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b)),
    Kind.MODULO: np.mod,
    Kind.REMAINDER: np.fmod,
    Kind.SMALLEST: np.minimum,
    Kind.LARGEST: np.maximum,
    Kind.AND: np.bitwise_and,
    Kind.OR: np.bitwise_or,
    Kind.XOR: np.bitwise_xor,
}


def values(form: Expression, ids: Ids) -> np.ndarray:
    """Return the numbers of an expression of tile block ids, for each block."""
    total = np.full(ids[0].size, form.constant, np.int64)
    for product, factor in form.terms.items():
        part = np.full(ids[0].size, factor, np.int64)
        for symbol in product:
            part *= _number(symbol, ids)
        total += part
    return total


def _number(symbol: Symbol, ids: Ids) -> np.ndarray:
    if isinstance(symbol, BlockId):
        return ids[symbol.axis]
    assert isinstance(symbol, Function), "an expression of tile block ids alone"
    a, b = (values(argument, ids) for argument in symbol.arguments)
    return FUNCTIONS[symbol.kind](a, b)
