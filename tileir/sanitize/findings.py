"""Findings of the sanitizer, and the sentences that tell them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from tileir.interp.api import Coordinates
from tileir.ir.core import Op
from tileir.ir.diagnostics import Note, place_text
from tileir.ir.loc import UNKNOWN, FileLoc, Location, SourceLoc, file_position
from tileir.sanitize.clocks import Site
from tileir.sanitize.races import Conflict
from tileir.sanitize.taint import Origin

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


# ---------------------------------------------------------------- sentences


Index = tuple[int, ...]

_WHY = {
    "nothing": (
        "nothing orders the two tile blocks: blocks of one launch run at the same time",
        "let each tile block write elements of its own, combine with an atomic operation, or hand over with a release "
        "store and an acquire load",
    ),
    "scope": (
        "both are strong, but the scope of one does not include the tile block of the other",
        "use the scope 'device' on both sides",
    ),
    "sizes": (
        "both are strong, but they access ranges of different sizes, which is never one atomic step",
        "access the location with one element size everywhere",
    ),
    "relaxed": (
        "the flag between them is accessed relaxed on one side, or in too narrow a scope, which orders nothing else",
        "write the flag with 'release' and read it with 'acquire', both with scope 'device' (an atomic update that "
        "does both: 'acq_rel')",
    ),
    "acquire-token": (
        "the reader has acquired, but no token leads from the acquire to this access",
        "pass the token of the acquire to this access",
    ),
    "release-token": (
        "the tile blocks synchronise, but this pair is not covered: no token leads from the first access to the "
        "release, or it was made after the release",
        "pass the token of the first access to the release",
    ),
    "token": (
        "no token leads from the one to the other, so they may be reordered or merged",
        None,
    ),
}


def conflict_finding(found: Conflict, array: str | None, index: Index) -> Finding:
    """Return the finding of two conflicting accesses."""
    if found.why == "lanes":
        return _lanes(found, array, index)
    earlier, later = found.earlier.site, found.later.site
    because, hint = _WHY[found.why]
    same = found.earlier.block == found.later.block
    return at(
        Finding(
            "missing-token" if same else "race",
            f"{later.verb} {_element(array, index)} conflicts with {_article(earlier.verb)} of "
            + ("the same tile block" if same else f"tile block {found.earlier.block}"),
            hint=hint or _token_hint(earlier, later),
            loc=later.op.loc,
            op=later.op.spec.name,
            array=array,
            indices=(index,),
            blocks=(found.later.block,) if same else (found.later.block, found.earlier.block),
            because=because,
            same_value=found.same_value,
            vague=found.why == "nothing",
            notes=_flag(found),
            count=found.elements,
        ),
        earlier.op,
    )


def _flag(found: Conflict) -> tuple[Note, ...]:
    """Return notes on the accesses of the flag that should order the two."""
    if found.flag is None:
        return ()
    written, read = found.flag
    return (Note("the flag is written here", written.op.loc), Note("and read here", read.op.loc))


def _token_hint(earlier: Site, later: Site) -> str:
    return f"pass the token that '{earlier.op.spec.name}' gives to '{later.op.spec.name}' (token=...)"


def _lanes(found: Conflict, array: str | None, index: Index) -> Finding:
    site = found.later.site
    return Finding(
        "duplicate-lanes",
        f"several elements of one weak store go to {_element(array, index)[3:]}, in no order",
        hint="make the destinations distinct, or combine with an atomic operation",
        loc=site.op.loc,
        op=site.op.spec.name,
        array=array,
        indices=(index,),
        blocks=(found.later.block,),
        count=found.elements,
    )


_SINKS = {
    "stored": "is stored",
    "address": "is used as an address",
    "branch": "decides what is done",
    "assert": "is asserted",
}


def origin_finding(origin: Origin, role: str, block: Coordinates, copied: bool) -> Finding:
    """Return the finding of a value without meaning that arrives somewhere."""
    load = origin.site.op
    where = f" {_element(origin.array, origin.index)}" if origin.index is not None else ""
    if origin.kind == "uninitialized":
        message = f"a value read{where.replace(' of', ' from')} that nobody has written {_SINKS[role]}"
        hint = "write the memory before it is read, or load with a mask"
    else:
        named = "the padding" if origin.chosen else "an unspecified value that stands for an element"
        message = f"{named} outside the mask or the array {_SINKS[role]} in an element that is in range"
        hint = (
            "select a neutral value for these elements before they are combined (iota < length), or mask the store "
            "as the load is masked"
        )
    return Finding(
        origin.kind,
        message,
        severity="warning" if copied else "error",
        hint=hint,
        loc=load.loc,
        op=load.spec.name,
        array=origin.array,
        indices=() if origin.index is None else (origin.index,),
        blocks=(block,),
        other_role="where it arrives",
    )


def _element(array: str | None, index: Index | None) -> str:
    if array is None:
        return "of memory"
    return f"of '{array}'{list(index)}" if index else f"of '{array}'"


def _article(verb: str) -> str:
    return f"an {verb}" if verb[0] in "aeiou" else f"a {verb}"
