"""Verdict lines: what a program says about its outcomes in comments.

// launch: --grid 2 x=i32[1]:zeros y=i32[1]:zeros
// forbidden: 1:%flag = 1 and 1:%data = 0
// exists: x = 2 or not (y != 0 and out[3] = 1)
// never: race or deadlock
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

Number = int | float
Values = Mapping[str, Number]
"""The final values of an execution, by name; values it has not computed are missing."""
FAULTS = ("race", "deadlock", "assert", "trap")
KINDS = ("exists", "forbidden", "never")

_LINE = re.compile(r"^[ \t]*//[ \t]*(exists|forbidden|never|launch):[ \t]*(.*?)[ \t]*$", re.MULTILINE)
_WORD = re.compile(
    r"\s*(?:(?P<name>(?:(?:\d+|\(\d+,\d+,\d+\)):%)?@?[A-Za-z_][\w$.-]*(?:\[[\d,\s]+\])?)"
    r"|(?P<number>[-+]?(?:0x[0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?))|(?P<sign>!=|=|\(|\)))"
)

Test = Callable[[Values, frozenset[str]], bool]
Canonical = Callable[[str], str]


class ConditionError(ValueError):
    """A verdict line that cannot be read, or that names what the program does not have."""


@dataclass(frozen=True)
class EndCondition:
    """A condition on the end of an execution: `names` are the values that it looks at, `faults` what went wrong."""

    text: str
    test: Test
    names: tuple[str, ...]
    faults: frozenset[str]

    def holds(self, values: Values, faults: frozenset[str]) -> bool:
        return self.test(values, faults)


@dataclass(frozen=True)
class VerdictLine:
    """One line: its kind, the condition, and the number of the line in the program."""

    kind: str
    condition: EndCondition
    line: int

    def __str__(self) -> str:
        return f"{self.kind}: {self.condition.text}"


def verdict_lines(text: str, begin: int, end: int, canonical: Canonical = str) -> list[VerdictLine]:
    """Return the verdict lines of a program that stand from `begin` to `end`.

    `canonical` gives the name by which a value is known. Raises ConditionError.
    """
    return [
        VerdictLine(found[1], condition(found[2], canonical), text.count("\n", 0, found.start(1)) + 1)
        for found in _LINE.finditer(text, begin, end)
        if found[1] in KINDS
    ]


def launch_words(text: str, begin: int, end: int) -> list[str] | None:
    """Return the words of the first ``launch`` line from `begin` to `end`; None if there is none."""
    found = next((found[2] for found in _LINE.finditer(text, begin, end) if found[1] == "launch"), None)
    return None if found is None else found.split()


def condition(text: str, canonical: Canonical = str) -> EndCondition:
    """Return the condition that a text says. Raises ConditionError."""
    return _Reader(text, canonical).whole()


class _Reader:
    """Reads ``or`` of ``and`` of ``not``, comparisons, faults and parentheses."""

    def __init__(self, text: str, canonical: Canonical) -> None:
        self._text = text
        self._canonical = canonical
        self._words = list(_words(text))
        self._at = 0
        self._names: dict[str, None] = {}
        self._faults: set[str] = set()

    def whole(self) -> EndCondition:
        test = self._any()
        if self._at < len(self._words):
            raise ConditionError(f"condition '{self._text}': expected 'and', 'or' or the end, got '{self._next()[1]}'")
        return EndCondition(self._text, test, tuple(self._names), frozenset(self._faults))

    def _any(self) -> Test:
        parts = [self._all()]
        while self._take("or"):
            parts.append(self._all())
        return parts[0] if len(parts) == 1 else lambda values, faults: any(part(values, faults) for part in parts)

    def _all(self) -> Test:
        parts = [self._one()]
        while self._take("and"):
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else lambda values, faults: all(part(values, faults) for part in parts)

    def _one(self) -> Test:
        if self._take("not"):
            inner = self._one()
            return lambda values, faults: not inner(values, faults)
        if self._take("("):
            inside = self._any()
            self._expect(")")
            return inside
        kind, word = self._next()
        if word in FAULTS:
            self._faults.add(word)
            return lambda values, faults: word in faults
        if kind != "name" or word in ("and", "or"):
            raise ConditionError(
                f"condition '{self._text}': expected a value or one of {', '.join(FAULTS)}, got '{word}'"
            )
        return self._comparison(self._canonical("".join(word.split())))

    def _comparison(self, name: str) -> Test:
        self._names[name] = None
        _, sign = self._next()
        if sign not in ("=", "!="):
            raise ConditionError(f"condition '{self._text}': expected = or != after '{name}', got '{sign}'")
        kind, word = self._next()
        if kind != "number":
            raise ConditionError(f"condition '{self._text}': expected a number after '{name} {sign}', got '{word}'")
        number = float(word) if re.search(r"\.|^[^x]*e", word.lower()) else int(word, 0)
        if sign == "=":
            return lambda values, faults: values.get(name) == number
        return lambda values, faults: name in values and values[name] != number

    def _take(self, word: str) -> bool:
        found = self._at < len(self._words) and self._words[self._at][1] == word
        self._at += found
        return found

    def _expect(self, word: str) -> None:
        if not self._take(word):
            raise ConditionError(f"condition '{self._text}': expected '{word}'")

    def _next(self) -> tuple[str, str]:
        if self._at == len(self._words):
            return "end", "the end"
        self._at += 1
        return self._words[self._at - 1]


def _words(text: str) -> Iterator[tuple[str, str]]:
    at, text = 0, text.rstrip()
    while at < len(text):
        found = _WORD.match(text, at)
        if found is None or found.end() == at:
            raise ConditionError(f"condition '{text}': cannot read '{text[at:].strip()}'")
        kind = found.lastgroup
        assert kind is not None, "one of the alternatives has matched"
        yield kind, found[kind]
        at = found.end()
