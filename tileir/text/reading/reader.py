"""The state that all readers share: the token cursor, scopes of names, faults found so far, and recovery."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple, NoReturn, TypeVar

from tileir.ir import types as t
from tileir.ir.attributes import Attribute, DenseElements
from tileir.ir.core import Block, Value
from tileir.ir.diagnostics import Diagnostic, Note, did_you_mean
from tileir.ir.loc import Source, SourceLoc
from tileir.ir.types import Type
from tileir.text.reading import codes
from tileir.text.reading.hints import keyword_hint
from tileir.text.reading.lexer import BARE_NAME, END, STRING, TokenCursor

MAX_NESTING = 128
MAX_FAULTS = 100
MAX_REPEATS = 3
MAX_SHOWN_TOKEN = 60
_ONE_CHARACTER = re.compile(r"[\w,:=(){}\[\]<>?+-]", re.ASCII)
_BARE_WORD = re.compile(BARE_NAME, re.ASCII)
_QUOTED_WORD = re.compile(r"'(\w+)'")
BOOLEANS = {"true": True, "false": False}
_CHARACTERS = {
    "#": "comments begin with //",
    "/": "comments begin with //, and end with the line",
    ";": "an operation ends without a mark: leave it out",
    ".": "a number has digits in front of its point, such as 0.5",
    "%": "a name is of ASCII letters, digits, _, $, . and -, such as %x",
    "\u201c": 'a string begins and ends with "',
}
"""Hints on characters that other languages, or texts, use."""
_WHOLE_STRING = re.compile(r'"[^"\\\n]*(?:\\(?:["\\nt]|[0-9A-Fa-f]{2})[^"\\\n]*)*"')
_STRING_TOKEN = re.compile(STRING)
_LONGEST_NUMBER = 64
"""Digits beyond which a number is too large for every field; Python itself refuses much longer ones."""

T = TypeVar("T")


class TextFault(Exception):
    """The statement being read is faulty; holds what is to be reported, or None if that was done before."""

    def __init__(self, diagnostic: Diagnostic | None) -> None:
        super().__init__(diagnostic)
        self.diagnostic = diagnostic


class GiveUp(Exception):
    """Reading on makes no sense: there are too many faults, or nothing that looks like a statement follows."""


class Reader(TokenCursor):
    """Tokens of one file, with the faults, aliases and types found so far."""

    def __init__(self, source: Source) -> None:
        super().__init__(source.text)
        self.source = source
        self.faults: list[Diagnostic] = []
        self.troubles = 0
        self.repeats: dict[tuple[str, str], list[SourceLoc]] = {}
        self.depth = 0
        self.braces = 0
        self.types: dict[str, t.Type] = t.ELEMENTS | {"token": t.TOKEN, "!cuda_tile.token": t.TOKEN}
        self.aliases: dict[str, Attribute | None] = {}
        self.resolved: set[str] = set()
        self.measures: dict[int, tuple[int, int]] = {}
        self.alias_places: dict[str, SourceLoc] = {}
        self.constants: dict[tuple[str, t.Type], DenseElements] = {}

    # ------------------------------------------------------------ faults

    def place(self, begin: int, end: int) -> SourceLoc:
        """Return the place from `begin` up to `end`; what is missing at the end of the text has no extent."""
        return SourceLoc(self.source, begin, min(end, len(self.source.text)))

    def here(self) -> SourceLoc:
        """Return the place of the next token."""
        begin = self.starts[self.index]
        token = self.tokens[self.index]
        return SourceLoc(self.source, begin, begin if token is END else begin + len(token))

    def taken(self) -> SourceLoc:
        """Return the place of the token that was taken last."""
        begin = self.starts[self.index - 1]
        return SourceLoc(self.source, begin, begin + len(self.tokens[self.index - 1]))

    def record(self, diagnostic: Diagnostic) -> None:
        """Report a fault and go on."""
        self.troubles += 1
        self.faults.append(diagnostic)
        if len(self.faults) >= MAX_FAULTS:
            message = f"expected at most {MAX_FAULTS} faults in a file, got more, the rest is not read"
            self.faults.append(Diagnostic(codes.TOO_MANY, message, diagnostic.loc))
            raise GiveUp

    def record_once(self, diagnostic: Diagnostic) -> None:
        """Report a fault and go on; one that was reported before in the same words only gets another place."""
        assert isinstance(diagnostic.loc, SourceLoc)
        self.troubles += 1
        key = diagnostic.code, diagnostic.message
        if key in self.repeats:
            self.repeats[key].append(diagnostic.loc)
        else:
            self.repeats[key] = []
            self.record(diagnostic)

    def grouped_faults(self) -> list[Diagnostic]:
        """Return the faults, each with notes on the other places where the same was found."""
        grouped = []
        for fault in self.faults:
            places = self.repeats.get((fault.code, fault.message), [])
            notes = [Note("the same here", place) for place in places[:MAX_REPEATS]]
            if len(places) > MAX_REPEATS:
                notes.append(Note(f"the same at {len(places) - MAX_REPEATS} more places"))
            grouped.append(replace(fault, notes=(*fault.notes, *notes)) if notes else fault)
        return grouped

    def fail(
        self,
        code: str,
        message: str,
        loc: SourceLoc | None = None,
        *,
        notes: tuple[Note, ...] = (),
        hint: str | None = None,
        expected: str | None = None,
        got: str | None = None,
    ) -> NoReturn:
        """Stop reading the statement, with a fault at `loc` (or else at the next token)."""
        loc = loc or self.here()
        raise TextFault(Diagnostic(code, message, loc, notes, hint, expected=expected, got=got))

    def expected(self, what: str, hint: str | None = None) -> NoReturn:
        """Report that the next token is not `what`."""
        self.expected_at(self.starts[self.index], self.tokens[self.index], what, hint)

    def expected_at(
        self, begin: int, token: str, what: str, hint: str | None = None, else_hint: str | None = None
    ) -> NoReturn:
        """Report that `token` at the offset `begin` is not `what`. `else_hint` is the hint where the token resembles
        no word of `what`."""
        if token is END:
            loc = self.place(begin, begin)
            message = f"expected {what}, got the end of the text"
            self.fail(codes.END_OF_TEXT, message, loc, expected=what, got="end of text")
        loc = self.place(begin, begin + len(token))
        self.check_token(token, loc)
        shown = shown_token(token)
        hint = hint or did_you_mean(token, _QUOTED_WORD.findall(what)) or else_hint
        self.fail(codes.EXPECTED, f"expected {what}, got {shown}", loc, hint=hint, expected=what, got=shown)

    def check_token(self, token: str, loc: SourceLoc | None = None) -> None:
        """Fail if the token is none of the language."""
        if token[0] == '"' or token[:2] == '@"':
            self.check_string(token, loc)
        elif len(token) == 1 and not _ONE_CHARACTER.fullmatch(token):
            hint = _CHARACTERS.get(token)
            message = f"expected a token, got the character {token!a}"
            self.fail(codes.CHARACTER, message, loc, hint=hint, got=ascii(token))

    def check_string(self, token: str, loc: SourceLoc | None = None) -> None:
        if not _WHOLE_STRING.fullmatch(token.lstrip("@")):
            closed = _STRING_TOKEN.fullmatch(token.lstrip("@")) and len(token) > 1 and token[-1] == '"'
            problem = "a string with a bad escape" if closed else "a string without end"
            hint = r"escapes are \", \\, \n, \t and \ with two hexadecimal digits" if closed else 'a string ends with "'
            self.fail(codes.STRING, f"expected a whole string, got {problem}", loc, hint=hint)

    def enter(self, begin: int | None = None) -> None:
        """Enter a nesting level at the next token or at `begin`; the caller decreases `depth` again."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            loc = None if begin is None else self.place(begin, begin + 1)
            self.fail(codes.NESTING, f"expected nesting of at most {MAX_NESTING} levels, got more", loc)

    def note(self, message: str, loc: SourceLoc) -> tuple[Note, ...]:
        return (Note(message, loc),)

    # ------------------------------------------------------------ tokens

    def expect(self, token: str, what: str | None = None) -> None:
        if self.tokens[self.index] != token:
            self.expected(what or f"'{token}'")
        self.index += 1

    def accept(self, token: str) -> bool:
        if self.tokens[self.index] != token:
            return False
        self.index += 1
        return True

    def expect_all(self, *tokens: str) -> None:
        for token in tokens:
            self.expect(token)

    def accept_key(self, word: str) -> bool:
        """Take ``word =``, if `word` stands here."""
        if not self.accept(word):
            return False
        self.expect("=")
        return True

    def peek(self) -> str:
        return self.tokens[self.index]

    def word(self, what: str) -> str:
        """Return a bare word."""
        token = self.tokens[self.index]
        if not _BARE_WORD.fullmatch(token):
            self.expected(what)
        self.index += 1
        return token

    def one_of(self, table: dict[str, T], what: str, hint: str | None = None) -> T:
        """Return a keyword of `table`: the value it stands for."""
        token = self.tokens[self.index]
        found = table.get(token)
        if found is None:
            self.not_one_of(token, table, what, hint)
        self.index += 1
        return found

    def not_one_of(
        self, token: str, table: Iterable[str], what: str, hint: str | None = None, loc: SourceLoc | None = None
    ) -> NoReturn:
        choices = ", ".join(table)
        message = f"expected {what} to be one of {choices}, got {shown_token(token)}"
        if loc is None and not _BARE_WORD.fullmatch(token) and token[0] != '"':
            self.expected(f"{what}: one of {choices}", hint)
        hint = keyword_hint(token.strip('"'), table) or hint
        self.fail(codes.KEYWORD, message, loc, hint=hint, expected=choices, got=shown_token(token))

    def angled(self, item: Callable[[], T]) -> T:
        """Read an item in angle brackets."""
        self.expect("<")
        found = item()
        self.expect(">")
        return found

    def comma_list(self, item: Callable[[], T], close: str) -> list[T]:
        """Read items up to the token `close`, which is taken too."""
        items: list[T] = []
        if self.accept(close):
            return items
        while True:
            items.append(item())
            self.lookahead()
            if self.accept(close):
                return items
            self.expect(",", f"',' or '{close}'")

    def some(self, item: Callable[[], T]) -> list[T]:
        """Read one or more items, separated by commas."""
        items = [item()]
        while self.accept(","):
            items.append(item())
            self.lookahead()
        return items

    # ------------------------------------------------------------ small terminals

    def alias(self) -> Attribute:
        """Return an attribute alias that is defined above."""
        found = self.alias_named(self.peek(), self.here())
        self.index += 1
        return found

    def alias_named(self, name: str, loc: SourceLoc) -> Attribute:
        if name not in self.aliases:
            hint = did_you_mean(name, self.aliases)
            message = f"expected an attribute alias that is defined, got {shown_token(name)}"
            self.fail(codes.ALIAS, message, loc, hint=hint)
        found = self.aliases[name]
        if found is None:
            # Its definition is faulty and was reported.
            raise TextFault(None)
        return found

    def string(self, what: str = "a string") -> str:
        """Return a string in quotes, unescaped."""
        token = self.tokens[self.index]
        if token[0] != '"':
            self.expected(what)
        self.check_string(token)
        self.index += 1
        return unescaped(token[1:-1])

    def symbol(self, what: str = "a symbol name such as @name") -> str:
        """Read ``@name`` or ``@"name"``, without the sign."""
        token = self.tokens[self.index]
        if token[0] != "@" or len(token) == 1:
            self.expected(what)
        if token[1] == '"':
            self.check_string(token)
            name = unescaped(token[2:-1])
        else:
            name = token[1:]
        self.index += 1
        return name

    def integer(self, what: str = "an integer", bits: int = 64, unsigned: bool = False) -> int:
        """Return an integer that fits a field of `bits` bits; true and false are 1 and 0."""
        begin = self.starts[self.index]
        negative = self.accept("-")
        token = self.tokens[self.index]
        value = 1 if token == "true" else 0 if token == "false" and not negative else whole_number(token)
        if value is None:
            self.expected(what)
        value = -value if negative else value
        low, high = (0, (1 << bits) - 1) if unsigned else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        if not low <= value <= high:
            loc = self.place(begin, self.starts[self.index] + len(token))
            got = shown_token(token)
            field = f"{'an unsigned' if unsigned else 'a signed'} {bits}-bit integer"
            message = f"expected {what} that fits {field}, got {got}"
            self.fail(codes.INTEGER_RANGE, message, loc, expected=f"{low} to {high}", got=got)
        self.index += 1
        return value


