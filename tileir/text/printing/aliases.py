"""Locations of debug printing: ``loc(#loc3)`` behind each operation and the alias list at the end
(spec: debug#printing).

Knows: which locations are written at all, and how their aliases are numbered and sorted.
Does not know: how a location or scope is spelled (`text.printing.locations`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tileir.ir import loc as l
from tileir.ir.attributes import Attribute
from tileir.text.printing.attributes import attribute_text
from tileir.text.printing.locations import SCOPE_MNEMONICS, Place, PlaceText, parts

Keep = Callable[[l.Location], l.Location]


def written(loc: l.Location) -> l.Location:
    """The location as a program can spell it: the place in a source as a file location, bytecode offsets not at all."""
    if isinstance(loc, l.SourceLoc):
        return loc.file_loc
    return l.UNKNOWN if isinstance(loc, l.BytecodeLoc) else loc


def stored(loc: l.Location) -> l.Location:
    """Debug locations and call sites between them, which bytecode keeps (spec: bytecode-debug#writing)."""
    if isinstance(loc, l.DILoc):
        return loc
    if isinstance(loc, l.CallSiteLoc):
        return l.CallSiteLoc(stored(loc.callee), stored(loc.caller))
    return l.UNKNOWN


class LocationText:
    """Writes the locations of operations through aliases; `places` are all of them, in the order operations print."""

    def __init__(self, places: Iterable[l.Location]) -> None:
        found: dict[Place, int] = {}
        for place in places:
            _visit(place, found)
        order = sorted(found, key=lambda place: (found[place], _base(place)))
        self.aliases = _numbered(order)

    def reference(self, place: l.Location) -> str:
        """`` loc(#loc3)``, to be put behind an operation."""
        return f" loc({self.aliases[place]})"

    def definitions(self) -> list[str]:
        """One line for each alias, so that a line uses only what earlier lines define."""
        text = PlaceText(self.aliases, attribute_text)
        return [f"{alias} = {text.definition(place)}" for place, alias in self.aliases.items()]


def _visit(attribute: Attribute, depths: dict[Place, int]) -> int:
    """Record `attribute` and what is inside it; gives its depth, or -1 for what has no alias."""
    if not isinstance(attribute, Place):
        return -1
    if attribute not in depths:
        depths[attribute] = 1 + max([_visit(part, depths) for part in parts(attribute)], default=-1)
    return depths[attribute]


def _base(place: Place) -> str:
    return SCOPE_MNEMONICS[type(place)] if isinstance(place, l.DebugScope) else "loc"


def _numbered(order: list[Place]) -> dict[Place, str]:
    counts: dict[str, int] = {}
    aliases: dict[Place, str] = {}
    for place in order:
        base = _base(place)
        number = counts.get(base, 0)
        counts[base] = number + 1
        aliases[place] = f"#{base}{number or ''}"
    return aliases
