"""Headers of loops, conditions, reduce and scan (spec: syntax#regions). `StatementReader.region` reads regions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tileir.ir.attributes import ArrayAttr, Attribute
from tileir.ir.core import Op, Value
from tileir.ir.partial import POISON
from tileir.ir.types import ElementType, TileType, Type
from tileir.ops.control import For, If, Loop
from tileir.ops.reduction import Reduce, Scan
from tileir.text.attributes import array_text, attr_dict, attribute, bool_text, checked_number
from tileir.text.elements import Literal, read_literal
from tileir.text.reading import codes
from tileir.text.reading.reader import BOOLEANS, TextFault
from tileir.text.reading.statements import Argument, StatementReader, arguments, property_value
from tileir.text.reading.types import parse_type
from tileir.text.writer import Writer, arguments_text, write_body, write_close, write_with_body

# ---------------------------------------------------------------- for


def read_for(p: StatementReader) -> Op:
    attributes: dict[str, Any] = {"unsignedCmp": True} if p.accept("unsigned") else {}
    begin = p.starts[p.index]
    name = p.new_name("the induction variable, such as %i")
    p.expect_all("in", "(")
    bounds = [_bound(p, close) for close in ("to", ",")]
    p.expect("step")
    bounds.append(_bound(p, ")"))
    p.expect(":")
    type = parse_type(p)
    for value, at in bounds:
        p.check_type(value, type, at)
    carried: list[_Carried] = []
    types: list[Type] = []
    if p.accept("iter_values"):
        carried = _assignments(p)
        p.expect_all("->", "(")
        types = p.comma_list(lambda: parse_type(p), ")")
    declared = [Argument(name, type, begin), *_carry(p, carried, types)]
    operands = [value for value, _ in bounds] + [item.value for item in carried]
    body = p.region(For.spec, declared)
    return p.with_dict(For(operands, types, attributes, (body,), segments=(1, 1, 1, len(carried))))


def write_for(writer: Writer, op: For, indent: str) -> None:
    uses = writer.uses
    induction, *carried = op.body.args
    unsigned = "unsigned " if op.unsigned else ""
    bounds = f"({uses[op.lower]} to {uses[op.upper]}, step {uses[op.step]}) : {writer.short[induction.type]}"
    values = ""
    if op.initial:
        values = f" iter_values{_assigned(writer, carried, op.initial)} -> ({writer.types(op.results)})"
    write_with_body(writer, op, indent, f"for {unsigned}{uses[induction]} in {bounds}{values}")


def _bound(p: StatementReader, close: str) -> tuple[Value, int]:
    begin = p.starts[p.index]
    value = p.value()
    p.expect(close)
    return value, begin


# ---------------------------------------------------------------- loop


def read_loop(p: StatementReader) -> Op:
    carried = _assignments(p) if p.accept("iter_values") else []
    types: list[Type] = []
    results: list[Type] = []
    if carried:
        p.expect(":")
        types = p.some(lambda: parse_type(p))
        results = p.some(lambda: parse_type(p)) if p.accept("->") else []
    elif p.accept(":"):
        results = p.some(lambda: parse_type(p))
    declared = _carry(p, carried, types)
    body = p.region(Loop.spec, declared)
    return p.with_dict(Loop([item.value for item in carried], results, {}, (body,), segments=(len(carried),)))


def write_loop(writer: Writer, op: Loop, indent: str) -> None:
    header = "loop"
    if op.initial:
        header += f" iter_values{_assigned(writer, op.body.args, op.initial)} : {writer.types(op.initial)}"
    if op.results:
        header += f" {'->' if op.initial else ':'} {writer.types(op.results)}"
    write_with_body(writer, op, indent, header)


# ---------------------------------------------------------------- carried values


@dataclass(slots=True)
class _Carried:
    """``%name = %value`` of `iter_values`."""

    name: str
    begin: int
    value: Value
    value_begin: int


def _assignments(p: StatementReader) -> list[_Carried]:
    def assignment() -> _Carried:
        begin = p.starts[p.index]
        name = p.new_name()
        p.expect("=")
        value_begin = p.starts[p.index]
        return _Carried(name, begin, p.value(), value_begin)

    p.expect("(")
    return p.comma_list(assignment, ")")


def _carry(p: StatementReader, carried: list[_Carried], types: list[Type]) -> list[Argument]:
    """Check the initial values against the stated types and make the block arguments."""
    p.check_count(types, carried, "carried value", p.starts[p.index])
    for item, type in zip(carried, types):
        p.check_type(item.value, type, item.value_begin)
    return [Argument(item.name, type, item.begin) for item, type in zip(carried, types)]


def _assigned(writer: Writer, arguments: Sequence[Value], initial: Sequence[Value]) -> str:
    pairs = zip(arguments, initial)
    return f"({', '.join([f'{writer.uses[argument]} = {writer.uses[value]}' for argument, value in pairs])})"


# ---------------------------------------------------------------- if


def read_if(p: StatementReader) -> Op:
    begin = p.starts[p.index]
    condition = p.value()
    p.check_type(condition, If.spec.operands[0].constraint.only, begin)
    results: list[Type] = []
    if p.accept("->"):
        p.expect("(")
        results = p.comma_list(lambda: parse_type(p), ")")
    then = p.region(If.spec, [])
    otherwise = p.region(If.spec, []) if p.accept("else") else None
    return p.with_dict(If([condition], results, {}, (then, otherwise), segments=(1,)))


def write_if(writer: Writer, op: If, indent: str) -> None:
    results = f" -> ({writer.types(op.results)})" if op.results else ""
    writer.lines.append(f"{writer.start(op, indent)}if {writer.uses[op.condition]}{results} {{")
    write_body(writer, op, op.then, indent)
    if op.otherwise is not None:
        writer.lines.append(f"{indent}}} else {{")
        write_body(writer, op, op.otherwise, indent)
    write_close(writer, op, indent, attr_dict(op))


# ---------------------------------------------------------------- bodies of reduce and scan


def read_reduction(p: StatementReader, cls: type[Op]) -> Op:
    """Read a `reduce` or `scan`."""
    values, marks = p.value_list()
    attributes: dict[str, Any] = {}
    discardable = p.read_dict(cls.spec, attributes)
    p.expect_all("dim", "=")
    attributes["dim"] = p.integer("a dimension", 32)
    if cls is Scan:
        p.expect_all("reverse", "=")
        attributes["reverse"] = p.one_of(BOOLEANS, "reverse")
    p.expect_all("identities", "=")
    at, untyped = p.here(), _untyped_numbers(p)
    given = None if untyped is not None else attribute(p)
    p.expect(":")
    begin = p.starts[p.index]
    types = p.some(lambda: parse_type(p))
    p.check_count(types, values, "operand", begin)
    p.check_types(types, values, marks)
    if given is None:
        given = ArrayAttr(tuple([_identity(p, one, value.type) for one, value in zip(untyped or (), values)]))
    attributes["identities"] = property_value(p, cls.spec, cls.spec.attr_index["identities"], given, at)
    p.expect("->")
    results = p.some(lambda: parse_type(p))
    # The arguments stand here or in a label inside the body.
    body = p.region(cls.spec, [] if p.peek() == "{" else arguments(p))
    return cls(values, results, attributes, (body,), segments=(len(values),), discardable=discardable)


def _untyped_numbers(p: StatementReader) -> list[Literal] | None:
    """Read ``[0, -inf]``, as a Rust front end writes identities; None, and nothing is read, where types stand there."""
    number = p.index + 1 + (p.tokens[p.index + 1] == "-")
    if p.peek() != "[" or p.tokens[number][0] == "[" or p.tokens[number + 1] not in (",", "]"):
        return None
    if p.tokens[number] in ("true", "false"):
        return None
    p.index += 1
    return p.comma_list(lambda: read_literal(p), "]")


def _identity(p: StatementReader, literal: Literal, type: Type) -> Attribute:
    if type is POISON:
        raise TextFault(None)
    element = type.element if isinstance(type, TileType) else type
    if not isinstance(element, ElementType):
        at = p.place(literal.begin, literal.end)
        p.fail(codes.LITERAL_ELEMENT, f"expected an identity for a tile of numbers, got one for {type!r}", at)
    if element.is_float and literal.text.lstrip("-").isdigit():
        literal.text += ".0"
    return checked_number(p, literal, element)


def write_reduction(writer: Writer, op: Reduce | Scan, indent: str) -> None:
    """Write a reduction: the header ends with a blank, and the arguments have a line of their own."""
    direction = f"dim={op.dim}" + (f" reverse={bool_text(op.reverse)}" if isinstance(op, Scan) else "")
    what = f"{writer.name(op)} {writer.values(op.operands)}{attr_dict(op)} {direction}"
    types = f"{writer.types(op.operands)} -> {writer.types(op.results)}"
    writer.lines.append(f"{writer.start(op, indent)}{what} identities={array_text(op.identities)} : {types} ")
    writer.lines.append(f"{indent}{arguments_text(writer, op.body.args)} {{")
    write_body(writer, op, op.body, indent)
    write_close(writer, op, indent)
