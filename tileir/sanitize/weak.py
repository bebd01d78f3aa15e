"""Values that a strong load may still give although another has been stored since, as Miri's store buffers have them.

A load may read from any write of its element that is not overwritten by one that happens before it, or that something
before it has read (spec: memory-model#axioms, Causality). Writes keep the order in which they were made. Kept is the
history of elements that are accessed one at a time, as flags are; a load of a tile gives what memory holds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

import numpy as np

from tileir.sanitize.clocks import AccessEvent
from tileir.sanitize.shadow import Touched

LONGEST = 64
"""Writes, and reads, of one element that are remembered."""


@dataclass(frozen=True)
class PastWrite:
    """A write: the bytes that it left, and the releases that reach whoever reads them. The initial value has no
    event."""

    event: AccessEvent | None
    content: bytes
    heads: int


@dataclass
class ElementHistory:
    """The writes of an element in order, and the reads of it, each with the position of what it has read."""

    writes: list[PastWrite]
    reads: list[tuple[AccessEvent, int]] = field(default_factory=list)

    def first_visible(self, event: AccessEvent) -> int:
        """Return the position of the oldest write that a read may give."""
        before = [at for at, write in enumerate(self.writes) if write.event is not None and event.follows(write.event)]
        before += [at for read, at in self.reads if event.follows(read)]
        return max(before, default=0)

    def shorten(self) -> None:
        """Forget the oldest writes and reads."""
        drop = max(0, len(self.writes) - LONGEST)
        del self.writes[:drop]
        self.reads = [(read, max(0, at - drop)) for read, at in self.reads[-LONGEST:]]


class WeakOutcomes:
    """The histories of one run, by address and size, and the choices that are made among them."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._histories: dict[tuple[int, int], ElementHistory] = {}

    def chosen(self, event: AccessEvent, touched: Touched) -> PastWrite | None:
        """Return the write that a load reads from, if it is not the last one."""
        history = self._histories.get((touched.address(0), touched.size)) if touched.count == 1 else None
        if history is None:
            self.seen(event, touched)
            return None
        last = len(history.writes) - 1
        at = last if self._random.random() < 0.5 else self._random.randint(history.first_visible(event), last)
        history.reads.append((event, at))
        history.shorten()
        return None if at == last else history.writes[at]

    def seen(self, event: AccessEvent, touched: Touched) -> None:
        """Note a read of what memory holds."""
        for history in self._of(touched).values():
            history.reads.append((event, len(history.writes) - 1))
            history.shorten()

    def written(self, event: AccessEvent, touched: Touched, heads: int) -> None:
        """Note what a write has left; an update has also read what was there."""
        if touched.count != 1 or touched.before is None:
            for place in self._of(touched):
                del self._histories[place]
            return
        place = (touched.address(0), touched.size)
        initial = PastWrite(None, touched.before.tobytes(), 0)
        history = self._histories.setdefault(place, ElementHistory([initial]))
        history.writes.append(PastWrite(event, touched.content().tobytes(), heads))
        history.reads += [(event, len(history.writes) - 1)] if event.site.access.updates else []
        history.shorten()

    def _of(self, touched: Touched) -> dict[tuple[int, int], ElementHistory]:
        """Return the histories of the elements of a tile, by address and size."""
        if not self._histories:
            return {}
        addresses = {touched.address(position) for position in range(touched.count)}
        return {place: one for place, one in self._histories.items() if place[0] in addresses}


def value_of(write: PastWrite, tile: object) -> object:
    """Return the value that a write has left, as an element of the type of a tile of rank 0."""
    like = np.asarray(tile)
    return np.frombuffer(write.content, like.dtype).reshape(like.shape)[()]
