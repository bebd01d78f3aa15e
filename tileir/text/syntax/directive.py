"""The base of the directives of the format language, and what they read into.

Knows: what every directive can do, and how it finds the fields that it names.
Does not know: any directive (`text.syntax.fields`, `types`, `clauses`), nor how they are put together
(`text.syntax.declared`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from tileir.ir.attributes import Attribute, TextEnum
from tileir.ir.core import Op, Value
from tileir.ir.fields import Attr, Operand, Result
from tileir.ir.spec import OpSpec
from tileir.ir.types import Type
from tileir.text.printing.writer import Writer
from tileir.text.reading.literals import Literal
from tileir.text.reading.statements import StatementReader


class Draft:
    """One operation as far as it is read: operand groups and where they stand, types, attributes.

    `slots` holds the stated types, first of the operands and then of the results; a variadic one has a list.
    """

    __slots__ = ("attributes", "discardable", "element", "groups", "literal", "marks", "slots")

    def __init__(self, operands: int, slots: list[Any]) -> None:
        self.groups: list[Any] = [None] * operands
        self.marks: list[Any] = [0] * operands
        self.slots = slots
        self.attributes: dict[str, Any] = {}
        self.discardable: dict[str, Attribute] | None = None
        self.literal: Literal | None = None
        self.element: Type | None = None


class Directive:
    """One element of the format of an operation: how it is read, written, and shown in the manual.

    `text` is what a directive without fields always is. `states` says whether the directive spells the types of the
    fields it names. `lead` is the blank in front of it, which follows from the punctuation around; a directive that may
    be absent brings its own blank.
    """

    text: str = ""
    states: ClassVar[bool] = False

    def __init__(self, spec: OpSpec, *names: str) -> None:
        self.spec = spec
        self.names = names
        self.lead = " "

    def read(self, p: StatementReader, draft: Draft) -> None:
        """Read it from the next token on into `draft`."""
        raise NotImplementedError

    def write(self, writer: Writer, op: Op) -> str:
        """The text with the blank in front of it; nothing if it is absent."""
        raise NotImplementedError

    def shown(self) -> str:
        """The text as the manual shows it: ``%operand``, ``<attribute>``, ``[optional part]``."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """The field of a directive that names one."""
        return self.names[0]


class AttributeDirective(Directive):
    """A directive for one attribute."""

    def __init__(self, spec: OpSpec, *names: str) -> None:
        super().__init__(spec, *names)
        self.attr: Attr = spec.attr_index[self.name]

    def value(self, op: Op) -> Any:
        """The attribute of an operation, or its default."""
        return op.attributes.get(self.attr.name, self.attr.default)


class ValueDirective(Directive):
    """A directive for the values of one operand or result, or for their types."""

    def __init__(self, spec: OpSpec, *names: str) -> None:
        super().__init__(spec, *names)
        self.field = field_of(spec, self.name)
        self.position = self.field.position
        self.slot = slot_of(spec, self.name)
        self.values = values_of(spec, self.name)


def field_of(spec: OpSpec, name: str) -> Operand | Result:
    """The operand or result called `name`."""
    return spec.operand_index.get(name) or next(result for result in spec.results if result.name == name)


def slot_of(spec: OpSpec, name: str) -> int:
    """The place of a field in `Draft.slots`."""
    field = field_of(spec, name)
    return field.position if isinstance(field, Operand) else len(spec.operands) + field.position


def values_of(spec: OpSpec, name: str) -> Callable[[Op], tuple[Value, ...]]:
    """The function that gives the values of an operand or result: one, or as many as there are."""
    field = field_of(spec, name)
    position = field.position
    if isinstance(field, Result):
        if len(spec.results) == 1:
            return lambda op: op.results
        end = None if field.variadic else position + 1
        return lambda op: op.results[position:end]
    if spec.fixed_segments is not None:
        return lambda op: op.operands[position : position + 1]
    return lambda op: op.operand_group(position)


def case_table(attr: Attr) -> dict[str, TextEnum]:
    """The cases of an enumeration by keyword; those that are numbers in the generic form may also be strings."""
    cases = enum_of(attr).keywords()
    return cases | {f'"{word}"': case for word, case in cases.items()} if attr.plain_i32 else cases


def enum_of(attr: Attr) -> type[TextEnum]:
    """The enumeration of an attribute whose kind is one."""
    assert attr.enum is not None
    return attr.enum