def whole_number(token: str) -> int | None:
    """Return the value of an integer token; enormous ones give a value that fits no field."""
    if not token[0].isdigit() or not token.isascii() or "." in token:
        return None
    if len(token) > _LONGEST_NUMBER:
        token = token[:2] + token[2:].lstrip("0") if token[:2] == "0x" else token.lstrip("0") or "0"
        if len(token) > _LONGEST_NUMBER:
            return 1 << (4 * _LONGEST_NUMBER)
    return int(token, 16) if token[:2] == "0x" else int(token)


def shown_token(token: str) -> str:
    """Return a token as messages quote it."""
    if token is END:
        return "the end of the text"
    shown = token if len(token) <= MAX_SHOWN_TOKEN else token[:MAX_SHOWN_TOKEN] + "..."
    return f"'{shown}'" if shown.isprintable() else ascii(shown)


_ESCAPE = re.compile(rb'\\(["\\nt]|[0-9A-Fa-f]{2})')
_NAMED_ESCAPES = {b'"': b'"', b"\\": b"\\", b"n": b"\n", b"t": b"\t"}


def unescaped(body: str) -> str:
    """Return the contents of a string; bytes that are not UTF-8 become surrogate escapes."""
    if "\\" not in body and body.isascii():
        return body
    try:
        data = body.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        data = body.encode("utf-8", "surrogatepass")
    return _ESCAPE.sub(_escaped_byte, data).decode("utf-8", "surrogateescape")


