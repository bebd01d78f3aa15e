"""Tokens of MLIR text, as far as TTIR has them."""

from __future__ import annotations

import re
from typing import NoReturn

from tileir.ir.escaping import shown
from tileir.ir.loc import Source, SourceLoc
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
_ESCAPE = re.compile(rb'\\([0-9a-fA-F]{2}|[nt"\\])')
_ESCAPED = {b"n": b"\n", b"t": b"\t", b'"': b'"', b"\\": b"\\"}
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
        return unquoted(self.take("string", "a string"))

    def integer(self) -> int:
        text = self.take("number", "an integer")
        try:
            return int(text, 0)
        except ValueError:
            self.index -= 1
            self.expected("an integer")


def unquoted(text: str) -> str:
    """Return the content of a string in quotes."""
    inner = text[1:-1].encode("utf-8", "surrogateescape")
    inner = _ESCAPE.sub(lambda match: _ESCAPED.get(match[1]) or bytes.fromhex(match[1].decode()), inner)
    return inner.decode("utf-8", "surrogateescape")
