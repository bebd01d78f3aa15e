"""The arguments of a block, as a header or a label declares them, and the signatures of operations that have one."""

from __future__ import annotations

from dataclasses import dataclass

from tileir.ir import attributes as a
from tileir.ir.core import Value
from tileir.ir.loc import Location
from tileir.ir.types import FunctionType, Type
from tileir.text.reading import codes
from tileir.text.reading.attributes import attribute, dictionary
from tileir.text.reading.lexer import token_at
from tileir.text.reading.locations import location_in_brackets
from tileir.text.reading.types import parse_type
from tileir.text.reading.values import ValueReader

_NO_ENTRIES = a.DictAttr()


@dataclass(slots=True)
class Argument:
    """A block argument as declared; `name` is None for one that has only a type."""

    name: str | None
    type: Type
    begin: int
    attributes: a.DictAttr
    loc: Location | None


def arguments(p: ValueReader) -> list[Argument]:
    """``(%a: T, ...)``: all with names, or all without."""
    p.expect("(")
    first = p.here()
    declared = p.comma_list(lambda: _argument(p), ")")
    named = [arg.name is not None for arg in declared]
    if any(named) and not all(named):
        odd = next(arg for arg in declared if (arg.name is None) == named[0])
        what, got = ("a value name", "none") if named[0] else ("no value name", "one")
        loc = p.place(odd.begin, odd.begin + len(token_at(p.text, odd.begin)))
        message = f"expected {what} as for the first argument, got {got}"
        p.fail(codes.ARGUMENT_NAMES, message, loc, notes=p.note("first argument", first))
    return declared


def _argument(p: ValueReader) -> Argument:
    begin = p.starts[p.index]
    name = None
    if p.peek()[0] == "%":
        name = p.new_name()
        p.expect(":")
    type = parse_type(p)
    given = _attributes(p) if p.peek() == "{" else _NO_ENTRIES
    loc = location_in_brackets(p, attribute) if p.accept("loc") else None
    return Argument(name, type, begin, given, loc)


def _attributes(p: ValueReader) -> a.DictAttr:
    """``{key = value}`` behind a type; a body there means that the bracket before it is missing."""
    brace = p.starts[p.index]
    if p.tokens[p.index + 1][0] != "%":
        given = a.DictAttr.of(dictionary(p))
        p.lookahead()
        if p.peek() in (",", ")", "loc"):
            return given
        p.restart(brace)
    p.expected("',' or ')'")


def plain_argument(name: str, type: Type, begin: int) -> Argument:
    return Argument(name, type, begin, _NO_ENTRIES, None)


def function_type(p: ValueReader, values: list[Value], marks: list[int]) -> FunctionType:
    """``: (T, ...) -> R``, checked against the operands."""
    p.expect(":")
    at = p.here()
    type = parse_type(p)
    if p.is_poison(type):
        return FunctionType((type,) * len(values), (type,) * sum(name.size for name in p.names))
    if not isinstance(type, FunctionType):
        p.fail(codes.EXPECTED, f"expected a function type such as (tile<f32>) -> tile<f32>, got {type!r}", at)
    p.check_count(type.inputs, values, "operand", at.offset)
    for value, expected, mark in zip(values, type.inputs, marks):
        p.check_type(value, expected, mark)
    return type
