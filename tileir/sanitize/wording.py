"""Findings in words: what happened, why, and what to write instead."""

from __future__ import annotations

from tileir.interp.api import Coordinates
from tileir.ir.diagnostics import Note
from tileir.sanitize.clocks import Site
from tileir.sanitize.findings import Finding, at
from tileir.sanitize.races import Conflict
from tileir.sanitize.taint import Origin

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
