"""How each step of a declared format is read (the language is described in `text.format`).

Knows: one function per kind of step, made once per operation and step.
Does not know: how the steps of an operation are put together (`text.plan`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tileir.ir import attributes as a
from tileir.ir.core import Value
from tileir.ir.declare import Attr, AttrKind, Operand, OpSpec, Result
from tileir.ir.types import TensorViewType, TileViewType, Type
from tileir.text import codes
from tileir.text.attribute_parser import attribute, dense_literal, dictionary, hints, keywords, predicate
from tileir.text.format import Step
from tileir.text.literal_parser import Literal, check_element, read_literal
from tileir.text.properties import distribute, property_value, store
from tileir.text.type_parser import parse_type

if TYPE_CHECKING:
    from tileir.text.parser import Parser

Group = Value | list[Value] | None
"""What is written for one declared operand."""


class Draft:
    """What has been read of one operation: operand groups and where they stand, types, attributes.

    `slots` holds the stated types, first of the operands and then of the results; a variadic one has a list.
    """

    __slots__ = ("attributes", "discardable", "element", "groups", "literal", "marks", "slots")

    def __init__(self, operands: int, slots: list[Any]) -> None:
        self.groups: list[Any] = [None] * operands
        self.marks: list[Any] = [0] * operands
        self.slots = slots
        self.attributes: dict[str, Any] = {}
        self.discardable: dict[str, a.Attribute] | None = None
        self.literal: Literal | None = None
        self.element: Type | None = None


Read = Callable[["Parser", Draft], None]


def step_reader(spec: OpSpec, step: Step) -> Read:
    """The function that reads one step of the format of `spec`."""
    make = _MAKERS[step.kind]
    return make(spec, step)


def slot_of(spec: OpSpec, name: str) -> int:
    """The place of a field in `Draft.slots`."""
    if name in spec.operand_index:
        return spec.operand_index[name].position
    return len(spec.operands) + _result(spec, name).position


def _result(spec: OpSpec, name: str) -> Result:
    return next(result for result in spec.results if result.name == name)


# ---------------------------------------------------------------- literals, operands, attributes


def _literal(spec: OpSpec, step: Step) -> Read:
    text = step.text

    def read(p: Parser, draft: Draft) -> None:
        if p.tokens[p.index] != text:
            p.expected(f"'{text}'")
        p.index += 1

    return read


def _field(spec: OpSpec, step: Step) -> Read:
    name = step.fields[0]
    operand = spec.operand_index.get(name)
    if operand is not None:
        return _values(operand) if operand.variadic else _value(operand)
    attr = spec.attr_index[name]
    return _flag(attr) if attr.kind is AttrKind.UNIT else _ATTRIBUTES[attr.kind](attr)


def _value(operand: Operand) -> Read:
    position = operand.position

    def read(p: Parser, draft: Draft) -> None:
        index = p.index
        token = p.tokens[index]
        value = p.values.get(token)
        if value is None:
            value = p.unusual_value(token)
        draft.groups[position] = value
        draft.marks[position] = p.starts[index]
        p.index = index + 1

    return read


def _values(operand: Operand) -> Read:
    position = operand.position

    def read(p: Parser, draft: Draft) -> None:
        draft.groups[position], draft.marks[position] = p.value_list() if p.peek()[0] == "%" else ([], [])

    return read


def _flag(attr: Attr) -> Read:
    name = attr.name

    def read(p: Parser, draft: Draft) -> None:
        if p.tokens[p.index] == name:
            p.index += 1
            draft.attributes[name] = True

    return read


def _keyword(attr: Attr) -> Read:
    name, default, table = attr.name, attr.default, _table(attr)
    what = name.replace("_", " ")

    def read(p: Parser, draft: Draft) -> None:
        case = table.get(p.tokens[p.index])
        if case is None:
            p.not_one_of(p.tokens[p.index], keywords(type(next(iter(table.values())))), what)
        p.index += 1
        if case != default:
            draft.attributes[name] = case

    return read


def _table(attr: Attr) -> dict[str, a.TextEnum]:
    """The keywords of an enumeration; those that are numbers in the generic form may also be strings."""
    assert attr.enum is not None
    table = keywords(attr.enum)
    return table | {f'"{word}"': case for word, case in table.items()} if attr.plain_i32 else table


def _attribute(parse: Callable[[Parser], Any]) -> Callable[[Attr], Read]:
    def make(attr: Attr) -> Read:
        def read(p: Parser, draft: Draft) -> None:
            store(draft.attributes, attr, parse(p))

        return read

    return make


def _i32_list(p: Parser) -> tuple[int, ...]:
    p.expect("[")
    return tuple(p.comma_list(lambda: p.integer(bits=32), "]"))


_ATTRIBUTES: dict[AttrKind, Callable[[Attr], Read]] = {
    AttrKind.ENUM: _keyword,
    AttrKind.I32: _attribute(lambda p: p.integer(bits=32)),
    AttrKind.I64: _attribute(lambda p: p.integer()),
    AttrKind.STRING: _attribute(lambda p: p.string()),
    AttrKind.SYMBOL: _attribute(lambda p: p.symbol()),
    AttrKind.I32_ARRAY: _attribute(_i32_list),
    AttrKind.TAGGED: _attribute(predicate),
}


# ---------------------------------------------------------------- types


def _type(spec: OpSpec, step: Step) -> Read:
    slot = slot_of(spec, step.fields[0])

    def read(p: Parser, draft: Draft) -> None:
        found = p.types.get(p.tokens[p.index])
        if found is None:
            found = parse_type(p)
        else:
            p.index += 1
        draft.slots[slot] = found

    return read


def _repeated_type(spec: OpSpec, step: Step) -> Read:
    """One type for all results, of which there are as many as names or else as the operand has dimensions."""
    slot = slot_of(spec, step.fields[0])

    def read(p: Parser, draft: Draft) -> None:
        count = sum(name.size for name in p.names)
        source = draft.slots[0]
        if not p.names and isinstance(source, TensorViewType | TileViewType):
            count = source.rank
        draft.slots[slot] = [parse_type(p)] * count

    return read


def _tail_type(spec: OpSpec, step: Step) -> Read:
    position = spec.operand_index[step.fields[0]].position

    def read(p: Parser, draft: Draft) -> None:
        if draft.groups[position] is not None:
            p.expect(",", "',' and one more type")
            draft.slots[position] = parse_type(p)

    return read


def _index_types(spec: OpSpec, step: Step) -> Read:
    """None: the types of the values (early documents); one: of all; else one each."""
    position = spec.operand_index[step.fields[0]].position

    def read(p: Parser, draft: Draft) -> None:
        types: list[Type] = []
        begin = p.starts[p.index]
        while p.peek() == "," and p.tokens[p.index + 1] not in ("token", "!cuda_tile.token"):
            p.index += 1
            types.append(parse_type(p))
            p.lookahead()
        values = draft.groups[position]
        if not types:
            types = [p.known_type(value, mark) for value, mark in zip(values, draft.marks[position])]
        elif len(types) == 1 and values:
            types *= len(values)
        p.check_count(types, values, "index", begin)
        draft.slots[position] = types

    return read


def _exit_operands(spec: OpSpec, step: Step) -> Read:
    position = spec.operand_index[step.fields[0]].position

    def read(p: Parser, draft: Draft) -> None:
        draft.groups[position], draft.marks[position] = [], []
        if p.peek()[0] == "%" and p.tokens[p.index + 1] != "=":
            draft.groups[position], draft.marks[position] = p.value_list()
            p.expect(":")
            _types_of(p, draft, position)

    return read


def _tail_colon_types(spec: OpSpec, step: Step) -> Read:
    position = spec.operand_index[step.fields[0]].position

    def read(p: Parser, draft: Draft) -> None:
        if draft.groups[position]:
            p.expect(":")
            _types_of(p, draft, position)

    return read


def _types_of(p: Parser, draft: Draft, position: int) -> None:
    begin = p.starts[p.index]
    draft.slots[position] = types = p.some(lambda: parse_type(p))
    p.check_count(types, draft.groups[position], "operand", begin)


def _print_result(spec: OpSpec, step: Step) -> Read:
    def read(p: Parser, draft: Draft) -> None:
        if p.accept("->"):
            parse_type(p)

    return read


# ---------------------------------------------------------------- clauses


def _clause(spec: OpSpec, step: Step) -> Read:
    """``rounding<zero>``, or the whole attribute after the word."""
    attr = spec.attr_index[step.fields[0]]
    assert attr.enum is not None
    word = "rounding" if step.kind == "rounding" else attr.name
    what, table = f"{word} mode", keywords(attr.enum)

    def read(p: Parser, draft: Draft) -> None:
        if p.tokens[p.index] != word:
            return
        p.index += 1
        if p.tokens[p.index][0] == "#":
            loc = p.here()
            case = property_value(p, spec, attr, attribute(p), loc)
        else:
            p.expect("<")
            case = p.one_of(table, what)
            p.expect(">")
        store(draft.attributes, attr, case)

    return read


def _flags(spec: OpSpec, step: Step) -> Read:
    names = frozenset(step.fields)

    def read(p: Parser, draft: Draft) -> None:
        while (name := p.tokens[p.index]) in names:
            if name in draft.attributes:
                p.fail(codes.DUPLICATE, f"expected '{name}' once, got it again")
            draft.attributes[name] = True
            p.index += 1

    return read


def _scope(spec: OpSpec, step: Step) -> Read:
    attr = spec.attr_index[step.fields[0]]
    table = _table(attr)

    def read(p: Parser, draft: Draft) -> None:
        token = p.tokens[p.index]
        case = table.get(token)
        if case is not None:
            draft.attributes[attr.name] = case
            p.index += 1
        elif token[0] == '"' or token[0].isalpha():
            p.not_one_of(token, keywords(type(next(iter(table.values())))), "memory scope")

    return read


def _memory(spec: OpSpec, step: Step) -> Read:
    ordering, scope = (spec.attr_index[name] for name in step.fields)
    assert ordering.enum is not None and scope.enum is not None
    orderings, scopes = keywords(ordering.enum), keywords(scope.enum)

    def read(p: Parser, draft: Draft) -> None:
        draft.attributes[ordering.name] = found = p.one_of(orderings, "memory ordering")
        token = p.tokens[p.index]
        if token[0] == "%":
            return
        if found is a.MemoryOrdering.WEAK and token[0].isalpha():
            p.fail(codes.WEAK_SCOPE, f"expected no memory scope after 'weak', got '{token}'")
        draft.attributes[scope.name] = p.one_of(scopes, "memory scope")

    return read


def _tail(spec: OpSpec, step: Step) -> Read:
    operand = spec.operand_index[step.fields[0]]
    value = (_values if operand.variadic else _value)(operand)
    position, variadic = operand.position, operand.variadic

    def read(p: Parser, draft: Draft) -> None:
        if variadic:
            draft.groups[position], draft.marks[position] = [], []
        if p.tokens[p.index] == ",":
            p.index += 1
            if p.tokens[p.index][0] == "%":
                value(p, draft)

    return read


def _tail_flag(spec: OpSpec, step: Step) -> Read:
    attr = spec.attr_index[step.fields[0]]

    def read(p: Parser, draft: Draft) -> None:
        if p.accept(","):
            p.expect(attr.name)
            draft.attributes[attr.name] = True

    return read


def _token(spec: OpSpec, step: Step) -> Read:
    value = _value(spec.operand_index[step.fields[0]])

    def read(p: Parser, draft: Draft) -> None:
        if p.tokens[p.index] == "token":
            p.index += 1
            p.expect("=")
            value(p, draft)

    return read


def _hints(spec: OpSpec, step: Step) -> Read:
    attr = spec.attr_index[step.fields[0]]

    def read(p: Parser, draft: Draft) -> None:
        if p.tokens[p.index] == "optimization_hints":
            p.index += 1
            p.expect("=")
            loc = p.here()
            found = attribute(p) if p.peek()[0] == "#" else hints(p)
            draft.attributes[attr.name] = property_value(p, spec, attr, found, loc)

    return read


def _inbounds(spec: OpSpec, step: Step) -> Read:
    attr = spec.attr_index[step.fields[0]]
    table = {"true": True, "false": False}

    def read(p: Parser, draft: Draft) -> None:
        if p.tokens[p.index] == attr.name:
            p.index += 1
            p.expect("=")
            p.expect("[")
            store(draft.attributes, attr, tuple(p.comma_list(lambda: p.one_of(table, "inbounds"), "]")))

    return read


def _elements(spec: OpSpec, step: Step) -> Read:
    """``<E: elements>``, or ``dense<elements>`` of early documents; encoded once the type is known."""

    def read(p: Parser, draft: Draft) -> None:
        draft.element, draft.literal = read_elements(p)

    return read


def read_elements(p: Parser) -> tuple[Type | None, Literal]:
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


def _attr_dict(spec: OpSpec, step: Step) -> Read:
    def read(p: Parser, draft: Draft) -> None:
        if p.tokens[p.index] == "{":
            loc = p.here()
            draft.discardable = distribute(p, spec, dictionary(p), draft.attributes, loc)

    return read


def _attr_dict_with_keyword(spec: OpSpec, step: Step) -> Read:
    dictionary_step = _attr_dict(spec, step)

    def read(p: Parser, draft: Draft) -> None:
        if p.tokens[p.index] == "attributes":
            p.index += 1
            if p.peek() != "{":
                p.expected("'{'")
            dictionary_step(p, draft)
        elif p.tokens[p.index] == "{":
            p.expected("':'", "this operation has the word 'attributes' in front of its dictionary")

    return read


_MAKERS: dict[str, Callable[[OpSpec, Step], Read]] = {
    "literal": lambda spec, step: (_elements if step.fields else _literal)(spec, step),
    "field": _field,
    "type": _type,
    "repeated_type": _repeated_type,
    "rounding": _clause,
    "clause": _clause,
    "flags": _flags,
    "scope": _scope,
    "memory": _memory,
    "tail": _tail,
    "tail_type": _tail_type,
    "tail_flag": _tail_flag,
    "token": _token,
    "spaced_token": _token,
    "hints": _hints,
    "inbounds": _inbounds,
    "blank_inbounds": _inbounds,
    "index_types": _index_types,
    "exit_operands": _exit_operands,
    "tail_colon_types": _tail_colon_types,
    "print_result": _print_result,
    "attr-dict": _attr_dict,
    "attr-dict-with-keyword": _attr_dict_with_keyword,
}
