"""Stores that may bypass the cache, and accesses whose place in the next tile block is known.

A kernel may bypass the cache that never reads what it stores, and orders nothing in memory. What bypasses the cache
becomes visible to other threads late, which is seen to where a thread ends its part of a launch (`cpu.emit.driver`): a
kernel that tells others in between that something is stored does not stream.

In a grid of one dimension a thread mostly runs one tile block after the other. What such a one stores, and loads in the
same block of code, begins a known distance behind, if one index of its box is the number of the tile block.
"""

from __future__ import annotations

from dataclasses import dataclass

from tileir.analysis.effects import MemoryAccess, accesses_of, own_effect, reachable
from tileir.analysis.provenance import ANYWHERE, Provenance
from tileir.analysis.region import is_view_box
from tileir.ir import types as t
from tileir.ir.core import Op
from tileir.ir.effects import Effect
from tileir.ops import core
from tileir.ops.calls import Call
from tileir.ops.module import Entry

MOST_BYTES = 1 << 12
"""Bytes of a tile that is asked for ahead: the processor cannot keep up with more of them at a time."""
_TELLS = Effect.UPDATE | Effect.PRINT | Effect.HOST
"""Effects by which others may learn what has been stored."""

Streams = dict[Op, tuple[int, frozenset[int]]]
"""For each such store, the position of its parameter, and those of the parameters read."""


def streams_of(entry: Entry) -> Streams:
    """Return the stores of an entry that may bypass the cache."""
    if any(isinstance(op, Call) or own_effect(op) & _TELLS for op in reachable(entry)):
        return {}
    accesses = list(accesses_of(entry))
    if any(access.is_strong for access in accesses):
        return {}
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


@dataclass(frozen=True)
class Unchanged:
    """The positions of the parameters that an entry writes through and reads through: they have none in common."""

    written: frozenset[int]
    read: frozenset[int]


def unchanged(entry: Entry, streams: Streams) -> Unchanged | None:
    """Return what an entry reads without changing it, provided that its arrays do not overlap; None if it may change
    anything it reads."""
    if not streams or any(access.writes and access.op not in streams for access in accesses_of(entry)):
        return None
    targets, reads = zip(*streams.values())
    return Unchanged(frozenset(targets), reads[0])


# ---------------------------------------------------------------- the next tile block


def next_dimension(access: MemoryAccess) -> int | None:
    """Return the dimension of a small box along which the next tile block has the next one; None if there is none."""
    type = access.address.type
    if not isinstance(type, t.TileViewType) or not is_view_box(access):
        return None
    blocks = [index.op if isinstance(index.op, core.GetTileBlockId) else None for index in access.indices]
    found = [at for at, block in enumerate(blocks) if block is not None]
    if len(found) != 1 or type.tile.count * type.element.byte_size > MOST_BYTES:
        return None
    block, index = blocks[found[0]], access.indices[found[0]]
    return found[0] if block is not None and index is block.results[0] else None
