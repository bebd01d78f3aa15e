"""The lexer: cuts a text into tokens, piece by piece, so that memory stays bounded for long texts.

A composite type such as ``tile<4xptr<f32>>`` is one token if it is written on one line.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from collections.abc import Iterable
from itertools import accumulate
from operator import add

END = "\x04end of text"
"""The token after the last one; no text can contain it because control characters are tokens of length one."""

_NESTED = r'<[^<>"\n/]*(?:<[^<>"\n/]*(?:<[^<>"\n/]*>[^<>"\n/]*)*>[^<>"\n/]*)*>'
STRING = r'"[^"\\\n]*(?:\\.[^"\\\n]*)*\\?"?'
_SUFFIX = r"[\w$.]+(?:-(?!>)[\w$.]*)*"
BARE_NAME = r"[A-Za-z_][\w$.]*"
NUMBER = r"\d+\.\d*(?:[eE][-+]?\d+)?|0x[0-9a-fA-F]+|\d+"
BLANK = r"[ \t\r\n]*(?://[^\n]*[ \t\r\n]*)*"
_VALUE = rf"%(?:-(?!>))?{_SUFFIX}(?:[ \t]*\#\d+)?"
_TOKEN = "|".join(
    (
        _VALUE,
        r"[,:=(){}\]<>?+\[]",
        rf"(?:tile|ptr|tensor_view|partition_view|strided_view|gather_scatter_view){_NESTED}",
        BARE_NAME,
        NUMBER,
        r"->|-",
        STRING,
        rf"!cuda_tile\.[a-z_]+{_NESTED}",
        rf"[!#^](?:-(?!>))?{_SUFFIX}",
        rf"@(?:{BARE_NAME}|{STRING})",
        r"[\s\S]",
    )
)
_BLANKS = " \t\r\n"
_PIECES = re.compile(f"({_TOKEN})({BLANK})", re.ASCII)
_VALUES = re.compile(f"({_VALUE})", re.ASCII)
_USUAL_PIECES = re.compile(f"(?:{_TOKEN})[{_BLANKS}]*", re.ASCII)
_SKIP = re.compile(f"\ufeff?{BLANK}", re.ASCII)
_ONE_TOKEN = re.compile(_TOKEN, re.ASCII)
_CHUNK = 1 << 15
_ENDS = frozenset(",:=(){}[]" + _BLANKS)
"""Behind one of these begins another token, or a part of a type; but a blank may stand before the ``#1`` of a value."""
_MOST_GAPS = 1 << 12
_LONGEST_GAP = 256
_MARGIN = 512
"""Tokens that are always at hand after `lookahead`; only loops read more than that without calling it again."""


