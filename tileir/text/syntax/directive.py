"""Directives: the parts of a declared format; each can read, write and describe itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

from tileir.ir.attributes import Attribute, EnumAttr, TextEnum
from tileir.ir.core import Op, Value
from tileir.ir.fields import Attr, AttrKind, Operand, Result
from tileir.ir.partial import POISON
from tileir.ir.spec import OpSpec
from tileir.ir.types import TensorViewType, TileViewType, Type
from tileir.text.attributes import FORMS, attr_dict, dense_literal, dict_text
from tileir.text.elements import Literal, check_element, literal_text, read_literal
from tileir.text.reading.hints import memory_hint, token_hint
from tileir.text.reading.statements import StatementReader, store
from tileir.text.reading.types import RAW_FLOATS, parse_type
from tileir.text.writer import Writer


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

    `text` is the fixed text of a directive without fields. `example` is what the manual shows, with the names of the
    fields in braces: ``%operand``, ``<attribute>``, ``[optional part]``. `states` says whether the directive spells the
    types of the fields it names. `lead` is the blank in front of it, which follows from the punctuation around; a
    directive that may be absent brings its own blank.
    """

    text: str = ""
    example: ClassVar[str] = ""
    states: ClassVar[bool] = False

    def __init__(self, spec: OpSpec, *names: str) -> None:
        self.spec = spec
        self.names = names
        self.lead = " "

    def read(self, p: StatementReader, draft: Draft) -> None:
        """Read it from the next token on into `draft`."""
        raise NotImplementedError

    def write(self, writer: Writer, op: Op) -> str:
        """Return the text with the blank in front of it; nothing if it is absent."""
        raise NotImplementedError

    def shown(self) -> str:
        """Return the text as the manual shows it."""
        return self.example.format(*self.names)

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
        """Return the attribute of an operation, or its default."""
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
    """Return the operand or result called `name`."""
    return spec.operand_index.get(name) or next(result for result in spec.results if result.name == name)


def slot_of(spec: OpSpec, name: str) -> int:
    """Return the place of a field in `Draft.slots`."""
    field = field_of(spec, name)
    return field.position if isinstance(field, Operand) else len(spec.operands) + field.position


ValuesOf = Callable[[Op], tuple[Value, ...]]


def values_of(spec: OpSpec, name: str) -> ValuesOf:
    """Return the function that gives the values of an operand or result: one, or as many as there are."""
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
    """Return the cases of an enumeration by keyword; those that are numbers in the generic form may also be strings."""
    cases = enum_of(attr).keywords()
    return cases | {f'"{word}"': case for word, case in cases.items()} if attr.plain_i32 else cases


def enum_of(attr: Attr) -> type[TextEnum]:
    """Return the enumeration of an attribute whose kind is one."""
    assert attr.enum is not None
    return attr.enum


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
        """Report missing text. Before the type of a token, the hint is that the token was forgotten, unless the
        operation has a syntax of its own to show."""
        types = draft.slots[len(self.spec.operands) : -1]
        hint = None
        if None not in types and self.text == ("," if types else "->") and not self.spec.syntax:
            hint = token_hint(self.spec, f"'-> {', '.join([*map(repr, types), 'token'])}'")
        p.expected(f"'{self.text}'", hint)

    def shown(self) -> str:
        return self.text


# ---------------------------------------------------------------- operands


class OneValue(ValueDirective):
    """A single or optional operand."""

    example = "%{0}"

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


class ValueList(OneValue):
    """A variadic operand: a comma list, which may be empty."""

    example = "%{0}, ..."

    def read(self, p: StatementReader, draft: Draft) -> None:
        values, marks = p.value_list() if p.peek()[0] == "%" else ([], [])
        draft.groups[self.position], draft.marks[self.position] = values, marks


# ---------------------------------------------------------------- attributes


class FlagName(AttributeDirective):
    """A unit attribute: its own name, or nothing."""

    example = "[{0}]"

    def read(self, p: StatementReader, draft: Draft) -> None:
        if p.tokens[p.index] == self.name:
            p.index += 1
            draft.attributes[self.name] = True

    def write(self, writer: Writer, op: Op) -> str:
        return f" {self.name}" if op.attributes.get(self.name) else ""


class CaseKeyword(AttributeDirective):
    """A case of an enumeration."""

    example = "<{0}>"

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


