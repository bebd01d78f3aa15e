"""Footprints with numbers in the place of what is known: arguments, extents of the grid.

Knows: how numbers are put in, so that expressions simplify: quotients by an argument become quotients by a constant.
Does not know: what is then asked of a footprint (`analysis.disjoint`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tileir.analysis.expressions import ZERO, Expression, Symbol, number, of
from tileir.analysis.footprint import Coordinate, Footprint
from tileir.analysis.symbols import BlockId, GridExtent, ScalarParameter, Turn

Grid = tuple[int | None, int | None, int | None]
"""Extents along the axes; None may be any."""

ANY_GRID: Grid = (None, None, None)


def specialised(footprint: Footprint, arguments: Sequence[int | None] | None, grid: Grid) -> Footprint:
    """The footprint for these arguments, one per parameter (None: any), and this grid. May raise `TooLarge`."""

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
