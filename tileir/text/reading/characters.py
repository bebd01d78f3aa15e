"""Characters of a type, read one after the other: not tokens, because in a dimension list such as ``4x8xf32`` the ``x``
sticks to what follows.

Knows: words, numbers, keywords and lists, and how what is wrong with them is reported. Does not know: types.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn, TypeVar

from tileir.text.reading import codes
from tileir.text.reading.lexer import skip_blank, token_at
from tileir.text.reading.other_words import keyword_hint
from tileir.text.reading.reader import Reader, shown_token, whole_number

WORD = re.compile(r"[!#]?[A-Za-z_][\w$.]*", re.ASCII)
LARGEST = (1 << 63) - 1
_INTEGER = re.compile(r"-?(?:0x[0-9a-fA-F]+|\d+)", re.ASCII)

T = TypeVar("T")


class CharacterScan:
    """Something that is being read at `offset` of the text."""

    example: str | None = None
    """What it may look like, for hints."""

    def __init__(self, reader: Reader, offset: int) -> None:
        self.reader = reader
        self.text = reader.text
        self.offset = offset

    def skip(self) -> int:
        self.offset = skip_blank(self.text, self.offset)
        return self.offset

    def take(self, pattern: re.Pattern[str]) -> str | None:
        match = pattern.match(self.text, self.skip())
        if match is None:
            return None
        self.offset = match.end()
        return match[0]

    def accept(self, token: str) -> bool:
        found = self.text.startswith(token, self.skip())
        if found:
            self.offset += len(token)
        return found

    def accept_word(self, word: str) -> bool:
        match = WORD.match(self.text, self.skip())
        if match is None or match[0] != word:
            return False
        self.offset = match.end()
        return True

    def expect(self, token: str, what: str | None = None) -> None:
        if not self.accept(token):
            self.expected(what or f"'{token}'")

    def expected(self, what: str, hint: str | None = None) -> NoReturn:
        """What comes next is not `what`."""
        advice = self.example and f"such as '{self.example}'"
        self.reader.expected_at(self.skip(), token_at(self.text, self.offset), what, hint, advice)

    def comma_list(self, item: Callable[[], T], close: str) -> list[T]:
        items: list[T] = []
        if self.accept(close):
            return items
        while True:
            items.append(item())
            if self.accept(close):
                return items
            self.expect(",", f"',' or '{close}'")

    def integer(self, what: str, pattern: re.Pattern[str] = _INTEGER) -> int:
        begin = self.skip()
        text = self.take(pattern)
        value = None if text is None else whole_number(text.lstrip("-"))
        if text is None or value is None:
            self.expected(what)
        if value > LARGEST:
            self.offset = begin
            loc = self.reader.place(begin, begin + len(text))
            self.reader.fail(codes.INTEGER_RANGE, f"expected {what} of at most {LARGEST}, got a larger one", loc)
        return -value if text[0] == "-" else value

    def integers(self, what: str) -> tuple[int, ...]:
        self.expect("[")
        return tuple(self.comma_list(lambda: self.integer(what), "]"))

    def keyword(self, table: dict[str, T], what: str) -> T:
        begin = self.skip()
        word = self.take(WORD)
        if word is None:
            self.expected(what)
        if word not in table:
            choices = ", ".join(table)
            loc = self.reader.place(begin, self.offset)
            got = shown_token(word)
            message = f"expected {what} to be one of {choices}, got {got}"
            self.reader.fail(codes.KEYWORD, message, loc, hint=keyword_hint(word, table), expected=choices, got=got)
        return table[word]
