"""The operations with regions inside a body: loops, conditions, reductions, generate (specification 3.5, 8.5).

Knows: their headers. Does not know: how a region itself is read (`Parser.region`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tileir.ir import attributes as a
from tileir.ir.core import Op, Value
from tileir.ir.loc import Location
from tileir.ir.types import Type
from tileir.ops.control import For, If, Loop
from tileir.ops.core import Reduce, Scan
from tileir.ops.extension import Generate
from tileir.text import codes
from tileir.text.attribute_parser import attribute, dictionary
from tileir.text.lexer import token_at
from tileir.text.location_parser import location_in_brackets
from tileir.text.properties import property_value
from tileir.text.type_parser import parse_type

if TYPE_CHECKING:
    from tileir.text.parser import Parser

_BOOLEANS = {"true": True, "false": False}


@dataclass
class Argument:
    """A block argument as declared; `name` is None for one that has only a type."""

    name: str | None
    type: Type
    begin: int
    attributes: a.DictAttr
    loc: Location | None


def arguments(p: Parser) -> list[Argument]:
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


def _argument(p: Parser) -> Argument:
    begin = p.starts[p.index]
    name = None
    if p.peek()[0] == "%":
        name = p.new_name()
        p.expect(":")
    type = parse_type(p)
    given = a.DictAttr.of(dictionary(p)) if p.peek() == "{" else a.DictAttr()
    loc = location_in_brackets(p, attribute) if p.accept("loc") else None
    return Argument(name, type, begin, given, loc)


def plain_argument(name: str, type: Type, begin: int) -> Argument:
    return Argument(name, type, begin, a.DictAttr(), None)


# ---------------------------------------------------------------- loops


def read_for(p: Parser, loc: Location) -> Op:
    attributes: dict[str, Any] = {"unsignedCmp": True} if p.accept("unsigned") else {}
    begin = p.starts[p.index]
    name = p.new_name("the induction variable, such as %i")
    p.expect("in")
    p.expect("(")
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
        p.expect("->")
        p.expect("(")
        types = p.comma_list(lambda: parse_type(p), ")")
    declared = [plain_argument(name, type, begin), *_carry(p, carried, types)]
    operands = [value for value, _ in bounds] + [item.value for item in carried]
    op = For(operands, types, attributes, (p.region(For.spec, declared),), loc, (1, 1, 1, len(carried)))
    op.discardable = p.attr_dict(op)
    return op


def _bound(p: Parser, close: str) -> tuple[Value, int]:
    begin = p.starts[p.index]
    value = p.value()
    p.expect(close)
    return value, begin


@dataclass
class _Carried:
    """``%name = %value`` of `iter_values`."""

    name: str
    begin: int
    value: Value
    value_begin: int


def _assignments(p: Parser) -> list[_Carried]:
    p.expect("(")
    return p.comma_list(lambda: _assignment(p), ")")


def _assignment(p: Parser) -> _Carried:
    begin = p.starts[p.index]
    name = p.new_name()
    p.expect("=")
    value_begin = p.starts[p.index]
    return _Carried(name, begin, p.value(), value_begin)


def _carry(p: Parser, carried: list[_Carried], types: list[Type]) -> list[Argument]:
    """Check the initial values against the stated types and make the block arguments."""
    p.check_count(types, carried, "carried value", p.starts[p.index])
    for item, type in zip(carried, types):
        p.check_type(item.value, type, item.value_begin)
    return [plain_argument(item.name, type, item.begin) for item, type in zip(carried, types)]


def read_loop(p: Parser, loc: Location) -> Op:
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
    op = Loop([item.value for item in carried], results, {}, (body,), loc, (len(carried),))
    op.discardable = p.attr_dict(op)
    return op


def read_if(p: Parser, loc: Location) -> Op:
    begin = p.starts[p.index]
    condition = p.value()
    p.check_type(condition, If.spec.operands[0].constraint.only, begin)
    results: list[Type] = []
    if p.accept("->"):
        p.expect("(")
        results = p.comma_list(lambda: parse_type(p), ")")
    then = p.region(If.spec, [])
    otherwise = p.region(If.spec, []) if p.accept("else") else None
    op = If([condition], results, {}, (then, otherwise), loc, (1,))
    op.discardable = p.attr_dict(op)
    return op


# ---------------------------------------------------------------- reductions


def read_reduce(p: Parser, loc: Location) -> Op:
    return _reduction(p, loc, Reduce)


def read_scan(p: Parser, loc: Location) -> Op:
    return _reduction(p, loc, Scan)


def _reduction(p: Parser, loc: Location, cls: type[Op]) -> Op:
    values, marks = p.value_list()
    attributes: dict[str, Any] = {}
    discardable = p.read_dict(cls.spec, attributes)
    p.expect("dim")
    p.expect("=")
    attributes["dim"] = p.integer("a dimension", 32)
    if cls is Scan:
        p.expect("reverse")
        p.expect("=")
        attributes["reverse"] = p.one_of(_BOOLEANS, "reverse")
    p.expect("identities")
    p.expect("=")
    at = p.here()
    attributes["identities"] = property_value(p, cls.spec, cls.spec.attr_index["identities"], attribute(p), at)
    p.expect(":")
    _operand_types(p, values, marks)
    p.expect("->")
    results = p.some(lambda: parse_type(p))
    body = p.region(cls.spec, arguments(p))
    op = cls(values, results, attributes, (body,), loc, (len(values),))
    op.discardable = discardable
    return op


def _operand_types(p: Parser, values: list[Value], marks: list[int]) -> None:
    begin = p.starts[p.index]
    types = p.some(lambda: parse_type(p))
    p.check_count(types, values, "operand", begin)
    for value, type, mark in zip(values, types, marks):
        p.check_type(value, type, mark)


def read_generate(p: Parser, loc: Location) -> Op:
    body = p.region(Generate.spec, [])
    attributes: dict[str, Any] = {}
    discardable = p.read_dict(Generate.spec, attributes)
    p.expect(":")
    op = Generate([], (parse_type(p),), attributes, (body,), loc, ())
    op.discardable = discardable
    return op
