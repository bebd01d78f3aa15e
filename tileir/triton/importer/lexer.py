"""Tokens and locations of MLIR text, as far as TTIR has them."""

from __future__ import annotations

import re
from typing import NoReturn

from tileir.ir.escaping import shown
from tileir.ir.loc import UNKNOWN, CallSiteLoc, FileLoc, FusedLoc, Location, NameLoc, Source, SourceLoc, file_position
from tileir.text.reading.reader import unescaped
from tileir.triton.importer.faults import SYNTAX, ImportFault

_TOKEN = re.compile(
    r"""
    (?P<skip>   [ \t\r\n]+ | //[^\n]* )
  | (?P<value>  %[\w$.\-]+(?:\#\d+)? )
  | (?P<symbol> @(?:[\w$.\-]+|"(?:[^"\\\n]|\\.)*") )
  | (?P<label>  \^[\w$.\-]+ )
  | (?P<alias>  [#!][A-Za-z_][\w$.]* )
  | (?P<string> "(?:[^"\\\n]|\\.)*" )
  | (?P<number> -?0x[0-9a-fA-F]+ | -?\d+\.\d*(?:[eE][-+]?\d+)? | -?\d+(?:[eE][-+]?\d+)?(?!\d*x) )
  | (?P<shape>  (?:\d+x)+ )
  | (?P<word>   [A-Za-z_][\w$.]* )
  | (?P<mark>   -> | :: | [()\[\]{}<>,:=*?/+-] )
    """,
    re.VERBOSE,
)
END = "end"
"""The kind of the token behind the last one; its text is empty."""


class Tokens:
    """The tokens of a text, and the next one to be taken."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.kinds: list[str] = []
        self.texts: list[str] = []
        self.starts: list[int] = []
        self.index = 0
        self._split()

    def _split(self) -> None:
        text, position = self.source.text, 0
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                loc = SourceLoc(self.source, position, position + 1)
                raise ImportFault(SYNTAX, f"expected a token, got the character {text[position]!a}", loc)
            if match.lastgroup != "skip":
                self.kinds.append(str(match.lastgroup))
                self.texts.append(match.group())
                self.starts.append(position)
            position = match.end()
        for _ in range(2):  # so that a token behind the next one can always be looked at
            self.kinds.append(END)
            self.texts.append("")
            self.starts.append(len(text))

    @property
    def kind(self) -> str:
        return self.kinds[self.index]

    @property
    def text(self) -> str:
        return self.texts[self.index]

    @property
    def offset(self) -> int:
        return self.starts[self.index]

    def place(self, begin: int | None = None) -> SourceLoc:
        """Return the place of the next token, or from the offset `begin` to its beginning."""
        offset, text = self.offset, self.text
        return SourceLoc(self.source, offset if begin is None else begin, offset + (len(text) if begin is None else 0))

    def expected(self, what: str) -> NoReturn:
        """Report that the next token is not `what`."""
        got = f"'{shown(self.text)}'" if self.kind != END else "the end of the text"
        raise ImportFault(SYNTAX, f"expected {what}, got {got}", self.place())

    def take(self, kind: str, what: str) -> str:
        """Return the next token, which must be of this kind."""
        if self.kinds[self.index] != kind:
            self.expected(what)
        self.index += 1
        return self.texts[self.index - 1]

    def accept(self, text: str) -> bool:
        """Return whether the next token is this mark or word, and consume it if so."""
        if self.texts[self.index] != text or self.kinds[self.index] == "string":
            return False
        self.index += 1
        return True

    def expect(self, text: str) -> None:
        if not self.accept(text):
            self.expected(f"'{text}'")

    def string(self) -> str:
        return unescaped(self.take("string", "a string")[1:-1])

    def integer(self) -> int:
        text = self.take("number", "an integer")
        try:
            return int(text, 0)
        except ValueError:
            self.index -= 1
            self.expected("an integer")


# ---------------------------------------------------------------- locations


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
