"""Directives for the elements of a constant and for the attribute dictionary."""

from __future__ import annotations

from tileir.ir.attributes import EnumAttr
from tileir.ir.core import Op
from tileir.ir.types import Type
from tileir.text.printing.attributes import attr_dict, dict_text, sorted_entries
from tileir.text.printing.literals import literal_text
from tileir.text.printing.writer import Writer
from tileir.text.reading.attributes import dense_literal, dictionary
from tileir.text.reading.literals import Literal, check_element, read_literal
from tileir.text.reading.properties import distribute
from tileir.text.reading.statements import StatementReader
from tileir.text.reading.types import parse_type
from tileir.text.syntax.directive import AttributeDirective, Directive, Draft


class ConstantElements(AttributeDirective):
    """``elements($attr)``: ``<E: elements>``, or ``dense<elements>`` of early documents."""

    def read(self, p: StatementReader, draft: Draft) -> None:
        """They are encoded once the type is known."""
        draft.element, draft.literal = read_elements(p)

    def write(self, writer: Writer, op: Op) -> str:
        return " " + literal_text(op.attributes[self.name])

    def shown(self) -> str:
        return "<E: elements>"


def read_elements(p: StatementReader) -> tuple[Type | None, Literal]:
    """The stated element type (None after ``dense``) and the elements as written."""
    if p.accept("dense"):
        return None, dense_literal(p)
    p.expect("<")
    loc = p.here()
    element = parse_type(p)
    if not p.is_poison(element):
        check_element(p, element, loc)
    p.expect(":")
    literal = read_literal(p)
    p.expect(">")
    return element, literal


class AttrDict(Directive):
    """``attr-dict``: the attributes that no declaration knows."""

    def read(self, p: StatementReader, draft: Draft) -> None:
        if p.tokens[p.index] == "{":
            loc = p.here()
            draft.discardable = distribute(p, self.spec, dictionary(p), draft.attributes, loc)

    def write(self, writer: Writer, op: Op) -> str:
        return attr_dict(op)

    def shown(self) -> str:
        return ""


class AttrDictWithKeyword(AttrDict):
    """``attr-dict-with-keyword``: the same after ``attributes``.

    With ``($attr)`` that declared attribute stands there too when it is not at its default.
    """

    def read(self, p: StatementReader, draft: Draft) -> None:
        if p.tokens[p.index] == "attributes":
            p.index += 1
            if p.peek() != "{":
                p.expected("'{'")
            super().read(p, draft)
        elif p.tokens[p.index] == "{":
            p.expected("':'", "this operation has the word 'attributes' in front of its dictionary")

    def write(self, writer: Writer, op: Op) -> str:
        entries = dict(op.discardable or {})
        for name in self.names:
            case = op.attributes.get(name)
            if case not in (None, self.spec.attr_index[name].default):
                entries[name] = EnumAttr(case)
        return f" attributes {dict_text(sorted_entries(entries))}" if entries else ""
