"""Definitions, uses and renaming of names, and what the editor shows when the mouse rests on one."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lsprotocol import types as lsp

from tileir.analysis.forms import Affine
from tileir.analysis.ranges import MAX_DIVISOR, Range
from tileir.analysis.walk import Walk
from tileir.ir.core import Op, Value
from tileir.ir.types import PointerType, TileType
from tileir.ops.module import Entry
from tileir.text.reading.hints import PREFIX, spellings
from tileir.text.reference import operation_page
from tileir.tools.lsp.neighbours import axes
from tileir.tools.lsp.reading import ValueName, token_around
from tileir.tools.lsp.snapshot import Snapshot, item_of

_NEW_VALUE = re.compile(r"%[\w$.-]+$", re.ASCII)
_NEW_SYMBOL = re.compile(r"@[A-Za-z_][\w$.]*$", re.ASCII)
_NEW_ALIAS = re.compile(r"[!#][A-Za-z_][\w$]*$", re.ASCII)
_ITEM = re.compile(r"(?:entry|global|func|module)(?:\s+(?:constant|public|private))*\s*$")
_COMMENT_OR_STRING = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"')


class RenameError(Exception):
    """A new name that cannot be."""


@dataclass(frozen=True)
class Named:
    """A name: its definition (None if there is none) and all its places, as offsets."""

    name: str
    definition: int | None
    places: list[int]
    value: ValueName | None = None


def named_at(snapshot: Snapshot, position: lsp.Position) -> Named | None:
    """Return the name at a position with its definition and uses."""
    begin, token = token_around(snapshot.text, snapshot.lines.offset(position))
    value = snapshot.reading.name_at(begin)
    if value is not None:
        return Named(value.name, value.begin, snapshot.reading.places_of(value), value)
    symbol = snapshot.reading.symbols.get(begin)
    if symbol is not None:
        return _symbol(snapshot, token, symbol)
    if token[:1] in ("#", "!") and len(token) > 1 and "." not in token:
        return _alias(snapshot, token)
    return None


def _symbol(snapshot: Snapshot, token: str, symbol: str) -> Named:
    places = sorted(at for at, name in snapshot.reading.symbols.items() if name == symbol)
    defined = [at for at in places if _defines_symbol(snapshot.text, at)]
    return Named(token, defined[0] if defined else None, places)


def _defines_symbol(text: str, at: int) -> bool:
    """Return whether the word in front declares an item."""
    return bool(
        re.search(r"(?:entry|global|func|module)(?:\s+(?:constant|public|private))*\s*$", text[max(0, at - 60) : at])
    )


def _alias(snapshot: Snapshot, token: str) -> Named | None:
    blanked = _COMMENT_OR_STRING.sub(lambda match: " " * len(match[0]), snapshot.text)
    places = [found.start() for found in re.finditer(rf"{re.escape(token)}(?![\w$.-])", blanked)]
    defined = [at for at in places if re.match(r"\s*=(?!=)", blanked[at + len(token) :])]
    return Named(token, defined[0], places) if defined else None


def locations(snapshot: Snapshot, uri: str, name: Named, places: list[int]) -> list[lsp.Location]:
    return [lsp.Location(uri, snapshot.lines.range(at, at + len(name.name))) for at in places]


def renamed(snapshot: Snapshot, uri: str, name: Named, new: str) -> lsp.WorkspaceEdit:
    """Return the edits that give another name. Raises `RenameError`."""
    new = new if new[:1] == name.name[:1] else name.name[0] + new
    _check(snapshot, name, new)
    edits = [lsp.TextEdit(snapshot.lines.range(at, at + len(name.name)), new) for at in name.places]
    return lsp.WorkspaceEdit(changes={uri: edits})


def _check(snapshot: Snapshot, name: Named, new: str) -> None:
    form = {"%": _NEW_VALUE, "@": _NEW_SYMBOL}.get(new[0], _NEW_ALIAS)
    if not form.match(new):
        raise RenameError(f"expected a name such as {new[0]}name, got '{new}'")
    if new == name.name:
        return
    if name.value is not None:
        _check_value(snapshot, name.value, new)
        return
    reading = snapshot.reading
    symbols = {f"@{symbol}" for symbol in reading.symbols.values()}
    known = symbols if new[0] == "@" else {*reading.types, *reading.aliases}
    if new in known:
        raise RenameError(f"expected a new name, got '{new}', which the program has")


def _check_value(snapshot: Snapshot, value: ValueName, new: str) -> None:
    """Check that no other name is the same where both are seen."""
    for other in snapshot.reading.definitions.values():
        if other.name == new and other.begin < value.until and value.begin < other.until:
            line = snapshot.lines.position(other.begin).line + 1
            raise RenameError(f"expected a new name, got '{new}', which line {line} defines")


_LINK = re.compile(r"; \[reference\]\([^)]*\)")
_NUMBERED = re.compile(r"\b(?:arg|memory_)(\d+)\b")
LONGEST_FORM = 200


def hover(snapshot: Snapshot, position: lsp.Position) -> lsp.Hover | None:
    """Return the text about the token at a position; None if there is none."""
    begin, token = token_around(snapshot.text, snapshot.lines.offset(position))
    name = snapshot.reading.name_at(begin)
    text = value_text(snapshot, name) if name else _word_text(snapshot, token)
    if text is None:
        return None
    content = lsp.MarkupContent(lsp.MarkupKind.Markdown, text)
    return lsp.Hover(content, snapshot.lines.range(begin, begin + len(token)))


def _word_text(snapshot: Snapshot, token: str) -> str | None:
    op = spellings().get(token.strip('"').removeprefix(PREFIX))
    if op is not None:
        return _LINK.sub("", operation_page(op))
    if token.startswith("!") and token in snapshot.reading.types:
        return f"```tileir\n{token} = {snapshot.reading.types[token].text}\n```"
    if token.startswith("#") and snapshot.reading.aliases.get(token) is not None:
        return f"```tileir\n{token} = {snapshot.reading.aliases[token]!r}\n```"
    return None


def value_text(snapshot: Snapshot, name: ValueName) -> str:
    """Return the type of a value, its origin, and what is known of its numbers."""
    value = name.value
    parts = [f"```tileir\n{name.name} : {value.type.text}\n```", _origin(value)]
    walk = snapshot.walk_of(value)
    if walk is not None:
        parts += known_of(walk, value)
    return "\n\n".join(part for part in parts if part)


def _origin(value: Value) -> str:
    owner = value.owner
    if isinstance(owner, Op):
        which = f", result {value.index}" if len(owner.results) > 1 else ""
        return f"of `{owner.spec.name}`{which}: {owner.spec.doc.splitlines()[0] if owner.spec.doc else ''}"
    parent = owner.parent
    if parent is None:
        return ""
    return (
        f"parameter {value.index} of `@{parent.sym_name}`"
        if isinstance(parent, Entry)
        else (f"argument {value.index} of the body of `{parent.spec.name}`")
    )


# ---------------------------------------------------------------- numbers


def known_of(walk: Walk, value: Value) -> list[str]:
    """Return sentences about the numbers of a value: none of one that has none."""
    form = walk.known.form(value)
    if not isinstance(form, Affine) or not isinstance(value.type, TileType):
        return []
    return [*_expression(form, value), *_bounds(walk, form, value.type), *_neighbours(walk, form, value.type)]


def _expression(form: Affine, value: Value) -> list[str]:
    text = _named(repr(form.form), value).replace("1*", "")
    if len(text) > LONGEST_FORM:
        return []
    return [f"elements: `{text}`" + (f" (modulo 2^{form.bits})" if form.needs else "")]


def _named(text: str, value: Value) -> str:
    """Return the text with parameters by their names instead of their numbers."""
    item = item_of(value)
    body = None if item is None else item.regions[0]
    names = () if body is None else body.arg_names
    return _NUMBERED.sub(lambda match: names[int(match[1])] if int(match[1]) < len(names) else match[0], text)


def _bounds(walk: Walk, form: Affine, type: TileType) -> list[str]:
    found = form.form.range_if(walk.promises.range)
    said = []
    if not isinstance(type.element, PointerType):
        found = form.range if form.needs else found
        limits = Range(1, -1 << (form.bits - 1), (1 << (form.bits - 1)) - 1)
        if found.constant is not None:
            said.append(f"is {found.constant}")
        elif found.within(limits) and (found.low, found.high) != (limits.low, limits.high):
            said.append(f"from {found.low} to {found.high}")
    if 1 < found.divisor < MAX_DIVISOR and found.constant is None:
        said.append(f"a multiple of {found.divisor}")
    return ["range: " + ", ".join(said)] if said else []


def _neighbours(walk: Walk, form: Affine, type: TileType) -> list[str]:
    if type.rank == 0 or form.needs:
        return []
    found = axes(form.form, type, walk.promises.range)
    rows = [f"| {dim} | {one.contiguity} | {one.divisibility} | {one.constancy} |" for dim, one in enumerate(found)]
    return ["\n".join(["| dim | contiguous | divisible by | constant |", "|---|---|---|---|", *rows])]