class ModeKeyword(CaseKeyword):
    """``mode($attr)``: a case and a comma, unless an operand stands there: then the dictionary has the mode."""

    example = "<{0}>,"

    def read(self, p: StatementReader, draft: Draft) -> None:
        if p.peek()[0] != "%":
            super().read(p, draft)
            p.expect(",")

    def write(self, writer: Writer, op: Op) -> str:
        return f" {op.attributes[self.name].text},"


class PlainAttribute(AttributeDirective):
    """An attribute by the notation of its kind."""

    def __init__(self, spec: OpSpec, *names: str) -> None:
        super().__init__(spec, *names)
        self.form = FORMS[self.attr.kind]

    def read(self, p: StatementReader, draft: Draft) -> None:
        assert self.form.read is not None, f"no notation for {self.attr.kind.name}"
        store(draft.attributes, self.attr, self.form.read(p))

    def write(self, writer: Writer, op: Op) -> str:
        return self.lead + self.form.write(op.attributes[self.name])

    def shown(self) -> str:
        return self.form.shown.format(self.name)


def field(spec: OpSpec, name: str) -> Directive:
    """Return the directive that ``$name`` is."""
    operand = spec.operand_index.get(name)
    if operand is not None:
        return value_directive(spec, name)
    kind = spec.attr_index[name].kind
    return {AttrKind.UNIT: FlagName, AttrKind.ENUM: CaseKeyword}.get(kind, PlainAttribute)(spec, name)


def value_directive(spec: OpSpec, name: str) -> OneValue:
    """Return the directive of an operand."""
    return (ValueList if spec.operand_index[name].variadic else OneValue)(spec, name)


class TypeOf(ValueDirective):
    """``type($field)``: the type of a single operand or result."""

    example = "T({0})"
    states = True

    def read(self, p: StatementReader, draft: Draft) -> None:
        found = p.types.get(p.tokens[p.index])
        if found is None:
            found = parse_type(p)
        else:
            p.index += 1
        draft.slots[self.slot] = found

    def write(self, writer: Writer, op: Op) -> str:
        return self.lead + writer.short[self.values(op)[0].type]

    def shown(self) -> str:
        """Return ``T(field)``, or the type itself where the field can have only one."""
        only = self.field.constraint.only
        return super().shown() if only is None else repr(only)


class RepeatedType(TypeOf):
    """``repeated_type($result)``: one type for all results, which are as many as names or else as dimensions."""

    def read(self, p: StatementReader, draft: Draft) -> None:
        count = sum(name.size for name in p.names)
        source = draft.slots[0]
        if not p.names and isinstance(source, TensorViewType | TileViewType):
            count = source.rank
        draft.slots[self.slot] = [parse_type(p)] * count

    def write(self, writer: Writer, op: Op) -> str:
        """Write the indices: a view of rank 0 has no result, and any index type may stand there."""
        return self.lead + (writer.short[op.results[0].type] if op.results else "tile<i64>")


class TypeOfBoth(TypeOf):
    """``type_of_both($operand)``: one type, which may stand there again for the operand before."""

    def read(self, p: StatementReader, draft: Draft) -> None:
        written = p.peek()
        super().read(p, draft)
        if p.peek() == "," and p.tokens[p.index + 1] == written:
            p.index += 2


class TailType(TypeOf):
    """``tail_type($operand)``: ``, T`` iff the operand is there; the type of a token may follow."""

    def read(self, p: StatementReader, draft: Draft) -> None:
        if draft.groups[self.position] is not None:
            p.expect(",", "',' and one more type")
            draft.slots[self.position] = parse_type(p)
        if p.peek() == "," and p.tokens[p.index + 1] == "token" and "token" in self.spec.operand_index:
            p.index += 2

    def write(self, writer: Writer, op: Op) -> str:
        return f", {writer.types(values)}" if (values := self.values(op)) else ""

    def shown(self) -> str:
        return f"[, {super().shown()}]"


