"""Findings of the sanitizer."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from tileir.interp.api import Coordinates
from tileir.ir.core import Op
from tileir.ir.diagnostics import Note, place_text
from tileir.ir.loc import UNKNOWN, FileLoc, Location, SourceLoc, file_position

KINDS = {
    "race": "conflicting accesses of different tile blocks that nothing orders",
    "missing-token": "conflicting accesses of one tile block that no token orders",
    "duplicate-lanes": "two elements of one weak store at the same address",
    "out-of-bounds": "an access outside the memory given to the kernel, or outside a promised view",
    "oversized-view": "a tensor view that claims more elements than its memory has",
    "misaligned": "an address that is no multiple of the element's size",
    "read-only": "a store into constant memory",
    "uninitialized": "a value that nobody wrote reaches a result, an address, a branch or an assertion",
    "padding": "an element that lies outside an array reaches a stored one",
    "undefined": "a promise that does not hold, or an operation without a defined result",
    "assert": "an assertion of the program that fails",
    "deadlock": "tile blocks that wait for what nobody will do",
    "order-dependent": "a result that depends on the order of tile blocks",
}
"""Every kind of finding, as ``checks=`` takes them."""
SYMMETRIC = ("race", "missing-token")
"""Either access of a pair may come first."""
MOST_INDICES = 8
Pair = tuple[Coordinates, Coordinates]


@dataclass
class Finding:
    """One fault at one place, or one pair of places, however often it was met.

    ``blocks`` are the tile blocks of the first time, ``indices`` the first few elements of ``array`` concerned;
    ``vague``: a later one may know a better reason. ``same_value``: two stores, each time of what the element held
    already. ``count`` is the number of elements, ``pairs`` of tile blocks (or pairs of them) that did it.
    """

    kind: str
    message: str
    severity: str = "error"
    hint: str | None = None
    loc: Location = UNKNOWN
    op: str | None = None
    other: Location | None = None
    other_op: str | None = None
    other_role: str = "the other access"
    array: str | None = None
    indices: tuple[tuple[int, ...], ...] = ()
    blocks: tuple[Coordinates, ...] = ()
    because: str | None = None
    notes: tuple[Note, ...] = ()
    count: int = 1
    vague: bool = False
    same_value: bool = False
    seen: set[tuple[Coordinates, ...]] = field(default_factory=set, repr=False)

    @property
    def why(self) -> str | None:
        """The reason, with what does not excuse it."""
        if self.because is None or not self.same_value:
            return self.because
        return f"{self.because}; that both store the same value does not make it right"

    @property
    def pairs(self) -> int:
        return max(1, len(self.seen))

    def to_json(self) -> dict[str, Any]:
        data: dict[str, Any] = {"kind": self.kind, "severity": self.severity, "message": self.message}
        data |= {"array": self.array, "indices": [list(index) for index in self.indices]}
        data |= {"blocks": [list(block) for block in self.blocks], "count": self.count, "pairs": self.pairs}
        data |= {"place": place_json(self.loc), "op": self.op}
        data |= {"other": None if self.other is None else place_json(self.other), "other_op": self.other_op}
        return data | {"because": self.why, "hint": self.hint}


class Collector:
    """Findings of one launch by kind and place; one seen again is counted."""

    def __init__(self, kinds: frozenset[str]) -> None:
        self.kinds = kinds
        self._found: dict[tuple[object, ...], Finding] = {}

    def add(self, found: Finding, site: object, other: object = None) -> None:
        """Record a finding; `site` and `other` are the operations by which equal ones are known."""
        if found.kind not in self.kinds:
            return
        places = frozenset((site, other)) if found.kind in SYMMETRIC else (site, other)
        known = self._found.setdefault((found.kind, places, found.array), found)
        if known is not found:
            known.count += found.count
            known.same_value = known.same_value and found.same_value
            if known.vague and not found.vague:
                known.because, known.hint, known.vague = found.because, found.hint, False
                known.notes = found.notes
            known.indices = tuple(dict.fromkeys(known.indices + found.indices))[:MOST_INDICES]
        known.seen.add(found.blocks)

    def all(self) -> list[Finding]:
        """Return all findings, errors first, and in the order found. Several results of one race are no finding of
        their own."""
        order = {"error": 0, "warning": 1}
        found = sorted(self._found.values(), key=lambda finding: order[finding.severity])
        racy = any(finding.kind == "race" for finding in found)
        return [finding for finding in found if not (racy and finding.kind == "order-dependent")]


def chosen_kinds(checks: str | list[str] | tuple[str, ...]) -> frozenset[str]:
    """Return the kinds that ``checks=`` names: ``"all"``, one, or several. Raises ValueError for one that is not
    known."""
    names = [checks] if isinstance(checks, str) else list(checks)
    if names == ["all"]:
        return frozenset(KINDS)
    unknown = [name for name in names if name not in KINDS]
    if unknown:
        raise ValueError(f"checks: expected 'all' or kinds of {', '.join(KINDS)}, got {', '.join(unknown)}")
    return frozenset(names)


def at(found: Finding, other: Op) -> Finding:
    """Return the finding with `other` as the other place."""
    return replace(found, other=other.loc, other_op=other.spec.name)


def place_json(loc: Location) -> dict[str, Any]:
    place = file_position(loc)
    place = place.file_loc if isinstance(place, SourceLoc) else place
    if isinstance(place, FileLoc):
        return {"file": place.file, "line": place.line, "column": place.column}
    return {"file": None, "line": None, "column": None, "text": place_text(loc)}