def _escaped_byte(match: re.Match[bytes]) -> bytes:
    return _NAMED_ESCAPES.get(match[1]) or bytes((int(match[1], 16),))


class PendingType(Type):
    """The type of a value that is used before its definition while no use has stated a type."""

    __slots__ = ()


PENDING = PendingType()


@dataclass
class Forward:
    """A value used before its definition, first at the offset `begin`."""

    value: Value
    begin: int
    end: int


class ClosedRegion(NamedTuple):
    """A region of the operation called `op` that has been read: its opening brace, and the offsets of all of it."""

    op: str
    opening: SourceLoc
    begin: int
    end: int


class NameScope:
    """The names of one isolated body: `values` holds what is visible now, also ``%p#1`` of a pack."""

    def __init__(self) -> None:
        self.values: dict[str, Value] = {}
        self.places: dict[str, int] = {}
        self.packs: dict[str, int] = {}
        self.defined: list[str] = []
        self.forward: dict[str, Forward] = {}
        self.closed: list[ClosedRegion] = []

    def close(self, mark: int, region: ClosedRegion) -> None:
        """Leave a region: forget the names defined since `defined` had `mark` entries."""
        self.closed.append(region)
        for name in self.defined[mark:]:
            del self.values[name]
            self.packs.pop(name, None)
        del self.defined[mark:]

    def region_of(self, name: str) -> ClosedRegion | None:
        """Return the innermost region, read before, in which `name` was defined last."""
        place = self.places.get(name, -1)
        return next((region for region in self.closed if region.begin <= place < region.end), None)

    def define(self, name: str, value: Value, begin: int) -> None:
        self.values[name] = value
        self.places[name] = begin
        self.defined.append(name)

    def later(self, name: str, owner: Block, begin: int, end: int) -> Value:
        """Return the stand-in for a value that is defined later; it becomes the value itself then."""
        found = self.forward.get(name)
        if found is None:
            found = self.forward[name] = Forward(Value(PENDING, owner, 0), begin, end)
        return found.value


