"""Statements that differ from an earlier one by the names of their values alone, as most of a program do.

Knows: how such a statement is found by its tokens, and when what was read follows from these tokens.
Does not know: the syntax of any operation, nor what a statement means.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from operator import attrgetter, is_
from typing import NamedTuple

from tileir.ir.core import Op, Value
from tileir.ir.shared import NO_ATTRIBUTES, SharedAttributes
from tileir.ir.types import Type

_TYPE = attrgetter("type")
MOST_KEPT = 1 << 13
_MOST_FORMS = 4
_MOST_TOKENS = 64
"""How many shapes are kept, and forms of each name, and how many tokens one has at most: texts can be hostile."""


class StatementShape(NamedTuple):
    """What was read from a statement, but for the values: types of operands and results, attributes, groups."""

    operand_types: list[Type]
    result_types: list[Type]
    attributes: SharedAttributes
    segments: tuple[int, ...]


class StatementForm(NamedTuple):
    """The number of tokens from the name of a statement on, where its operands stand among them, and the shapes of it.

    A shape is found by its tokens, without the names of the operands.
    """

    size: int
    places: list[int]
    shapes: dict[tuple[str, ...], StatementShape]


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
                operands = _operands(found, form.places, values)
                shape = None if operands is None else form.shapes.get(_key(found))
                if operands is not None and shape is not None and _fits(operands, shape.operand_types):
                    return shape, operands, end
        return None

    def keep(self, tokens: list[str], begin: int, end: int, places: list[int], op: Op) -> None:
        """Keep what `op` was read from, the tokens from `begin` up to `end`, for the next statement like it.

        Readers look one token ahead, two where that is a comma or where operands may follow the name, so the token
        behind belongs to a shape; the last one has to be a type.
        """
        if self._most <= 0 or end - begin > _MOST_TOKENS or tokens[end] == "," or tokens[end - 1] not in self._types:
            return
        found = tokens[begin : end + 1]
        if [place for place, token in enumerate(found[:-1]) if token[0] == "%"] != sorted(places):
            return
        for place in places:
            found[place] = ""
        self._most -= 1
        op.attributes = SharedAttributes(op.attributes) if op.attributes else NO_ATTRIBUTES
        shape = StatementShape(_types(op.operands), _types(op.results), op.attributes, op.segments)
        self._form(tokens[begin], end - begin, places).shapes[_key(found)] = shape

    def _form(self, name: str, size: int, places: list[int]) -> StatementForm:
        """The form of this size and these places; a new one is the first to be tried."""
        forms = self._forms.setdefault(name, [])
        found = next((form for form in forms if form.size == size and form.places == places), None)
        if found is None:
            found = StatementForm(size, places, {})
            forms.insert(0, found)
            del forms[_MOST_FORMS:]
        return found


def _key(tokens: list[str]) -> tuple[str, ...]:
    """The tokens without the names of values, of which one may stand behind the statement."""
    if tokens[-1][0] == "%":
        tokens[-1] = "%"
    return tuple(tokens)


def _operands(tokens: list[str], places: list[int], values: Mapping[str, Value]) -> tuple[Value, ...] | None:
    """The values named at these places, where the names are taken out; None if one is not defined."""
    operands = []
    for place in places:
        value = values.get(tokens[place])
        if value is None:
            return None
        operands.append(value)
        tokens[place] = ""
    return tuple(operands)


def _fits(operands: Sequence[Value], types: list[Type]) -> bool:
    return all(map(is_, map(_TYPE, operands), types))


def _types(values: Sequence[Value]) -> list[Type]:
    return [value.type for value in values]
