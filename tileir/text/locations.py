"""Locations and debug scopes (spec: debug#locations, spec: debug#attributes): reading, and printing through aliases.

Aliases may be used before they are defined. Debug printing writes ``loc(#loc3)`` behind each operation and the list of
aliases at the end (spec: debug#printing).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from tileir.ir import loc as l
from tileir.ir.attributes import Attribute
from tileir.ir.diagnostics import did_you_mean
from tileir.text.numbers import string_text
from tileir.text.reading import codes
from tileir.text.reading.reader import MAX_NESTING, Reader, shown_token

ReadAttribute = Callable[[Reader], Attribute]
_PREFIX = "#cuda_tile."


def location_in_brackets(reader: Reader, metadata: ReadAttribute) -> l.Location:
    """Read ``(instance)`` after ``loc``; `metadata` reads the attribute that a fused location may carry."""
    reader.expect("(")
    found = _instance(reader, metadata)
    reader.expect(")")
    return found


def _instance(reader: Reader, metadata: ReadAttribute) -> l.Location:
    token = reader.tokens[reader.index]
    if token[0] == '"':
        return _named(reader, metadata)
    if token[0] == "#":
        return _reference(reader)
    if token not in ("unknown", "callsite", "fused"):
        reader.expected("a location")
    reader.index += 1
    if token == "unknown":
        return l.UNKNOWN
    reader.enter()
    if token == "callsite":
        reader.expect("(")
        callee = _instance(reader, metadata)
        reader.expect("at")
        found: l.Location = l.CallSiteLoc(callee, _instance(reader, metadata))
        reader.expect(")")
    else:
        carried = reader.angled(lambda: metadata(reader)) if reader.peek() == "<" else None
        reader.expect("[")
        found = l.FusedLoc(tuple(reader.comma_list(lambda: _instance(reader, metadata), "]")), carried)
    reader.depth -= 1
    return found


def _named(reader: Reader, metadata: ReadAttribute) -> l.Location:
    """Read ``"file":1:2``, ``"file":1:2 to 3:4``, ``"name"`` or ``"name"(instance)``."""
    name = reader.string()
    if reader.accept(":"):
        return _file_position(reader, name)
    if reader.peek() != "(":
        return l.NameLoc(name)
    reader.enter()
    child = location_in_brackets(reader, metadata)
    reader.depth -= 1
    return l.NameLoc(name, child)


def _file_position(reader: Reader, file: str) -> l.FileLoc:
    line = reader.integer("a line number", 32, unsigned=True)
    reader.expect(":")
    column = reader.integer("a column number", 32, unsigned=True)
    if not reader.accept("to"):
        return l.FileLoc(file, line, column)
    end_line = line if reader.peek() == ":" else reader.integer("a line number", 32, unsigned=True)
    reader.expect(":")
    return l.FileLoc(file, line, column, end_line, reader.integer("a column number", 32, unsigned=True))


def _reference(reader: Reader) -> l.Location:
    """Return an alias, perhaps of a later definition, or a location of the dialect."""
    token, at = reader.peek(), reader.here()
    if token.startswith("#cuda_tile"):
        found = _debug_attribute(reader)
    else:
        if token not in reader.aliases:
            reader.index += 1
            return l.LocAlias(token, at)
        found = reader.alias()
    return as_location(reader, found, at)


def as_location(reader: Reader, found: Attribute, at: l.SourceLoc) -> l.Location:
    if not isinstance(found, l.Location):
        reader.fail(codes.ALIAS, "expected a location, got another attribute", at)
    return found


def resolved(reader: Reader, loc: l.Location, depth: int = 0) -> l.Location:
    """Return `loc` with its aliases, which must all be defined by now, replaced by their locations.

    Aliases are resolved once and then kept without aliases, so that shared ones stay shared.
    """
    if isinstance(loc, l.LocAlias):
        return _resolved_alias(reader, loc, depth)
    if isinstance(loc, l.NameLoc):
        return l.NameLoc(loc.name, resolved(reader, loc.child, depth + 1))
    if isinstance(loc, l.CallSiteLoc):
        return l.CallSiteLoc(resolved(reader, loc.callee, depth + 1), resolved(reader, loc.caller, depth + 1))
    if isinstance(loc, l.FusedLoc):
        return l.FusedLoc(tuple(resolved(reader, member, depth + 1) for member in loc.members), loc.metadata)
    return loc


def _resolved_alias(reader: Reader, loc: l.LocAlias, depth: int) -> l.Location:
    if depth > MAX_NESTING:
        message = f"expected a location nested at most {MAX_NESTING} deep, got a deeper one"
        reader.fail(codes.NESTING, message, loc.at)
    found = as_location(reader, reader.alias_named(loc.name, loc.at), loc.at)
    if loc.name not in reader.resolved:
        # Reached again before it is resolved, the alias stands for itself: the depth runs out.
        found = reader.aliases[loc.name] = resolved(reader, found, depth + 1)
        reader.resolved.add(loc.name)
    return found


# ---------------------------------------------------------------- debug info


def _debug_attribute(reader: Reader) -> Attribute:
    """Read ``#cuda_tile.di_...<...>``."""
    mnemonic = reader.peek().removeprefix(_PREFIX)
    return dialect_attribute(reader, mnemonic, DEBUG_ATTRIBUTES, "a debug-info attribute")


