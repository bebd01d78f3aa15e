"""Tile blocks that may run apart, and the reason and the place where they may not.

Knows: what makes bands independent: no byte that one writes is touched by another, but for sums and the like that can
be put together afterwards. Does not know: which bands there are (`plan`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

from tileir.analysis.effects import MemoryAccess, reachable
from tileir.analysis.extents import Extent, TooHard, common
from tileir.analysis.footprint import Footprint
from tileir.analysis.structure import Uses
from tileir.analysis.symbols import StorageKind
from tileir.distributed.footprints import BandFootprint, GridFootprints, refused
from tileir.ir.attributes import AtomicMode, MemoryOrdering
from tileir.ir.core import Op
from tileir.ir.diagnostics import place_text
from tileir.ops.atomics import AtomicRedView, AtomicRmw
from tileir.ops.core import GetNumTileBlocks, GetTileBlockId
from tileir.ops.module import Entry

MERGED = (
    AtomicMode.ADD, AtomicMode.AND, AtomicMode.OR, AtomicMode.XOR, AtomicMode.MAX, AtomicMode.MIN, AtomicMode.UMAX,
    AtomicMode.UMIN,
)  # fmt: skip
"""Updates whose order does not matter to the last bit. ADDF rounds, and XCHG keeps the last."""


def merged_updates(entry: Entry, found: Sequence[tuple[Footprint, Op]]) -> dict[int, AtomicMode]:
    """The parameters that are accessed by updates of one mode alone whose old values nobody uses."""
    uses, modes = Uses([entry]), {}
    by_parameter: dict[int, list[Op]] = {}
    for footprint, op in found:
        if footprint.storage is not None and footprint.storage.kind is StorageKind.PARAMETER:
            by_parameter.setdefault(footprint.storage.number, []).append(op)
    for parameter, ops in by_parameter.items():
        if all(_is_mergeable(op, uses) for op in ops) and len({op.attributes["mode"] for op in ops}) == 1:
            modes[parameter] = ops[0].attributes["mode"]
    return modes


def _is_mergeable(op: Op, uses: Uses) -> bool:
    if not isinstance(op, AtomicRmw | AtomicRedView) or op.attributes["mode"] not in MERGED:
        return False
    access = MemoryAccess.of(op)
    old = access.result
    return access.ordering is MemoryOrdering.RELAXED and (old is None or not uses.of(old))


def require_known(footprint: Footprint, op: Op, merged: dict[int, AtomicMode]) -> None:
    """Raise UnsupportedError for an access that may tie tile blocks together, or of which nothing is known."""
    storage = footprint.storage
    if footprint.unknown or storage is None:
        raise refused(op, f"may touch any memory: {footprint.unknown or 'its array is not known'}")
    if storage.kind is StorageKind.OWN:
        return
    if storage.kind is StorageKind.SHARED or (storage.kind is StorageKind.GLOBAL and footprint.writes):
        raise refused(op, "touches memory that all tile blocks share")
    if storage.kind is StorageKind.GLOBAL or storage.number in merged:
        return
    access = MemoryAccess.of(op)
    if access.updates:
        mode = op.attributes.get("mode")
        what = f"of mode {mode.text}" if isinstance(mode, AtomicMode) else "that compares"
        raise refused(op, f"is an update {what} whose result depends on the order of tile blocks")
    if access.is_strong:
        raise refused(op, "is no weak access: tile blocks may communicate by it")


def require_own_place(entry: Entry) -> None:
    """Raise UnsupportedError where a function asks which tile block it runs in: its program is not changed."""
    inside = set(entry.walk())
    for op in reachable(entry):
        if isinstance(op, GetTileBlockId | GetNumTileBlocks) and op not in inside:
            raise refused(op, "asks for the tile block in a function that is not inlined")


# ---------------------------------------------------------------- bands


@dataclass(frozen=True, slots=True)
class _Touch:
    """What one access of one band touches; `wide`: what goes back of it.

    All bytes of both are `place` to ``place + run - 1`` behind a multiple of `step`; 0 if that says nothing.
    """

    band: int
    at: int
    extent: Extent
    wide: Extent
    writes: bool
    step: int
    place: int

    @classmethod
    def of(cls, band: int, at: int, extent: Extent, wide: Extent, writes: bool) -> _Touch:
        step = gcd(*(distance for _, distance in extent.dims)) if wide is extent else 0
        return cls(band, at, extent, wide, writes, step, extent.start % step if step else 0)

    def is_beside(self, other: _Touch) -> bool:
        """Whether the other has none of these bytes for the reason that it is in other columns; most bands are."""
        if self.step != other.step or not self.step:
            return False
        apart: int = (other.place - self.place) % self.step
        return self.extent.run <= apart <= self.step - other.extent.run


def require_apart(footprints: GridFootprints, bands: Sequence[BandFootprint]) -> None:
    """Raise UnsupportedError if a byte that one band writes is touched by another."""
    by_parameter: dict[int, list[_Touch]] = {}
    for at, (footprint, _) in enumerate(footprints.found):
        parameter = footprints.parameter(at)
        if parameter is not None:
            for number, band in enumerate(bands):
                extent = footprints.extent(at, band.blocks)
                wide = footprints.changed(at, band.blocks) if footprint.writes else extent
                if not extent.empty:
                    touch = _Touch.of(number, at, extent, wide, footprint.writes)
                    by_parameter.setdefault(parameter, []).append(touch)
    for touches in by_parameter.values():
        if any(touch.writes for touch in touches):
            _require_touches_apart(
                footprints, sorted(touches, key=lambda touch: (touch.wide.low, touch.band, touch.at))
            )


def _require_touches_apart(footprints: GridFootprints, touches: Sequence[_Touch]) -> None:
    """Compare those that overlap from their first to their last byte; they come by their first."""
    active: list[_Touch] = []
    for touch in touches:
        active = [one for one in active if one.wide.high > touch.wide.low]
        for one in active:
            if one.band != touch.band and (one.writes or touch.writes) and not one.is_beside(touch):
                _require_disjoint(footprints, one, touch)
        active.append(touch)


def _require_disjoint(footprints: GridFootprints, one: _Touch, other: _Touch) -> None:
    both = one.writes and other.writes
    first, second = (one.wide, other.wide) if both else (one.extent, other.extent)
    if max(first.low, second.low) >= min(first.high, second.high):
        return
    try:
        offset = common(first, second)
    except TooHard:
        offset = max(first.low, second.low)
    if offset is not None:
        writing, touching = (one, other) if one.writes else (other, one)
        op, touched = footprints.found[writing.at][1], footprints.found[touching.at][1]
        place = "itself" if touched is op else f"'{touched.spec.name}' at {place_text(touched.loc)}"
        raise refused(op, f"may write byte {offset} of an array that {place} touches in another band of tile blocks")
