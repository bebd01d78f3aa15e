"""The lexer: cuts a text into tokens, piece by piece, so that memory stays bounded for long texts.

A composite type such as ``tile<4xptr<f32>>`` is one token if it is written on one line.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from itertools import accumulate
from operator import add

END = "\x04end of text"
"""The token after the last one; no text can contain it because control characters are tokens of length one."""

_NESTED = r'<[^<>"\n/]*(?:<[^<>"\n/]*(?:<[^<>"\n/]*>[^<>"\n/]*)*>[^<>"\n/]*)*>'
STRING = r'"[^"\\\n]*(?:\\.[^"\\\n]*)*\\?"?'
_SUFFIX = r"[\w$.]+(?:-(?!>)[\w$.]*)*"
BARE_NAME = r"[A-Za-z_][\w$.]*"
INTEGER = r"0x[0-9a-fA-F]+|\d+"
NUMBER = rf"\d+\.\d*(?:[eE][-+]?\d+)?|{INTEGER}"
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
_PIECES = re.compile(f"({_TOKEN})({BLANK})", re.ASCII)
_SKIP = re.compile(f"\ufeff?{BLANK}", re.ASCII)
_ONE_TOKEN = re.compile(_TOKEN, re.ASCII)
_CHUNK = 1 << 15
_ENDS = frozenset(",:=(){}[] \t\r\n")
"""Behind one of these begins another token, or a part of a type; but a blank may stand before the ``#1`` of a value."""
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
        pieces = _PIECES.split(self.text[begin:end])
        tokens, blanks = pieces[1::3], pieces[2::3]
        starts = list(accumulate(map(add, map(len, tokens), map(len, blanks)), initial=begin))
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


def _end_of_token(text: str, begin: int, end: int) -> int:
    """Return the last place up to `end` where a token ends that is no part of a string; `begin` if there is none."""
    if end >= len(text):
        return len(text)
    while end > begin and not (text[end - 1] in _ENDS and text[end] not in "# \t\r\n"):
        end -= 1
    return end


def skip_blank(text: str, offset: int) -> int:
    """Return the offset of the first character at or after `offset` that is neither blank nor in a comment."""
    skipped = _SKIP.match(text, offset)
    return skipped.end() if skipped else offset


def token_at(text: str, offset: int) -> str:
    """Return the token that begins exactly at `offset`."""
    match = _ONE_TOKEN.match(text, offset)
    return match[0] if match else END