class TokenCursor:
    """A text as tokens; those around `index` are at hand.

    `tokens` and `starts` (their offsets) run in parallel. `lookahead` may drop the tokens before `index`, so a lasting
    place is kept as an offset.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[str] = []
        self.starts: list[int] = []
        self.index = 0
        self._low = 0
        self._read_to = 0
        self._gaps = _Gaps()
        self.restart(0)

    def lookahead(self) -> None:
        """Make sure that the next tokens are at hand."""
        if self.index > self._low:
            self._refill()

    def restart(self, offset: int) -> None:
        """Go on with the first token at or after `offset`, wherever that is."""
        self.tokens.clear()
        self.starts.clear()
        self.index = 0
        self._read_to = skip_blank(self.text, offset)
        self._refill()

    def resync(self, offset: int) -> None:
        """Go on with the first token at or after `offset`, which something else has read up to."""
        if self.tokens[-1] is END or offset < self.starts[-1]:
            self.index = bisect_left(self.starts, offset, lo=self.index)
            self.lookahead()
        else:
            self.restart(offset)

    def _refill(self) -> None:
        del self.tokens[: self.index]
        del self.starts[: self.index]
        self.index = 0
        size = _CHUNK
        while len(self.tokens) <= 2 * _MARGIN and self._read_to < len(self.text):
            size = _CHUNK if self._read_chunk(size) else 2 * size
        self._low = len(self.tokens) - _MARGIN
        if self._read_to >= len(self.text):
            self._low = sys.maxsize
            self.tokens += (END,) * 4
            self.starts += (len(self.text),) * 4

    def _read_chunk(self, size: int) -> bool:
        """Read tokens of the next `size` characters; False if that is less than one token and what follows it."""
        begin = self._read_to
        end = _end_of_token(self.text, begin, begin + size)
        tokens, lengths = _cut(self.text[begin:end], self._gaps)
        starts = list(accumulate(lengths, initial=begin))
        starts.pop()
        if end < len(self.text):
            # The last token may be a string or have a comment that goes on: read it again with the next chunk.
            if not tokens:
                return False
            tokens.pop()
            self._read_to = starts.pop()
        else:
            self._read_to = len(self.text)
        self.tokens += tokens
        self.starts += starts
        return bool(tokens)


class _OpenGap(Exception):
    """A type may begin between two values and end behind the second one."""


class _Gaps(dict[str, tuple[int, list[str], list[int]]]):
    """The text between two values: the blanks before it, the tokens, and the length of each with the blanks behind it.

    Most of a text consists of the same gaps, so each is cut into tokens once. Raises _OpenGap.
    """

    def __missing__(self, gap: str) -> tuple[int, list[str], list[int]]:
        found = _usual_tokens(gap)
        if _is_open(found[1]):
            raise _OpenGap
        if len(self) < _MOST_GAPS and len(gap) <= _LONGEST_GAP:
            self[gap] = found
        return found


def _end_of_token(text: str, begin: int, end: int) -> int:
    """Return the last place up to `end` where a token ends that is no part of a string; `begin` if there is none."""
    if end >= len(text):
        return len(text)
    while end > begin and not (text[end - 1] in _ENDS and text[end] not in "# \t\r\n"):
        end -= 1
    return end


def _usual_tokens(text: str) -> tuple[int, list[str], list[int]]:
    """Cut a text without comments and strings into tokens.

    None of its tokens ends with a blank, as only a string without end can, and nothing but blanks stands between them.
    """
    begin = len(text) - len(text.lstrip(_BLANKS))
    pieces = _USUAL_PIECES.findall(text, begin)
    return begin, [piece.rstrip(_BLANKS) for piece in pieces], [*map(len, pieces)]


def _is_open(tokens: list[str]) -> bool:
    """Return whether a bracket, possibly of a type, is not closed."""
    level = 0
    for token in tokens:
        if token == "<":
            level += 1
        elif token == ">" and level:
            level -= 1
    return level > 0


def _cut(text: str, gaps: _Gaps) -> tuple[list[str], Iterable[int]]:
    """Return the tokens of a text that begins with one, and the length of each with the blanks and comments behind
    it."""
    if "//" not in text and '"' not in text:
        try:
            return _cut_at_values(text, gaps)
        except _OpenGap:
            _, tokens, lengths = _usual_tokens(text)
            return tokens, lengths
    pieces = _PIECES.split(text)
    return pieces[1::3], map(add, map(len, pieces[1::3]), map(len, pieces[2::3]))


def _cut_at_values(text: str, gaps: _Gaps) -> tuple[list[str], list[int]]:
    """Cut a text without comments and strings at its values; its last gap may be cut short. Raises _OpenGap."""
    first, *parts = _VALUES.split(text)
    if not parts:
        return _usual_tokens(text)[1:]
    _, begin, begin_lengths = gaps[first]
    tokens, lengths = begin.copy(), begin_lengths.copy()
    last = _usual_tokens(parts.pop())
    name = parts.pop()
    rest = iter(parts)
    for value, gap in zip(rest, rest):
        blanks, more, more_lengths = gaps[gap]
        tokens.append(value)
        lengths.append(len(value) + blanks)
        tokens += more
        lengths += more_lengths
    return [*tokens, name, *last[1]], [*lengths, len(name) + last[0], *last[2]]


def skip_blank(text: str, offset: int) -> int:
    """Return the offset of the first character at or after `offset` that is neither blank nor in a comment."""
    skipped = _SKIP.match(text, offset)
    return skipped.end() if skipped else offset


def token_at(text: str, offset: int) -> str:
    """Return the token that begins exactly at `offset`."""
    match = _ONE_TOKEN.match(text, offset)
    return match[0] if match else END
