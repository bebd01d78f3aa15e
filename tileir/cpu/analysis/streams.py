"""Stores that may bypass the cache: of kernels that never read what they store, and order nothing in memory.

What bypasses the cache becomes visible to other threads late, which is seen to where a thread ends its part of a launch
(`cpu.emit.driver`). A kernel that tells others in between that something is stored does not stream.

Knows: which stores these are. Does not know: LLVM, nor when it is worth while (`cpu.memory.streams`).
"""

from __future__ import annotations

from dataclasses import dataclass

from tileir.analysis.effects import accesses_of, own_effect, reachable
from tileir.analysis.provenance import ANYWHERE, Provenance
from tileir.ir.core import Op
from tileir.ir.effects import Effect
from tileir.ops.calls import Call
from tileir.ops.module import Entry

_TELLS = Effect.UPDATE | Effect.PRINT | Effect.HOST
"""Effects by which others may learn what has been stored."""

Streams = dict[Op, tuple[int, frozenset[int]]]
"""For each such store the position of the parameter that it goes through, and those of the parameters read."""


def streams_of(entry: Entry) -> Streams:
    """The stores of an entry that may bypass the cache."""
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


def unchanged(entry: Entry) -> Unchanged | None:
    """What an entry reads if it does not change that, as long as its arrays do not overlap; None if it may."""
    streams = streams_of(entry)
    if not streams or any(access.writes and access.op not in streams for access in accesses_of(entry)):
        return None
    targets, reads = zip(*streams.values())
    return Unchanged(frozenset(targets), reads[0])