def dialect_attribute(reader: Reader, mnemonic: str, known: Mapping[str, ReadAttribute], what: str) -> Attribute:
    """Return the attribute of the dialect whose name is the next token, one of those in `known`."""
    read = known.get(mnemonic)
    if read is None:
        hint = did_you_mean(mnemonic, known)
        message = f"expected {what} of cuda_tile, got the unknown name '{mnemonic}'"
        reader.fail(codes.UNKNOWN_ATTRIBUTE, message, hint=hint)
    reader.index += 1
    return read(reader)


def _di_file(reader: Reader) -> Attribute:
    reader.expect("<")
    name = reader.string("a file name")
    reader.expect("in")
    directory = reader.string("a directory")
    reader.expect(">")
    return l.DIFile(name, directory)


def _di_loc(reader: Reader) -> Attribute:
    reader.expect("<")
    at = reader.here()
    if reader.accept("loc"):
        position: Attribute = location_in_brackets(reader, lambda inner: inner.expected("a file position"))
    else:
        position = _alias(reader, 'a file position such as loc("file":1:2)')
    if not isinstance(position, l.FileLoc):
        reader.fail(codes.DEBUG_INFO, 'expected a file position such as loc("file":1:2) in a di_loc, got another', at)
    reader.expect("in")
    at = reader.here()
    scope = _scope(reader, l.LocalScope)
    if not isinstance(scope, l.LocalScope):
        reader.fail(codes.DEBUG_INFO, "expected a subprogram or a lexical block, got another attribute", at)
    reader.expect(">")
    return l.DILoc(position, scope)


def _alias(reader: Reader, what: str) -> Attribute:
    if reader.peek()[0] != "#":
        reader.expected(what)
    return reader.alias()


def _scope_reader(cls: type[l.DebugScope]) -> ReadAttribute:
    """Return the function that reads the fields of a scope, in any order, after its name."""
    by_key = {field.key: field for field in cls.fields}

    def read(reader: Reader) -> Attribute:
        at = reader.place(reader.starts[reader.index - 1], reader.starts[reader.index])
        reader.enter()
        found: dict[str, str | int | Attribute] = {}
        reader.expect("<")
        while not found or not reader.accept(">"):
            if found:
                reader.expect(",", "',' or '>'")
            key = _key(reader, by_key, found)
            found[key] = _value(reader, by_key[key])
        reader.depth -= 1
        missing = [field.key for field in cls.fields if not field.optional and field.key not in found]
        if missing:
            reader.fail(codes.DEBUG_INFO, f"expected '{missing[0]}' in a {cls.mnemonic}, got none", at)
        return cls(*(found.get(key, 0) for key in by_key))

    return read


def _key(reader: Reader, by_key: dict[str, l.ScopeField], found: dict[str, str | int | Attribute]) -> str:
    """Read ``name =``."""
    at = reader.here()
    key = reader.word("a key")
    if key not in by_key:
        hint = did_you_mean(key, by_key)
        reader.fail(codes.DEBUG_INFO, f"expected one of {', '.join(by_key)}, got {shown_token(key)}", at, hint=hint)
    if key in found:
        reader.fail(codes.DUPLICATE, f"expected each key once, got {shown_token(key)} again", at)
    reader.expect("=")
    return key


def _value(reader: Reader, field: l.ScopeField) -> str | int | Attribute:
    if field.holds is str:
        return reader.string()
    if field.holds is int:
        return reader.integer("a number", 32, unsigned=True)
    at = reader.here()
    found = _scope(reader, field.holds)
    if not isinstance(found, field.holds):
        reader.fail(codes.DEBUG_INFO, f"expected another kind of attribute for '{field.key}'", at)
    return found


def _scope(reader: Reader, kind: type[l.DebugScope]) -> Attribute:
    """Read a debug attribute in line, with its name or (if `kind` implies it) without, or an alias."""
    token = reader.peek()
    if token == "<" and kind.mnemonic:
        return DEBUG_ATTRIBUTES[kind.mnemonic](reader)
    if token.startswith("#cuda_tile"):
        return _debug_attribute(reader)
    return _alias(reader, "a debug-info attribute")


DEBUG_ATTRIBUTES: dict[str, ReadAttribute] = {
    **{cls.mnemonic: _scope_reader(cls) for cls in (l.DICompileUnit, l.DISubprogram, l.DILexicalBlock)},
    "di_file": _di_file,
    "di_loc": _di_loc,
}


# ---------------------------------------------------------------- printing


Place = l.Location | l.DebugScope


