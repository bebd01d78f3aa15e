"""Statements that differ from an earlier one by the names of their values alone, as most of a program do.

Knows: how such a statement is found by its tokens, and when what was read follows from these tokens.
Does not know: the syntax of any operation, nor what a statement means.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from tileir.ir.core import Value
from tileir.ir.shared import NO_ATTRIBUTES, SharedAttributes
from tileir.ir.types import Type

MOST_KEPT = 1 << 13
_MOST_FORMS = 4
_MOST_TOKENS = 64
"""How many shapes are kept, and forms of each name, and how many tokens one has at most: texts can be hostile."""


class StatementShape(NamedTuple):
    """What was read from a statement, but for the values: types of operands and results, attributes, groups."""

    operand_types: tuple[Type, ...]
    result_types: tuple[Type, ...]
    attributes: dict[str, Any]
    segments: tuple[int, ...]

    @classmethod
    def of(
        cls, operands: Sequence[Value], results: Sequence[Type], attributes: dict[str, Any], segments: tuple[int, ...]
    ) -> StatementShape:
        shared = SharedAttributes(attributes) if attributes else NO_ATTRIBUTES
        return cls(tuple([value.type for value in operands]), tuple(results), shared, segments)


class StatementForm(NamedTuple):
    """The number of tokens from the name of a statement on, where its operands stand among them, and the shapes of it.

    A shape is found by its tokens without the names of the operands, which `rest` gives; a value behind it counts
    without its name.
    """

    size: int
    places: list[int]
    rest: Callable[[list[str]], Sequence[str]]
    shapes: dict[Sequence[str], StatementShape]

    @classmethod
    def of(cls, size: int, places: list[int]) -> StatementForm:
        rest = [place for place in range(size + 1) if place not in places]
        return cls(size, places, itemgetter(*rest), {})


class StatementShapes:
    """The shapes of the statements read so far, `most` at most; `types` are the words that are known to be types."""

    def __init__(self, types: Container[str], most: int = MOST_KEPT) -> None:
        self._most = most
        self._types = types
        self._forms: dict[str, list[StatementForm]] = {}

    def known(
        self, tokens: list[str], begin: int, values: Mapping[str, Value]
    ) -> tuple[StatementShape, tuple[Value, ...], int] | None:
        """The shape of the statement whose name is token `begin`, its operands and its end; None for a new one."""
        for form in self._forms.get(tokens[begin], ()):
            end = begin + form.size
            found = tokens[begin : end + 1]
            if len(found) > form.size and found[-2] in self._types:
                if found[-1][0] == "%":
                    found[-1] = "%"
                shape = form.shapes.get(form.rest(found))
                operands = None if shape is None else _operands(found, form.places, values, shape.operand_types)
                if shape is not None and operands is not None:
                    return shape, operands, end
        return None

    def can_keep(self, tokens: list[str], begin: int, end: int) -> bool:
        """Whether what was read from the tokens from `begin` up to `end` can be kept for the next statement like it.

        Readers look one token ahead, two where that is a comma or where operands may follow the name, so the token
        behind belongs to a shape; the last one has to be a type.
        """
        if self._most <= 0 or end - begin > _MOST_TOKENS:
            return False
        return tokens[end] != "," and tokens[end - 1] in self._types

    def keep(self, tokens: list[str], begin: int, end: int, places: list[int], shape: StatementShape) -> bool:
        """Keep what was read from these tokens, if the values among them are the operands, at these places."""
        found = tokens[begin : end + 1]
        if [place for place, token in enumerate(found[:-1]) if token[0] == "%"] != sorted(places):
            return False
        if found[-1][0] == "%":
            found[-1] = "%"
        self._most -= 1
        form = self._form(tokens[begin], end - begin, places)
        form.shapes[form.rest(found)] = shape
        return True

    def _form(self, name: str, size: int, places: list[int]) -> StatementForm:
        """The form of this size and these places; a new one is the first to be tried."""
        forms = self._forms.setdefault(name, [])
        found = next((form for form in forms if form.size == size and form.places == places), None)
        if found is None:
            found = StatementForm.of(size, places)
            forms.insert(0, found)
            del forms[_MOST_FORMS:]
        return found


def _operands(
    tokens: list[str], places: list[int], values: Mapping[str, Value], types: tuple[Type, ...]
) -> tuple[Value, ...] | None:
    """The values named at these places, if they are of these types."""
    operands: tuple[Value, ...] = ()
    for place, type in zip(places, types):
        value = values.get(tokens[place])
        if value is None or value.type is not type:
            return None
        operands += (value,)
    return operands
