"""Definitions, references and new names.

Knows: where values, symbols and aliases are defined and used. Does not know: what they mean.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lsprotocol import types as lsp

from tileir.tools.lsp.reading import ValueName, token_around
from tileir.tools.lsp.snapshot import Snapshot

_NEW_VALUE = re.compile(r"%[\w$.-]+$", re.ASCII)
_NEW_SYMBOL = re.compile(r"@[A-Za-z_][\w$.]*$", re.ASCII)
_NEW_ALIAS = re.compile(r"[!#][A-Za-z_][\w$]*$", re.ASCII)
_ITEM = re.compile(r"(?:entry|global|func|module)(?:\s+(?:constant|public|private))*\s*$")
_COMMENT_OR_STRING = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"')


class RenameError(Exception):
    """A new name that cannot be."""


@dataclass(frozen=True)
class Named:
    """What is called `name`: its definition (None if there is none) and all places, as offsets."""

    name: str
    definition: int | None
    places: list[int]
    value: ValueName | None = None


def named_at(snapshot: Snapshot, position: lsp.Position) -> Named | None:
    """What the name at a position stands for."""
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
    """Whether the word in front is that of an item."""
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
    """The edits that give another name. Raises `RenameError`."""
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
    """No other name may be the same where both are seen."""
    for other in snapshot.reading.definitions.values():
        if other.name == new and other.begin < value.until and value.begin < other.until:
            line = snapshot.lines.position(other.begin).line + 1
            raise RenameError(f"expected a new name, got '{new}', which line {line} defines")
