"""A sanitized launch: the state that its parts share, and the making of findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from tileir.host.address_space import AccessFault
from tileir.interp.api import BlockState, Coordinates, Fault, Index
from tileir.ir.core import Op
from tileir.ops.control import Assert
from tileir.sanitize.clocks import Site
from tileir.sanitize.findings import Collector, Finding, at, conflict_finding, origin_finding
from tileir.sanitize.memory import Dropped, Layout, WatchedMemory
from tileir.sanitize.races import Conflict, RaceDetector
from tileir.sanitize.shadow import LARGEST_CELL
from tileir.sanitize.taint import Marked, Origin
from tileir.sanitize.weak import WeakOutcomes


class Session:
    """The state of a launch while it runs; `start` begins another run of the same launch."""

    def __init__(
        self,
        memory: WatchedMemory,
        layouts: Mapping[str, Layout],
        kinds: frozenset[str],
        quiet: frozenset[Op],
        through: Callable[[Op], str | None],
    ) -> None:
        self.memory = memory
        self.through = through
        """Return the parameter that an operation accesses memory through, if it is one."""
        memory.through = lambda: None if self.here is None else through(self.here.op)
        self.quiet = quiet
        """The operations whose accesses are proved to conflict with none."""
        self.collector = Collector(kinds)
        self.running = False
        self.block: BlockState | None = None
        self.here: Site | None = None
        self.progress = 0
        self.dropped = False
        self.waits: dict[Coordinates, Site] = {}
        self.weak: WeakOutcomes | None = None
        self._layouts = layouts
        self._origins: dict[tuple[str, Op], Origin] = {}
        memory.refuse = self._refused
        self.detector = self._detector_before = RaceDetector(self._conflict)

    def start(self, weak: WeakOutcomes | None = None) -> None:
        """Begin a run; with `weak`, loads may give what has been overwritten."""
        self.weak = weak
        self._detector_before, self.detector = self.detector, RaceDetector(self._conflict)
        self.waits.clear()
        self.running = True

    # ------------------------------------------------------------ names

    def place(self, address: int, size: int, op: Op | None = None) -> tuple[str | None, tuple[int, ...]]:
        """Return the array at an address and the index in it; of several that share it, that which `op` was given."""
        found = self.memory.find(address)
        if found is None:
            return None, ()
        parts = [one for one in found.parts if one.base <= address < one.end]
        name = None if op is None or len(parts) < 2 else self.through(op)
        part = next((one for one in parts if one.name == name), parts[0] if parts else found)
        layout = self._layouts.get(part.name)
        if layout is not None:
            return part.name, layout.index(address)
        return part.name, ((address - part.origin) // size,)

    def last_writer(self, address: int) -> Site | None:
        """Return the operation that has written the byte at an address last in this run, or in the one before."""
        found = self.memory.find(address)
        if found is None:
            return None
        before = self.memory.shadow_before(found)
        site = self.detector.last_writer(self.memory.shadow(found, LARGEST_CELL), address)
        return site or (None if before is None else self._detector_before.last_writer(before, address))

    # ------------------------------------------------------------ findings

    def _conflict(self, found: Conflict) -> None:
        array, index = self.place(found.address, found.later.size, found.later.site.op)
        self.collector.add(conflict_finding(found, array, index), found.later.site.op, found.earlier.site.op)

    def _refused(self, dropped: Dropped) -> None:
        site, block = self.here, self.block
        assert site is not None and block is not None, "memory is accessed by an operation of a tile block"
        self.dropped = True
        fault = dropped.fault
        array = fault.array or (dropped.allocation.name if dropped.allocation else None)
        self.collector.add(
            Finding(
                dropped.kind,
                fault.message,
                loc=site.op.loc,
                op=site.op.spec.name,
                array=array,
                indices=self._index(array, fault.index),
                blocks=(block.id,),
                hint=_REFUSED[dropped.kind],
                count=dropped.elements,
            ),
            site.op,
        )

    def _index(self, array: str | None, offset: Index | None) -> tuple[tuple[int, ...], ...]:
        """Return the element at a byte offset; an array's own index only of one that it has."""
        if not isinstance(offset, int):
            return ()
        layout = self._layouts.get(array or "")
        if layout is None:
            return ((offset,),)
        return (layout.index(layout.address + offset),) if offset >= 0 else ((offset // layout.itemsize,),)

    def undefined(self, op: Op, message: str, kind: str = "undefined") -> None:
        """Report a promise that does not hold; the run goes on."""
        blocks = () if self.block is None else (self.block.id,)
        hint = "keep the promise, or do not make it" if kind == "undefined" else None
        found = Finding(kind, message, loc=op.loc, op=op.spec.name, blocks=blocks, hint=hint)
        self.collector.add(found, op)

    def unspecified(self, op: Op, message: str) -> None:
        """Report an operation whose result other implementations may give otherwise."""
        blocks = () if self.block is None else (self.block.id,)
        found = Finding("undefined", message, "warning", None, op.loc, op.spec.name, blocks=blocks)
        self.collector.add(found, op)

    def overclaimed(self, op: Op, fault: AccessFault) -> None:
        """Report a view that claims more than its memory has; accesses through it may still be inside."""
        blocks = () if self.block is None else (self.block.id,)
        hint = "make the view of the extents that the array has"
        found = Finding("oversized-view", fault.message, "warning", hint, op.loc, op.spec.name, array=fault.array)
        self.collector.add(replace(found, blocks=blocks), op)

    def fault(self, op: Op, fault: Fault) -> None:
        self.undefined(op, fault.message, "assert" if isinstance(op, Assert) else "undefined")

    # ------------------------------------------------------------ values without meaning

    def origin(self, kind: str, site: Site, chosen: bool, value: object = None) -> Origin:
        """Return the origin of such values that a load is; made when it first gives one."""
        assert self.block is not None, "a load runs in a tile block"
        key = (kind, site.op)
        if key not in self._origins:
            array = self.through(site.op) if kind == "padding" else None
            self._origins[key] = Origin(kind, site, chosen, self.block.id, array, value=value)
        return self._origins[key]

    def arrives(self, value: Marked, site: Site, role: str, where: np.ndarray | None = None) -> None:
        """Report marked elements of a tile that arrive at an operation; only those of `where` count."""
        for origin, mask in value.marks.items():
            there = mask if where is None else mask & where
            if there.any() and not (origin.kind == "padding" and role in ("branch", "assert")):
                self._report(origin, site.op, role, _is_copy(origin, value.value[there], role), int(there.sum()))

    def decided(self, value: Marked, op: Op, role: str) -> None:
        """Report marked elements that decide a branch, an assertion, or where a view lies."""
        for origin in value.marks:
            if origin.kind == "uninitialized":
                self._report(origin, op, role, False, 1)

    def read_unwritten(self, origin: Origin, site: Site) -> None:
        """Report an update of memory that nobody has written."""
        self._report(origin, site.op, "stored", False, 1)

    def _report(self, origin: Origin, op: Op, role: str, copied: bool, count: int) -> None:
        assert self.block is not None, "values arrive in a tile block"
        found = origin_finding(origin, role, self.block.id, copied)
        self.collector.add(replace(at(found, op), count=count), origin.site.op, op)

    def stuck(self, blocks: Sequence[Coordinates]) -> None:
        """Report tile blocks that wait for each other, or for nobody."""
        by_site: dict[Site | None, list[Coordinates]] = {}
        for block in blocks:
            by_site.setdefault(self.waits.get(block), []).append(block)
        for site, waiting in by_site.items():
            count = f"{len(waiting)} tile block{'s wait' if len(waiting) > 1 else ' waits'}"
            found = Finding(
                "deadlock",
                f"{count} for a value that no tile block can write any more",
                blocks=tuple(waiting[:2]),
                hint="let the tile block that is waited for write first, and never wait for one that waits as well",
                count=len(waiting),
            )
            if site is not None:
                found = replace(found, loc=site.op.loc, op=site.op.spec.name)
            self.collector.add(found, site)


_REFUSED = {
    "out-of-bounds": "mask the elements outside the array, or access it through a view of its shape",
    "misaligned": "start at a multiple of the element's size",
    "read-only": "a constant global cannot be written: declare it without 'constant', or store elsewhere",
}


def _is_copy(origin: Origin, values: np.ndarray, role: str) -> bool:
    """Return whether padding that the program chose is stored unchanged."""
    if origin.kind != "padding" or not origin.chosen or role != "stored" or origin.value is None:
        return False
    return bool((values == origin.value).all()) or bool((values != values).all() and origin.value != origin.value)
