"""Data races of one run (spec: memory-model#data-races, spec: race-detector#state)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from tileir.analysis.effects import morally_strong, scopes_include
from tileir.interp.api import Coordinates
from tileir.ir.attributes import MemoryScope
from tileir.sanitize.clocks import AccessEvent, Past, Site, union
from tileir.sanitize.shadow import Cells, Shadow, Touched, TouchedElements

Where = np.ndarray | None
"""A mask of cells; None for all."""


class Conflict(NamedTuple):
    """Two accesses; the later one found the trace of the earlier, at `address` and in `elements` in all.

    ``flag`` are the accesses of a flag that should order them; `why` says why they do not. ``same_value``: both are
    stores, and the later one has changed nothing.
    """

    earlier: AccessEvent
    later: AccessEvent
    why: str
    address: int
    elements: int
    flag: tuple[Site, Site] | None = None
    same_value: bool = False


Report = Callable[[Conflict], None]


Strength = tuple[bool, MemoryScope | None, int]


class Sets:
    """Sets of accesses, each a number: an access and the set of the others. 0 is empty."""

    def __init__(self) -> None:
        self._nodes: list[tuple[AccessEvent | None, int]] = [(None, 0)]
        self._alike: list[Strength | None] = [None]
        """The strength of all members of a set; None if they differ."""

    def with_one(self, event: AccessEvent, rest: int) -> int:
        self._nodes.append((event, rest))
        self._alike.append(event.strength if not rest or self._alike[rest] == event.strength else None)
        return len(self._nodes) - 1

    def may_coincide(self, event: AccessEvent, number: int) -> bool:
        """Return whether all members are strong in the same way as `event`, so that none conflicts with it."""
        return event.strong and event.scope is not MemoryScope.TL_BLK and self._alike[number] == event.strength

    def members(self, number: int) -> Iterator[AccessEvent]:
        while number:
            event, number = self._nodes[number]
            assert event is not None, "only the empty set has no access"
            yield event

    def beside(self, event: AccessEvent, number: int) -> int:
        """Return the set with `event`, less the latest accesses that it stands for."""
        while number:
            top, rest = self._nodes[number]
            assert top is not None, "only the empty set has no access"
            if not event.stands_for(top):
                break
            number = rest
        return self.with_one(event, number)


class RaceDetector:
    """The accesses of a run in the order they are made, which is a linear extension of happens-before."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._sets = Sets()
        self._numbers: defaultdict[Coordinates, int] = defaultdict(int)
        self._acquired: dict[Coordinates, Past] = {}
        self._synced: dict[tuple[Coordinates, Coordinates], tuple[AccessEvent, AccessEvent]] = {}
        self._read_from: defaultdict[Coordinates, dict[int, AccessEvent]] = defaultdict(dict)
        """For each tile block the sets of writers that its strong reads have met, and the read."""

    def event(self, site: Site, block: Coordinates, token: Past | None, size: int) -> AccessEvent:
        """Return a new instruction of a tile block, which waits for `token`."""
        number = self._numbers[block]
        self._numbers[block] = number + 1
        return AccessEvent(site, block, number, union((token,)), size)

    def read(self, event: AccessEvent, touched: Touched, heads: int | None = None) -> None:
        """Record that the event reads the elements; of a write that is not the last, `heads` are the releases."""
        self._check_all(event, touched, touched.shadow.writers)
        if event.strong:
            self._observe(event, touched, heads)
        readers = touched.shadow.make_readers()
        touched.put(readers, _mapped(touched.cells(readers), lambda number: self._sets.beside(event, number)))

    def write(self, event: AccessEvent, touched: Touched) -> None:
        """Record that the event writes the elements, and reads them before if it is an update."""
        shadow = touched.shadow
        for array in (shadow.writers, shadow.readers):
            self._check_all(event, touched, array)
        if event.strong and event.site.access.updates:
            self._observe(event, touched)
        self._release(event, touched)
        writers, readers = shadow.make_writers(), shadow.readers
        touched.put(writers, _mapped(touched.cells(writers), lambda one: self._left(event, one, True)))
        if readers is not None:
            touched.put(readers, _mapped(touched.cells(readers), lambda one: self._left(event, one, False)))

    def repeated(self, event: AccessEvent, touched: TouchedElements, sharing: int) -> None:
        """Report elements of one weak store that share an address; `sharing` elements fit in a byte."""
        again = touched.repeated(sharing)
        if again.size and not event.strong:
            self._report(Conflict(event, event, "lanes", touched.address(int(again[0])), int(again.size)))

    def last_writer(self, shadow: Shadow, address: int) -> Site | None:
        """Return the operation that has written the byte at an address last."""
        if shadow.writers is None:
            return None
        number = int(shadow.writers[(address - shadow.base) // shadow.granule])
        return next((event.site for event in self._sets.members(number)), None)

    def _left(self, event: AccessEvent, number: int, with_event: bool) -> int:
        """Return a set after `event` writes: the accesses that it does not stand for stay."""
        if self._sets.may_coincide(event, number):
            # Those before it may stay as well: what conflicts with them is unordered with them.
            return self._sets.beside(event, number) if with_event else number
        kept = 0
        for one in self._sets.members(number):
            if not event.stands_for(one) and one is not event:
                kept = self._sets.with_one(one, kept)
        return self._sets.with_one(event, kept) if with_event else kept

    # ------------------------------------------------------------ conflicts

    def _check_all(self, event: AccessEvent, touched: Touched, array: Cells | None) -> None:
        """Check against all accesses that the cells hold; None are no cells."""
        if array is not None:
            cells = touched.cells(array)
            for number, where in _distinct(cells):
                self._check(event, number, touched, cells, where)

    def _check(self, event: AccessEvent, number: int, touched: Touched, cells: Cells, where: Where) -> None:
        if self._sets.may_coincide(event, number):
            return
        for earlier in self._sets.members(number):
            if earlier is event or event.follows(earlier) or morally_strong(earlier, event):
                continue
            position, count = _first(cells, where, touched)
            why, flag = self._why(earlier, event)
            same = earlier.site.verb == "store" and _changed_nothing(touched, where)
            self._report(Conflict(earlier, event, why, touched.address(position), count, flag, same))

    def _why(self, earlier: AccessEvent, later: AccessEvent) -> tuple[str, tuple[Site, Site] | None]:
        if earlier.block == later.block:
            return "sizes" if earlier.strong and later.strong else "token", None
        if earlier.strong and later.strong:
            return ("scope" if not scopes_include(earlier, later) else "sizes"), None
        pair = (earlier.block, later.block)
        acquired = self._acquired.get(later.block)
        if acquired is not None and acquired.others.get(earlier.block, 0) >> earlier.number & 1:
            return "acquire-token", _flag(self._synced.get(pair))
        if pair in self._synced:
            return "release-token", _flag(self._synced[pair])
        relaxed = self._relaxed(pair)
        return ("nothing", None) if relaxed is None else ("relaxed", _flag(relaxed))

    def _relaxed(self, pair: tuple[Coordinates, Coordinates]) -> tuple[AccessEvent, AccessEvent] | None:
        """Return a strong write of the first tile block and a read of the second that has met it."""
        for number, read in reversed(self._read_from[pair[1]].items()):
            for writer in self._sets.members(number):
                if writer.strong and writer.block == pair[0] and not read.follows(writer):
                    return writer, read
        return None

    # ------------------------------------------------------------ synchronisation

    def heads(self, touched: Touched) -> int:
        """Return the releases that reach whoever reads an element."""
        heads = touched.shadow.heads
        return 0 if heads is None else int(touched.cells(heads).flat[0])

    def _observe(self, event: AccessEvent, touched: Touched, heads: int | None = None) -> None:
        """Join the releases that a strong read observes, or note that it observes none."""
        shadow = touched.shadow
        joined = False
        if shadow.heads is not None and event.acquires:
            found = _distinct(touched.cells(shadow.heads)) if heads is None else [(heads, None)]
            for number, _ in found:
                for head in self._sets.members(number):
                    if head.block != event.block and morally_strong(head, event):
                        event.synchronise(head)
                        self._synced[head.block, event.block] = (head, event)
                        joined = True
        if joined:
            self._acquired[event.block] = union((self._acquired.get(event.block), event.past))
        for number, _ in _distinct(touched.cells(shadow.make_writers())):
            self._read_from[event.block][number] = event

    def _release(self, event: AccessEvent, touched: Touched) -> None:
        """Start the release sequence after a write (spec: memory-model#release-acquire)."""
        shadow = touched.shadow
        if shadow.heads is None and not event.releases:
            return
        heads = shadow.make_heads()
        updates = event.strong and event.site.access.updates
        touched.put(heads, _mapped(touched.cells(heads), lambda number: self._sequence(event, number, updates)))

    def _sequence(self, event: AccessEvent, number: int, updates: bool) -> int:
        if updates and number and self._sets.may_coincide(event, number):
            return self._sets.beside(event, number) if event.releases else number
        kept = 0
        for head in self._sets.members(number) if updates else ():
            continues = head.block == event.block or morally_strong(head, event)
            if continues and not (event.releases and event.follows(head)):
                kept = self._sets.with_one(head, kept)
        return self._sets.with_one(event, kept) if event.releases else kept


def _flag(pair: tuple[AccessEvent, AccessEvent] | None) -> tuple[Site, Site] | None:
    return None if pair is None else (pair[0].site, pair[1].site)


def _distinct(cells: Cells) -> Iterator[tuple[int, Where]]:
    """Yield each number in the cells with its place; nearly always there is one."""
    if cells.size == 0:
        return
    first = int(cells.flat[0])
    if (cells == first).all():
        if first:
            yield first, None
        return
    for number in np.unique(cells).tolist():
        if number:
            yield number, cells == number


def _mapped(cells: Cells, change: Callable[[int], int]) -> Cells | int:
    """Return the cells with every number changed; one number if that is all there is."""
    first = int(cells.flat[0]) if cells.size else 0
    if (cells == first).all():
        return change(first)
    numbers, inverse = np.unique(cells, return_inverse=True)
    changed = np.array([change(number) for number in numbers.tolist()], np.int32)
    return changed[inverse].reshape(cells.shape)


def _changed_nothing(touched: Touched, where: Where) -> bool:
    """Return whether a store has left the elements of some cells unchanged."""
    if touched.before is None:
        return False
    same = (touched.content() == touched.before).all(-1)
    return bool((same if where is None else same[where.reshape(same.size, -1).any(-1)]).all())


def _first(cells: Cells, where: Where, touched: Touched) -> tuple[int, int]:
    """Return the first element with a set cell and how many elements have one."""
    per_element = max(1, touched.size // touched.shadow.granule)
    if where is None:
        return 0, cells.size // per_element
    elements = where.reshape(-1, per_element).any(-1)
    return int(np.argmax(elements)), int(np.count_nonzero(elements))
