"""Stores that may bypass the cache, and accesses whose place in the next iteration or tile block is known.

A kernel may bypass the cache if it never reads what it stores and does not order memory accesses. Such stores become
visible to other threads late; a fence at the end of each thread's part of a launch makes them visible
(`cpu.emit.driver`). So a kernel that signals other threads before its end does not stream.

The rows that a loop loads and stores lie a known distance further on in its next iteration. The same holds for the next
tile block, which in a grid of one dimension mostly runs next on the same thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tileir.analysis.effects import accesses_of, own_effect, reachable
from tileir.analysis.expressions import Expression, Symbol
from tileir.analysis.provenance import ANYWHERE, Provenance
from tileir.analysis.region import Region
from tileir.analysis.symbols import BlockId, GridExtent, ScalarParameter, Turn
from tileir.ir.core import Op
from tileir.ir.effects import Effect
from tileir.ops.calls import Call
from tileir.ops.module import Entry

MOST_BYTES, MOST_IN_LOOP = 1 << 12, 1 << 14
"""The largest tile, in bytes, that is prefetched for the next tile block (larger ones may bypass the cache) and for the
next iteration."""
_TELLS = Effect.UPDATE | Effect.PRINT | Effect.HOST
"""Effects that may signal other threads that something has been stored."""

Streams = dict[Op, tuple[int, frozenset[int]]]
"""For each such store, the position of its parameter and the positions of all parameters that are read."""


def signals(entry: Entry) -> bool:
    """Return whether an entry may signal others while it runs, or calls functions."""
    if any(isinstance(op, Call) or own_effect(op) & _TELLS for op in reachable(entry)):
        return True
    return any(access.is_strong for access in accesses_of(entry))


def streams_of(entry: Entry) -> Streams:
    """Return the stores of an entry that may bypass the cache."""
    if signals(entry):
        return {}
    accesses = list(accesses_of(entry))
    provenance = Provenance(entry)
    read = frozenset().union(*(provenance.of(access.address) for access in accesses if access.reads))
    if ANYWHERE in read:
        return {}
    found: Streams = {}
    for access in accesses:
        origins = provenance.of(access.address)
        if access.writes and len(origins) == 1 and not origins & (read | {ANYWHERE}):
            found[access.op] = (next(iter(origins)), read)
    return found


# ---------------------------------------------------------------- the next iteration or tile block


@dataclass(frozen=True)
class NextPlace:
    """The bytes from a box to the one that is touched in the next turn of a loop; without one, in the next tile
    block."""

    distance: Expression
    turn: Turn | None


@dataclass(frozen=True)
class Prefetch:
    """The prefetch of where an access goes next: in the loop of a later store, or its own."""

    place: NextPlace
    store: Op | None = None


def prefetches_of(regions: Iterable[Region]) -> dict[Op, Prefetch]:
    """Return what is prefetched for accesses in program order.

    A loop that reads memory for the first time waits for it, and prefetches would wait with it. So of loads of the same
    box only the last one prefetches, and a later store of as many elements does it in its stead.
    """
    found: dict[Op, Prefetch] = {}
    last: dict[tuple, Region] = {}
    for region in regions:
        access, place = region.access, next_place(region)
        if access.writes and not access.reads:
            for load in last.values():
                if found[load.access.op].store is None and _goes_along(region, load):
                    found[load.access.op] = Prefetch(found[load.access.op].place, access.op)
        if place is None:
            continue
        found[access.op] = Prefetch(place)
        if access.reads:
            key = _box_in_turn(region, place)
            if key in last:
                del found[last[key].access.op]
            last[key] = region
    return found


def _box_in_turn(region: Region, place: NextPlace) -> tuple:
    """Return the same for boxes that loops beside each other touch in the same order."""
    terms = (
        (tuple(Turn if isinstance(each, Turn) and each != place.turn else each for each in product), factor)
        for product, factor in region.base.terms.items()
    )
    return region.base.constant, frozenset(terms), place, region.extents


def _goes_along(store: Region, load: Region) -> bool:
    """Return whether the loop of a store, which comes later, may prefetch for a load."""
    is_like = store.is_box and store.extents == load.extents and store.bytes == load.bytes
    return is_like and store.access.op.parent is load.access.op.parent


def next_place(region: Region) -> NextPlace | None:
    """Return where a small box is in the next iteration or tile block; None if that is unknown.

    None also for a loop that reads consecutive memory, such as a row in pieces: hardware prefetches that.
    """
    base = region.known_base if region.is_box else None
    if base is None:
        return None
    size = region.access.tile.count * region.bytes
    for symbol in _advancing(base):
        step = base.step(symbol)
        turn = symbol if isinstance(symbol, Turn) else None
        if step is None or not all(isinstance(each, ScalarParameter | GridExtent) for each in step.symbols()):
            continue
        if step.is_constant and (turn or region.through_pointers):
            continue
        return NextPlace(step, turn) if size <= (MOST_IN_LOOP if turn else MOST_BYTES) else None
    return None


def _advancing(base: Expression) -> Iterator[Symbol]:
    """Yield the turns of loops, the innermost first, then the number of the tile block in a grid of one dimension."""
    symbols = base.symbols()
    turns = [symbol for symbol in symbols if isinstance(symbol, Turn)]
    yield from sorted(turns, key=lambda turn: turn.loop, reverse=True)
    if {symbol.axis for symbol in base.all_symbols() if isinstance(symbol, BlockId)} == {0}:
        yield BlockId(0)
