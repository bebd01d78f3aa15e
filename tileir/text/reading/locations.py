"""Read locations and debug attributes (spec: debug#locations), whose aliases may be used before they are defined."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tileir.ir import loc as l
from tileir.ir.attributes import Attribute
from tileir.ir.diagnostics import did_you_mean
from tileir.text.reading import codes
from tileir.text.reading.reader import MAX_NESTING, Reader, shown_token

ReadAttribute = Callable[[Reader], Attribute]
_PREFIX = "#cuda_tile."


def location_in_brackets(reader: Reader, metadata: ReadAttribute) -> l.Location:
    """Read ``(instance)`` after ``loc``."""
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
    found = _call_site(reader, metadata) if token == "callsite" else _fused(reader, metadata)
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


def _call_site(reader: Reader, metadata: ReadAttribute) -> l.Location:
    reader.expect("(")
    callee = _instance(reader, metadata)
    reader.expect("at")
    caller = _instance(reader, metadata)
    reader.expect(")")
    return l.CallSiteLoc(callee, caller)


def _fused(reader: Reader, metadata: ReadAttribute) -> l.Location:
    carried = None
    if reader.accept("<"):
        carried = metadata(reader)
        reader.expect(">")
    reader.expect("[")
    return l.FusedLoc(tuple(reader.comma_list(lambda: _instance(reader, metadata), "]")), carried)


def _reference(reader: Reader) -> l.Location:
    """Return an alias, perhaps of a later definition, or a location of the dialect."""
    token, at = reader.peek(), reader.here()
    if token.startswith("#cuda_tile"):
        found = _debug_reader(reader)(reader)
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


@dataclass(frozen=True)
class _Key:
    """A parameter of a debug attribute: a string, a number, or another debug attribute of a given class."""

    name: str
    kind: type[str] | type[int] | type[l.DebugScope]
    optional: bool = False


_LINE = _Key("line", int)
_FILE = _Key("file", l.DIFile)
_PARAMETERS: dict[str, tuple[type[Attribute], tuple[_Key, ...]]] = {
    "di_compile_unit": (l.DICompileUnit, (_FILE,)),
    "di_subprogram": (
        l.DISubprogram,
        (
            _FILE,
            _LINE,
            _Key("name", str),
            _Key("linkageName", str),
            _Key("compileUnit", l.DICompileUnit),
            _Key("scopeLine", int, optional=True),
        ),
    ),
    "di_lexical_block": (
        l.DILexicalBlock,
        (_Key("scope", l.LocalScope), _FILE, _LINE, _Key("column", int, optional=True)),
    ),
}
_WITHOUT_HEAD: dict[type, str] = {l.DIFile: "di_file", l.DICompileUnit: "di_compile_unit"}
"""Classes whose parameters may stand without the name of the attribute."""


def _debug_reader(reader: Reader) -> ReadAttribute:
    """Return the function that reads the rest of ``#cuda_tile.di_...<...>`` after its name, which is taken."""
    mnemonic = reader.peek().removeprefix(_PREFIX)
    read = DEBUG_ATTRIBUTES.get(mnemonic)
    if read is None:
        hint = did_you_mean(mnemonic, DEBUG_ATTRIBUTES)
        message = f"expected a debug-info attribute of cuda_tile, got the unknown name '{mnemonic}'"
        reader.fail(codes.UNKNOWN_ATTRIBUTE, message, hint=hint)
    reader.index += 1
    return read


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
    position = _position(reader)
    if not isinstance(position, l.FileLoc):
        reader.fail(codes.DEBUG_INFO, 'expected a file position such as loc("file":1:2) in a di_loc, got another', at)
    reader.expect("in")
    at = reader.here()
    scope = _debug_value(reader, l.LocalScope)
    if not isinstance(scope, l.LocalScope):
        reader.fail(codes.DEBUG_INFO, "expected a subprogram or a lexical block, got another attribute", at)
    reader.expect(">")
    return l.DILoc(position, scope)


def _position(reader: Reader) -> Attribute:
    if reader.accept("loc"):
        return location_in_brackets(reader, lambda inner: inner.expected("a file position"))
    return _alias(reader, 'a file position such as loc("file":1:2)')


def _alias(reader: Reader, what: str) -> Attribute:
    token = reader.peek()
    if token[0] != "#":
        reader.expected(what)
    return reader.alias()


def _parameters_reader(mnemonic: str) -> Callable[[Reader], Attribute]:
    cls, keys = _PARAMETERS[mnemonic]
    by_name = {key.name: key for key in keys}

    def read(reader: Reader) -> Attribute:
        at = reader.place(reader.starts[reader.index - 1], reader.starts[reader.index])
        reader.enter()
        found: dict[str, str | int | Attribute] = {}
        reader.expect("<")
        while not found or not reader.accept(">"):
            if found:
                reader.expect(",", "',' or '>'")
            key = _key(reader, by_name, found)
            found[key.name] = _value(reader, key)
        reader.depth -= 1
        missing = [key.name for key in keys if not key.optional and key.name not in found]
        if missing:
            reader.fail(codes.DEBUG_INFO, f"expected '{missing[0]}' in a {mnemonic}, got none", at)
        return cls(*(found.get(key.name, 0) for key in keys))

    return read


def _key(reader: Reader, by_name: dict[str, _Key], found: dict[str, str | int | Attribute]) -> _Key:
    """Read ``name =``."""
    at = reader.here()
    name = reader.word("a key")
    key = by_name.get(name)
    if key is None:
        hint = did_you_mean(name, by_name)
        reader.fail(codes.DEBUG_INFO, f"expected one of {', '.join(by_name)}, got {shown_token(name)}", at, hint=hint)
    if name in found:
        reader.fail(codes.DUPLICATE, f"expected each key once, got {shown_token(name)} again", at)
    reader.expect("=")
    return key


def _value(reader: Reader, key: _Key) -> str | int | Attribute:
    if key.kind is str:
        return reader.string()
    if key.kind is int:
        return reader.integer("a number", 32, unsigned=True)
    at = reader.here()
    found = _debug_value(reader, key.kind)
    if not isinstance(found, key.kind):
        reader.fail(codes.DEBUG_INFO, f"expected another kind of attribute for '{key.name}'", at)
    return found


def _debug_value(reader: Reader, kind: type) -> Attribute:
    """Read a debug attribute in line, with its name or (if `kind` implies it) without, or an alias."""
    token = reader.peek()
    if token == "<" and kind in _WITHOUT_HEAD:
        return DEBUG_ATTRIBUTES[_WITHOUT_HEAD[kind]](reader)
    if token.startswith("#cuda_tile"):
        return _debug_reader(reader)(reader)
    return _alias(reader, "a debug-info attribute")


DEBUG_ATTRIBUTES: dict[str, Callable[[Reader], Attribute]] = {
    **{mnemonic: _parameters_reader(mnemonic) for mnemonic in _PARAMETERS},
    "di_file": _di_file,
    "di_loc": _di_loc,
}
