"""Directives that stand for a field as it is: ``$lhs``, ``$flush_to_zero``; and the words between fields."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from tileir.ir.core import Op
from tileir.ir.fields import AttributeKind, AttrKind
from tileir.ir.spec import OpSpec
from tileir.text.printing.attributes import predicate_text
from tileir.text.printing.writer import Writer
from tileir.text.reading.advice import memory_hint, token_hint
from tileir.text.reading.attributes import predicate
from tileir.text.reading.properties import store
from tileir.text.reading.reader import Reader
from tileir.text.reading.statements import StatementReader
from tileir.text.strings import string_text, symbol_text
from tileir.text.syntax.directive import AttributeDirective, Directive, Draft, ValueDirective, case_table, enum_of


class FixedText(Directive):
    """A keyword or punctuation."""

    def __init__(self, spec: OpSpec, text: str) -> None:
        super().__init__(spec)
        self.text = text

    def read(self, p: StatementReader, draft: Draft) -> None:
        if p.tokens[p.index] != self.text:
            self._missing(p, draft)
        p.index += 1

    def _missing(self, p: StatementReader, draft: Draft) -> NoReturn:
        """The text is not there; before the type of a token, that is what is likely to have been forgotten."""
        types = draft.slots[len(self.spec.operands) : -1]
        hint = None
        if None not in types and self.text == ("," if types else "->"):
            hint = token_hint(self.spec, f"'-> {', '.join([*map(repr, types), 'token'])}'")
        p.expected(f"'{self.text}'", hint)

    def shown(self) -> str:
        return self.text


# ---------------------------------------------------------------- operands


class OneValue(ValueDirective):
    """A single or optional operand."""

    def read(self, p: StatementReader, draft: Draft) -> None:
        index, position = p.index, self.position
        token = p.tokens[index]
        value = p.values.get(token)
        if value is None:
            value = p.unusual_value(token)
        draft.groups[position] = value
        draft.marks[position] = p.starts[index]
        p.index = index + 1

    def write(self, writer: Writer, op: Op) -> str:
        return self.lead + writer.values(self.values(op))

    def shown(self) -> str:
        return f"%{self.name}"


class ValueList(OneValue):
    """A variadic operand: a comma list, which may be empty."""

    def read(self, p: StatementReader, draft: Draft) -> None:
        values, marks = p.value_list() if p.peek()[0] == "%" else ([], [])
        draft.groups[self.position], draft.marks[self.position] = values, marks

    def shown(self) -> str:
        return f"%{self.name}, ..."


# ---------------------------------------------------------------- attributes


class FlagName(AttributeDirective):
    """A unit attribute: its own name, or nothing."""

    def read(self, p: StatementReader, draft: Draft) -> None:
        if p.tokens[p.index] == self.name:
            p.index += 1
            draft.attributes[self.name] = True

    def write(self, writer: Writer, op: Op) -> str:
        return f" {self.name}" if op.attributes.get(self.name) else ""

    def shown(self) -> str:
        return f"[{self.name}]"


class CaseKeyword(AttributeDirective):
    """A case of an enumeration."""

    def __init__(self, spec: OpSpec, *names: str) -> None:
        super().__init__(spec, *names)
        self.cases = case_table(self.attr)

    def read(self, p: StatementReader, draft: Draft) -> None:
        case = self.cases.get(p.tokens[p.index])
        if case is None:
            hint = memory_hint(self.spec) if self.name.startswith("memory_") else None
            p.not_one_of(p.tokens[p.index], enum_of(self.attr).keywords(), self.name.replace("_", " "), hint)
        p.index += 1
        if case != self.attr.default:
            draft.attributes[self.name] = case

    def write(self, writer: Writer, op: Op) -> str:
        return f"{self.lead}{op.attributes[self.name].text}"

    def shown(self) -> str:
        return f"<{self.name}>"


@dataclass(frozen=True)
class Notation:
    """The text of the attributes of one kind: how it is read, written, and shown with ``{}`` for the name."""

    read: Callable[[Reader], Any]
    write: Callable[[Any], str]
    shown: str = "<{}>"


def _read_integers(reader: Reader) -> tuple[int, ...]:
    reader.expect("[")
    return tuple(reader.comma_list(lambda: reader.integer(bits=32), "]"))


def _integers_text(numbers: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, numbers))}]"


NOTATIONS: dict[AttributeKind, Notation] = {
    AttrKind.I64: Notation(lambda reader: reader.integer(), str),
    AttrKind.STRING: Notation(lambda reader: reader.string(), string_text, '"..."'),
    AttrKind.SYMBOL: Notation(lambda reader: reader.symbol(), symbol_text, "@name"),
    AttrKind.I32_ARRAY: Notation(_read_integers, _integers_text, "[<{}>, ...]"),
    AttrKind.TAGGED: Notation(predicate, predicate_text),
}


class PlainAttribute(AttributeDirective):
    """An attribute by the notation of its kind."""

    def __init__(self, spec: OpSpec, *names: str) -> None:
        super().__init__(spec, *names)
        self.notation = NOTATIONS[self.attr.kind]

    def read(self, p: StatementReader, draft: Draft) -> None:
        store(draft.attributes, self.attr, self.notation.read(p))

    def write(self, writer: Writer, op: Op) -> str:
        return self.lead + self.notation.write(op.attributes[self.name])

    def shown(self) -> str:
        return self.notation.shown.format(self.name)


def field(spec: OpSpec, name: str) -> Directive:
    """The directive that ``$name`` is."""
    operand = spec.operand_index.get(name)
    if operand is not None:
        return value_directive(spec, name)
    kind = spec.attr_index[name].kind
    return {AttrKind.UNIT: FlagName, AttrKind.ENUM: CaseKeyword}.get(kind, PlainAttribute)(spec, name)


def value_directive(spec: OpSpec, name: str) -> OneValue:
    """The directive of an operand."""
    return (ValueList if spec.operand_index[name].variadic else OneValue)(spec, name)
