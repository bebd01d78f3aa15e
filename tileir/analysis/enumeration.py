"""Tile blocks one by one: what they compute from their ids alone, and which of them are close to each other.

A block that works on tile ``(id % 4, id // 4)`` of a matrix has coordinates that no sum of multiples of its id gives.
On a grid of some thousand blocks they are simply computed.

Knows: expressions of tile block ids for all blocks of a grid at once. Does not know: what their closeness means
(`analysis.disjoint`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from tileir.analysis.expressions import Expression, Symbol
from tileir.analysis.ranges import Range
from tileir.analysis.symbols import BlockId, Function, Kind

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
    """Whether a symbol is computed from tile block ids and constants."""
    if not isinstance(symbol, Function):
        return isinstance(symbol, BlockId)
    if symbol.needs or (symbol.kind < Kind.SMALLEST and symbol.arguments[1].range.low <= 0):
        return False
    return all(of_ids_alone(part) for form in symbol.arguments for part in form.symbols())


def any_close(windows: Sequence[Closeness], grid: tuple[int, int, int]) -> bool:
    """Whether two different blocks may be close in all respects; `windows` are over tile block ids alone."""
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
    """All pairs of blocks that are close in one respect; None if there are very many."""
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
    """The numbers of an expression of tile block ids, for each block."""
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
