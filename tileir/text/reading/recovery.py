"""Recovery after a fault: reading goes on at the next statement of the same region.

A statement starts on a line of its own with result names or with the name of an operation. Braces are counted, so the
regions of the faulty statement are skipped with it.
"""

from __future__ import annotations

from collections.abc import Container

from tileir.text.reading.lexer import END
from tileir.text.reading.reader import GiveUp, Reader

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