class IndexTypes(TypeOf):
    """``index_types($operand)``: ``, T`` for all indices or ``, T, ...`` one each; early documents have none."""

    example = ", T({0})"

    def read(self, p: StatementReader, draft: Draft) -> None:
        types: list[Type] = []
        begin = p.starts[p.index]
        while p.peek() == "," and p.tokens[p.index + 1] not in ("token", "!cuda_tile.token"):
            p.index += 1
            types.append(parse_type(p))
            p.lookahead()
        values = draft.groups[self.position]
        if not types:
            types = [p.known_type(value, mark) for value, mark in zip(values, draft.marks[self.position])]
        elif len(types) == 1 and values:
            types *= len(values)
        p.check_count(types, values, "index", begin)
        draft.slots[self.position] = types

    def write(self, writer: Writer, op: Op) -> str:
        values = self.values(op)
        same = all(value.type is values[0].type for value in values)
        return "".join([f", {writer.short[value.type]}" for value in (values[:1] if same else values)])


class TailColonTypes(ValueDirective):
    """``tail_colon_types($operand)``: ``: T, ...`` iff there are operands."""

    example = "[: T, ...]"

    states = True

    def read(self, p: StatementReader, draft: Draft) -> None:
        if draft.groups[self.position]:
            p.expect(":")
            self._read_types(p, draft)

    def _read_types(self, p: StatementReader, draft: Draft) -> None:
        begin = p.starts[p.index]
        draft.slots[self.position] = types = p.some(lambda: parse_type(p))
        p.check_count(types, draft.groups[self.position], "operand", begin)

    def write(self, writer: Writer, op: Op) -> str:
        return f" : {writer.types(values)}" if (values := self.values(op)) else ""


class ExitOperands(TailColonTypes):
    """``exit_operands($operand)``: ``%x, ... : T, ...`` or nothing."""

    example = "[%operand, ... : T, ...]"

    def read(self, p: StatementReader, draft: Draft) -> None:
        draft.groups[self.position], draft.marks[self.position] = [], []
        if p.peek()[0] == "%" and p.tokens[p.index + 1] != "=":
            draft.groups[self.position], draft.marks[self.position] = p.value_list()
            p.expect(":")
            self._read_types(p, draft)

    def write(self, writer: Writer, op: Op) -> str:
        return f" {writer.values(op.operands)} : {writer.types(op.operands)}" if op.operands else ""


class PrintResult(ValueDirective):
    """``print_result($result)``: ``-> token``, which early text leaves out."""

    example = "-> token"

    def read(self, p: StatementReader, draft: Draft) -> None:
        if p.accept("->"):
            parse_type(p)

    def write(self, writer: Writer, op: Op) -> str:
        return f" -> {writer.short[op.results[0].type]}"


class ConstantElements(AttributeDirective):
    """``elements($attr)``: ``<E: elements>``, or ``dense<elements>`` of early documents."""

    example = "<E: elements>"

    def read(self, p: StatementReader, draft: Draft) -> None:
        """Read elements, which are encoded once the type is known."""
        draft.element, draft.literal = read_elements(p)

    def write(self, writer: Writer, op: Op) -> str:
        return " " + literal_text(op.attributes[self.name])


def read_elements(p: StatementReader) -> tuple[Type | None, Literal]:
    """Return the stated element type (None after ``dense``) and the elements as written."""
    if p.accept("dense"):
        return None, dense_literal(p)
    p.expect("<")
    loc, raw = p.here(), p.peek() in RAW_FLOATS
    element = parse_type(p)
    if element is not POISON:
        check_element(p, element, loc)
    p.expect(":")
    literal = read_literal(p)
    while p.accept(","):  # a list without brackets, as a Rust front end writes it
        last = read_literal(p)
        literal = Literal(f"[{p.text[literal.begin : last.end]}]", literal.begin, last.end)
    p.expect(">")
    if raw:
        literal.text = re.sub(r"\b\d+\b", lambda match: f"0x{int(match[0]):X}", literal.text)
    return element, literal


class AttrDict(Directive):
    """``attr-dict``: the attributes that no declaration knows."""

    example = ""

    def read(self, p: StatementReader, draft: Draft) -> None:
        draft.discardable = p.read_dict(self.spec, draft.attributes)

    def write(self, writer: Writer, op: Op) -> str:
        return attr_dict(op)


class ModeAttrDict(AttrDict):
    """``mode-attr-dict($attr)``: the same, with the keyword that `ModeKeyword` has not found."""

    def read(self, p: StatementReader, draft: Draft) -> None:
        super().read(p, draft)
        if self.name not in draft.attributes:
            cases = enum_of(self.spec.attr_index[self.name]).keywords()
            p.expected(f"{self.name}: one of {', '.join(cases)}")


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
        return dict_text(entries, " attributes ")
