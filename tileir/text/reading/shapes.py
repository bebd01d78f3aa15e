"""Statements that differ from an earlier one by the names of their values alone, as most of a program do.

Knows: how such a statement is found by its tokens, and when what was read follows from these tokens.
Does not know: the syntax of any operation, nor what a statement means.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import NamedTuple

from tileir.ir.core import Op, Value
from tileir.ir.shared import NO_ATTRIBUTES, SharedAttributes
from tileir.ir.types import Type

Pick = Callable[[list[str]], Sequence[str]]
"""Gives some of the tokens of a statement."""
_TYPE = attrgetter("type")
MOST_KEPT = 1 << 13
_MOST_FORMS = 4
_MOST_TOKENS = 64
"""How many shapes are kept, and forms of each name, and how many tokens one has at most: texts can be hostile."""


class StatementShape(NamedTuple):
    """What was read from a statement, but for the values: types of operands and results, attributes, groups."""

    operand_types: tuple[Type, ...]
    result_types: tuple[Type, ...]
    attributes: SharedAttributes
    segments: tuple[int, ...]


class StatementForm(NamedTuple):
    """The number of tokens from the name of a statement on, where its operands stand among them, and the shapes of it.

    A shape is found by its tokens without the names of the operands (`rest`), of which `names` gives those.
    """

    size: int
    places: list[int]
    names: Pick
    rest: Pick
    shapes: dict[Sequence[str], StatementShape]

    @classmethod
    def of(cls, size: int, places: list[int]) -> StatementForm:
        rest = [place for place in range(size + 1) if place not in places]
        return cls(size, places, _picking(places), _picking(rest), {})


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
                _unname(found)
                shape = form.shapes.get(form.rest(found))
                if shape is not None:
                    operands = tuple(map(values.get, form.names(found)))
                    if None not in operands and tuple(map(_TYPE, operands)) == shape.operand_types:
                        return shape, operands, end  # type: ignore[return-value]
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
        _unname(found)
        self._most -= 1
        op.attributes = SharedAttributes(op.attributes) if op.attributes else NO_ATTRIBUTES
        shape = StatementShape(_types(op.operands), _types(op.results), op.attributes, op.segments)
        form = self._form(tokens[begin], end - begin, places)
        form.shapes[form.rest(found)] = shape

    def _form(self, name: str, size: int, places: list[int]) -> StatementForm:
        """The form of this size and these places; a new one is the first to be tried."""
        forms = self._forms.setdefault(name, [])
        found = next((form for form in forms if form.size == size and form.places == places), None)
        if found is None:
            found = StatementForm.of(size, places)
            forms.insert(0, found)
            del forms[_MOST_FORMS:]
        return found


def _unname(tokens: list[str]) -> None:
    """Take out the name of a value that may stand behind a statement."""
    if tokens[-1][0] == "%":
        tokens[-1] = "%"


def _picking(places: list[int]) -> Pick:
    """The function that gives the tokens at these places."""
    if len(places) == 1:
        return itemgetter(slice(places[0], places[0] + 1))
    return itemgetter(*places) if places else _no_tokens


def _no_tokens(tokens: list[str]) -> Sequence[str]:
    return ()


def _types(values: Sequence[Value]) -> tuple[Type, ...]:
    return tuple([value.type for value in values])
