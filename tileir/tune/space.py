"""Spaces of configurations, and texts with places for their parameters."""

from __future__ import annotations

import ast
import itertools
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from tileir.ir.usage import UsageError

PointValue = int | float | str | bool
Point = Mapping[str, PointValue]
"""One configuration: a value for each name."""

OPTION, CONSTANT, LEVEL = "option:", "constant:", "level"
"""Names of a space that are no parameters of the text: options of the launch, arguments that the program is made for
alone, and the level of the optimiser."""

_PLACE = re.compile(r"\{\{([^{}]+)\}\}")
_OPERATORS: dict[type[ast.AST], Callable[..., PointValue]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.USub: operator.neg,
}  # fmt: skip


@dataclass(frozen=True)
class TuneSpace:
    """The values that each parameter may have, the first of each being the configuration to compare with."""

    values: Mapping[str, Sequence[PointValue]]

    @property
    def size(self) -> int:
        return prod(len(values) for values in self.values.values())

    def __iter__(self) -> Iterator[Point]:
        """Yield all points; the last name changes fastest."""
        for chosen in itertools.product(*self.values.values()):
            yield dict(zip(self.values, chosen))

    def at(self, number: int) -> Point:
        """Return the point of that number in the order of iteration."""
        found: dict[str, PointValue] = {}
        for name in reversed(list(self.values)):
            number, index = divmod(number, len(self.values[name]))
            found[name] = self.values[name][index]
        return {name: found[name] for name in self.values}


def values_of(word: str, option: str) -> tuple[str, tuple[PointValue, ...]]:
    """Return the name and the values in a word such as ``TILE=16,32``. Raises UsageError."""
    name, given, text = word.partition("=")
    values = tuple(_value(part) for part in text.split(",") if part)
    if not given or not name or not values:
        raise UsageError(f"--{option}: expected a name and values such as TILE=16,32, got '{word}'")
    if len(set(map(repr, values))) < len(values):
        raise UsageError(f"--{option}: expected different values, got '{word}'")
    return name, values


def _value(text: str) -> PointValue:
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def substituted(text: str, names: Point, what: str = "the template") -> str:
    """Return a text with the value of each ``{{expression}}`` in its place. Raises UsageError for a name that is not
    there."""

    def value(match: re.Match[str]) -> str:
        return str(evaluated(match[1], names, what))

    return _PLACE.sub(value, text)


def evaluated(text: str, names: Point, what: str) -> PointValue:
    """Return the value of an expression: names, numbers, ``+ - * // %`` and parentheses."""
    try:
        return _evaluated(ast.parse(text.strip(), mode="eval").body, names)
    except KeyError as error:
        known = ", ".join(names) or "none"
        raise UsageError(f"{what}: no parameter {error} for '{{{{{text}}}}}'; there are {known}") from None
    except (SyntaxError, ValueError, TypeError, ZeroDivisionError, OverflowError) as error:
        raise UsageError(f"{what}: cannot compute '{{{{{text}}}}}': {str(error) or type(error).__name__}") from None


def _evaluated(node: ast.AST, names: Point) -> PointValue:
    if isinstance(node, ast.Name):
        return names[node.id]
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_evaluated(node.left, names), _evaluated(node.right, names))
    if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_evaluated(node.operand, names))
    raise ValueError("expected names, numbers and + - * // %")