class PlaceText:
    """Writes locations and scopes; one that has an alias is written as the alias wherever it stands inside another.

    `other` writes the attribute that a fused location may carry. `places` and what is inside them get aliases; they are
    in the order in which operations print.
    """

    def __init__(self, other: Callable[[Attribute], str], places: Iterable[l.Location] = ()) -> None:
        self._other = other
        found: dict[Place, int] = {}
        for place in places:
            _visit(place, found)
        self.aliases: dict[Place, str] = {}
        counts: Counter[str] = Counter()
        for one in sorted(found, key=lambda one: (found[one], _base(one))):
            base = _base(one)
            self.aliases[one] = f"#{base}{counts[base] or ''}"
            counts[base] += 1

    def reference(self, place: l.Location) -> str:
        """Return `` loc(#loc3)``, to be put behind an operation."""
        return f" loc({self.aliases[place]})"

    def definitions(self) -> list[str]:
        """Return one line for each alias; each line uses only aliases of earlier lines."""
        return [f"{alias} = {self.definition(place)}" for place, alias in self.aliases.items()]

    def definition(self, place: Place) -> str:
        """Return the attribute itself, never its alias."""
        if isinstance(place, l.DebugScope):
            return f"{_PREFIX}{place.mnemonic}{self._fields(place)}"
        text = self._instance(place)
        return text if isinstance(place, l.DILoc) else f"loc({text})"

    def _instance(self, loc: l.Location) -> str:
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
            metadata = "" if loc.metadata is None else f"<{self._attribute(loc.metadata)}>"
            return f"fused{metadata}[{', '.join(map(self._inner, loc.members))}]"
        if isinstance(loc, l.DILoc):
            return f"{_PREFIX}di_loc<{self._attribute(loc.position)} in {self._attribute(loc.scope)}>"
        return "unknown"

    def _inner(self, loc: l.Location) -> str:
        return self.aliases.get(loc) or self._instance(loc)

    def _attribute(self, attribute: Attribute) -> str:
        if not isinstance(attribute, Place):
            return self._other(attribute)
        return self.aliases.get(attribute) or self.definition(attribute)

    def _fields(self, scope: l.DebugScope) -> str:
        if isinstance(scope, l.DIFile):
            return f"<{string_text(scope.name)} in {string_text(scope.directory)}>"
        values = [(field, getattr(scope, field.name)) for field in scope.fields]
        written = [f"{one.key} = {self._value(one, value)}" for one, value in values if value or not one.optional]
        return f"<{', '.join(written)}>"

    def _value(self, field: l.ScopeField, value: object) -> str:
        """Return a value; a scope goes without its name where only its kind can stand."""
        if isinstance(value, l.DebugScope):
            is_implied = field.holds is type(value)
            return (self.aliases.get(value) or self._fields(value)) if is_implied else self._attribute(value)
        return string_text(value) if isinstance(value, str) else str(value)


def _file_text(loc: l.FileLoc) -> str:
    start = f"{string_text(loc.file)}:{loc.line}:{loc.column}"
    if loc.end_line is None and loc.end_column is None:
        return start
    line = "" if loc.end_line in (None, loc.line) else loc.end_line
    return f"{start} to {line}:{loc.end_column}"


# ---------------------------------------------------------------- aliases


def _visit(attribute: Attribute, depths: dict[Place, int]) -> int:
    """Record `attribute` and what is inside it; gives its depth, or -1 for what has no alias."""
    if not isinstance(attribute, Place):
        return -1
    if attribute not in depths:
        depths[attribute] = 1 + max([_visit(part, depths) for part in parts(attribute)], default=-1)
    return depths[attribute]


def parts(place: Place) -> tuple[Attribute, ...]:
    """Return the attributes inside a location or scope, in the order they are written."""
    if isinstance(place, l.NameLoc):
        return () if place.child == l.UNKNOWN else (place.child,)
    if isinstance(place, l.CallSiteLoc):
        return place.callee, place.caller
    if isinstance(place, l.FusedLoc):
        return (*(() if place.metadata is None else (place.metadata,)), *place.members)
    if isinstance(place, l.DILoc):
        return place.position, place.scope
    values = [getattr(place, field.name) for field in place.fields] if isinstance(place, l.DebugScope) else []
    return tuple(value for value in values if isinstance(value, l.DebugScope))


def _base(place: Place) -> str:
    return place.mnemonic if isinstance(place, l.DebugScope) else "loc"


# ---------------------------------------------------------------- parts of locations that are kept


Keep = Callable[[l.Location], l.Location]


def written(loc: l.Location) -> l.Location:
    """Return the location as a program can spell it: the place in a source as a file location, bytecode offsets not at
    all."""
    if isinstance(loc, l.SourceLoc):
        return loc.file_loc
    return l.UNKNOWN if isinstance(loc, l.BytecodeLoc) else loc


def stored(loc: l.Location) -> l.Location:
    """Return debug locations and call sites between them, which bytecode keeps (spec: bytecode-debug#writing)."""
    if isinstance(loc, l.DILoc):
        return loc
    if isinstance(loc, l.CallSiteLoc):
        return l.CallSiteLoc(stored(loc.callee), stored(loc.caller))
    return l.UNKNOWN