_MAX_SKIPPED = 1 << 20
"""Tokens after which nothing sensible is expected to follow."""
_LINE_REACH = 256
"""Characters looked at to see whether a token is the first of its line."""
_CLAUSE_WORDS = frozenset(("to", "step", "in", "token", "loc", "at"))
"""Words other than operation names that a value or a string may follow."""


def next_statement(p: Reader, operations: Container[str], open_braces: int) -> None:
    """Skip to the next statement, to the brace that closes the region, or to the end.

    `operations` are the names that start one. `open_braces` braces of the faulty statement were open at the fault.
    """
    level = open_braces
    for _ in range(_MAX_SKIPPED):
        token = p.tokens[p.index]
        if token is END or (level == 0 and (token == "}" or _starts_statement(p, operations, token))):
            return
        level += {"{": 1, "}": -1}.get(token, 0)
        p.index += 1
        p.lookahead()
    raise GiveUp


def _starts_statement(p: Reader, operations: Container[str], token: str) -> bool:
    following = p.tokens[p.index + 1]
    if token[0] == "%":
        candidate = following in ("=", ",", ":")
    elif token in operations:
        candidate = following != "="
    else:
        candidate = (token[0].isalpha() and following[0] in '%@"' and token not in _CLAUSE_WORDS) or token[0] in '#!^"'
    return candidate and _first_of_line(p)


def _first_of_line(p: Reader) -> bool:
    begin = p.starts[p.index]
    before = p.text[max(0, begin - _LINE_REACH) : begin]
    _, newline, blanks = before.rpartition("\n")
    return (bool(newline) or begin <= _LINE_REACH) and not blanks.strip()
