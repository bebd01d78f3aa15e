"""Places in Python: ``loc(#loc3)`` behind an operation, and what ``#loc3`` stands for."""

from __future__ import annotations

from tileir.ir.loc import UNKNOWN, CallSiteLoc, FileLoc, FusedLoc, Location, NameLoc, file_position
from tileir.triton.importer.faults import SYNTAX, ImportFault
from tileir.triton.importer.lexer import Tokens

MAX_DEPTH = 200
"""The depth of nested locations; deeper ones become unknown."""
_LIBRARY = ("/triton/language/", "\\triton\\language\\")


class Locations:
    """The locations of a text: aliases are looked up where they are used, as they may be defined behind that."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._defined = {
            text: index + 2
            for index, (kind, text) in enumerate(zip(tokens.kinds, tokens.texts))
            if kind == "alias" and tokens.texts[index + 1] == "=" and tokens.texts[index + 2] == "loc"
        }
        self._known: dict[str, Location] = {}
        self._depth = 0

    def reference(self) -> Location | None:
        """Return the location that is written next, which is taken; None if there is none, or it is unknown."""
        if self._tokens.text != "loc":
            return None
        found = self._read()
        return None if found is UNKNOWN else found

    def _read(self) -> Location:
        """Read ``loc(...)``."""
        self._tokens.expect("loc")
        self._tokens.expect("(")
        found = self._inner()
        self._tokens.expect(")")
        return found

    def _inner(self) -> Location:
        tokens = self._tokens
        if tokens.kind == "alias":
            name = tokens.text
            tokens.index += 1
            return self._alias(name)
        if tokens.accept("unknown"):
            return UNKNOWN
        if tokens.accept("callsite"):
            tokens.expect("(")
            callee = self._inner()
            tokens.expect("at")
            caller = self._inner()
            tokens.expect(")")
            return _call_site(callee, caller)
        if tokens.accept("fused"):
            return self._fused()
        if tokens.text == "loc":
            return self._read()
        return self._named()

    def _named(self) -> Location:
        """Read ``"file.py":3:1``, ``"file.py":3:1 to 3:5`` or ``"x"(#loc)``."""
        tokens = self._tokens
        name = tokens.string()
        if tokens.accept(":"):
            line = tokens.integer()
            tokens.expect(":")
            place = FileLoc(name, line, tokens.integer())
            if tokens.accept("to"):
                for _ in range(4):  # where the range ends: a line, or only a column
                    tokens.index += tokens.text == ":" or tokens.kind == "number"
            return place
        if not tokens.accept("("):
            return NameLoc(name)
        child = self._inner()
        tokens.expect(")")
        return NameLoc(name, child)

    def _fused(self) -> Location:
        tokens = self._tokens
        if tokens.text == "<":
            while not tokens.accept(">"):
                tokens.index += 1
        tokens.expect("[")
        members = [self._inner()]
        while tokens.accept(","):
            members.append(self._inner())
        tokens.expect("]")
        return FusedLoc(tuple(members))

    def _alias(self, name: str) -> Location:
        if name not in self._known:
            self._known[name] = UNKNOWN  # what it is inside its own definition
            self._known[name] = self._definition(name)
        return self._known[name]

    def _definition(self, name: str) -> Location:
        tokens = self._tokens
        if name not in self._defined:
            tokens.index -= 1
            raise ImportFault(SYNTAX, f"expected a location that is defined, got '{name}'", tokens.place())
        if self._depth >= MAX_DEPTH:
            return UNKNOWN
        here, tokens.index = tokens.index, self._defined[name]
        self._depth += 1
        found = self._read()
        self._depth -= 1
        tokens.index = here
        return found


def _call_site(callee: Location, caller: Location) -> Location:
    """Return the place of a call; inside Triton's own library the caller's, which is the user's."""
    place = file_position(callee)
    if place is None or (isinstance(place, FileLoc) and any(part in place.file for part in _LIBRARY)):
        return caller
    return CallSiteLoc(callee, caller)
