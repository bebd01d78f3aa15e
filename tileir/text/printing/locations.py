"""Text of locations and debug scopes (spec: debug#locations, spec: debug#attributes), in line and through aliases.

Debug printing writes ``loc(#loc3)`` behind each operation and the list of aliases at the end (spec: debug#printing).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from tileir.ir import loc as l
from tileir.ir.attributes import Attribute
from tileir.text.numbers import string_text

Place = l.Location | l.DebugScope

SCOPE_MNEMONICS: dict[type[l.DebugScope], str] = {
    l.DIFile: "di_file",
    l.DICompileUnit: "di_compile_unit",
    l.DISubprogram: "di_subprogram",
    l.DILexicalBlock: "di_lexical_block",
}


class PlaceText:
    """Writes locations and scopes; one that has an alias is written as the alias wherever it stands inside another.

    `other` writes the attribute that a fused location may carry.
    """

    def __init__(self, aliases: Mapping[Place, str], other: Callable[[Attribute], str]) -> None:
        self.aliases = aliases
        self.other = other

    def definition(self, place: Place) -> str:
        """Return the attribute itself, never its alias."""
        if isinstance(place, l.DebugScope):
            return f"#cuda_tile.{SCOPE_MNEMONICS[type(place)]}{self._parameters(place)}"
        text = self.instance(place)
        return text if isinstance(place, l.DILoc) else f"loc({text})"

    def instance(self, loc: l.Location) -> str:
        """Return the text between ``loc(`` and ``)``."""
        if isinstance(loc, l.FileLoc):
            return _file_text(loc)
        if isinstance(loc, l.SourceLoc):
            return _file_text(loc.file_loc)
        if isinstance(loc, l.NameLoc):
            child = "" if loc.child == l.UNKNOWN else f"({self._inner(loc.child)})"
            return string_text(loc.name) + child
        if isinstance(loc, l.CallSiteLoc):
            return f"callsite({self._inner(loc.callee)} at {self._inner(loc.caller)})"
        if isinstance(loc, l.FusedLoc):
            return self._fused(loc)
        if isinstance(loc, l.DILoc):
            return f"#cuda_tile.di_loc<{self._place(loc.position)} in {self._place(loc.scope)}>"
        return "unknown"

    def _fused(self, loc: l.FusedLoc) -> str:
        metadata = "" if loc.metadata is None else f"<{self._attribute(loc.metadata)}>"
        return f"fused{metadata}[{', '.join(map(self._inner, loc.members))}]"

    def _inner(self, loc: l.Location) -> str:
        return self.aliases.get(loc) or self.instance(loc)

    def _place(self, place: Place) -> str:
        return self.aliases.get(place) or self.definition(place)

    def _attribute(self, attribute: Attribute) -> str:
        return self._place(attribute) if isinstance(attribute, Place) else self.other(attribute)

    def _known(self, scope: l.DebugScope) -> str:
        """Return a scope where only its kind can stand: in line it goes without its name."""
        return self.aliases.get(scope) or self._parameters(scope)

    def _parameters(self, scope: l.DebugScope) -> str:
        if isinstance(scope, l.DIFile):
            return f"<{string_text(scope.name)} in {string_text(scope.directory)}>"
        if isinstance(scope, l.DICompileUnit):
            return f"<file = {self._known(scope.file)}>"
        if isinstance(scope, l.DISubprogram):
            return self._subprogram(scope)
        assert isinstance(scope, l.DILexicalBlock)
        column = f", column = {scope.column}" if scope.column else ""
        return f"<scope = {self._place(scope.scope)}, file = {self._known(scope.file)}, line = {scope.line}{column}>"

    def _subprogram(self, scope: l.DISubprogram) -> str:
        names = f"name = {string_text(scope.name)}, linkageName = {string_text(scope.linkage_name)}"
        unit = self._known(scope.compile_unit)
        scope_line = f", scopeLine = {scope.scope_line}" if scope.scope_line else ""
        return f"<file = {self._known(scope.file)}, line = {scope.line}, {names}, compileUnit = {unit}{scope_line}>"


def _file_text(loc: l.FileLoc) -> str:
    start = f"{string_text(loc.file)}:{loc.line}:{loc.column}"
    if loc.end_line is None and loc.end_column is None:
        return start
    line = "" if loc.end_line in (None, loc.line) else loc.end_line
    return f"{start} to {line}:{loc.end_column}"


def parts(attribute: Attribute) -> tuple[Attribute, ...]:
    """Return the attributes inside a location or scope, in the order they are written."""
    if isinstance(attribute, l.NameLoc):
        return () if attribute.child == l.UNKNOWN else (attribute.child,)
    if isinstance(attribute, l.CallSiteLoc):
        return attribute.callee, attribute.caller
    if isinstance(attribute, l.FusedLoc):
        return (*(() if attribute.metadata is None else (attribute.metadata,)), *attribute.members)
    if isinstance(attribute, l.DILoc):
        return attribute.position, attribute.scope
    if isinstance(attribute, l.DICompileUnit):
        return (attribute.file,)
    if isinstance(attribute, l.DISubprogram):
        return attribute.file, attribute.compile_unit
    if isinstance(attribute, l.DILexicalBlock):
        return attribute.scope, attribute.file
    return ()


# ---------------------------------------------------------------- aliases

Keep = Callable[[l.Location], l.Location]


def written(loc: l.Location) -> l.Location:
    """Return the location as a program can spell it: the place in a source as a file location, bytecode offsets not at
    all."""
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
    """Writes the locations of operations through aliases.

    `places` are all of them, in the order operations print; `other` writes any other attribute.
    """

    def __init__(self, places: Iterable[l.Location], other: Callable[[Attribute], str]) -> None:
        self._other = other
        found: dict[Place, int] = {}
        for place in places:
            _visit(place, found)
        order = sorted(found, key=lambda place: (found[place], _base(place)))
        self.aliases = _numbered(order)

    def reference(self, place: l.Location) -> str:
        """Return `` loc(#loc3)``, to be put behind an operation."""
        return f" loc({self.aliases[place]})"

    def definitions(self) -> list[str]:
        """Return one line for each alias; each line uses only aliases of earlier lines."""
        text = PlaceText(self.aliases, self._other)
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
