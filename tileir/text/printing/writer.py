"""The text under way, which all ways to write an operation share: names, types, locations, and lines.

Knows: how a line of an operation begins and ends, and how blocks are indented.
Does not know: what stands in between (`text.syntax`, `text.printing.generic`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tileir.ir.attributes import OptimizationHints
from tileir.ir.core import Op, Value
from tileir.ir.loc import Location
from tileir.ir.types import Type
from tileir.text.printing.aliases import LocationText
from tileir.text.printing.names import Names

INDENT = "  "


class _TypeTexts(dict[Type, str]):
    """Spellings of types, each made once."""

    def __init__(self, full: bool) -> None:
        super().__init__()
        self.full = full

    def __missing__(self, type: Type) -> str:
        text = self[type] = type.full_text if self.full else type.text
        return text


class Writer:
    """The lines of one text under way. `write` puts an operation into them, `hints` spells optimization hints."""

    def __init__(
        self,
        names: Names,
        write: Callable[[Writer, Op, str], None],
        version: str,
        place_of: dict[Op, Location],
        locations: LocationText | None,
        hints: Callable[[OptimizationHints], str],
    ) -> None:
        self.uses = names.uses
        self.results = names.results
        self.write = write
        self.hints = hints
        self.version = version
        self.lines: list[str] = []
        self.short = _TypeTexts(full=False)
        self.full = _TypeTexts(full=True)
        self.properties: dict[tuple[object, ...], str] = {}
        """Those of an operation in the generic form (`text.printing.generic`)."""
        self._place_of = place_of
        self._locations = locations
        self._names: dict[type[Op], str] = {}

    def name(self, op: Op) -> str:
        """The name of an operation at the version written."""
        cls = type(op)
        found = self._names.get(cls)
        if found is None:
            found = self._names[cls] = cls.spec.spelling(self.version)
        return found

    def start(self, op: Op, indent: str) -> str:
        """Indentation and results: all that stands before the name."""
        results = self.results.get(op)
        return indent if results is None else f"{indent}{results} = "

    def end(self, op: Op) -> str:
        """The location, if locations are written."""
        return "" if self._locations is None else self._locations.reference(self._place_of[op])

    def values(self, values: Iterable[Value]) -> str:
        """A comma list of uses."""
        uses = self.uses
        return ", ".join([uses[value] for value in values])

    def types(self, values: Iterable[Value]) -> str:
        """A comma list of the types of values, short."""
        short = self.short
        return ", ".join([short[value.type] for value in values])

    def operations(self, ops: Iterable[Op], indent: str) -> None:
        write = self.write
        for op in ops:
            write(self, op, indent)
