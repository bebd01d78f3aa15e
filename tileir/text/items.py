"""The syntax of what stands in a module: modules, entries, functions, globals (specification, types and syntax, 3.2).

Does not know: what stands in a body (`Parser.region`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir.ir import attributes as a
from tileir.ir.core import Op
from tileir.ir.loc import Location
from tileir.ir.types import FunctionType, Type
from tileir.ops.extension import Func
from tileir.ops.module import Entry, Global, ModuleOp
from tileir.text import codes
from tileir.text.attribute_parser import dictionary, hints, keywords
from tileir.text.properties import distribute, store
from tileir.text.regions import Argument, arguments
from tileir.text.steps import read_elements
from tileir.text.type_parser import parse_type

if TYPE_CHECKING:
    from tileir.text.parser import Parser

_EARLY_VISIBILITY = "sym_visibility"
_VISIBILITIES = keywords(a.Visibility)


def read_module(p: Parser, loc: Location) -> Op:
    attributes: dict[str, Any] = {"sym_name": p.symbol("the name of the module, such as @name")}
    discardable = None
    if p.accept("attributes"):
        at = p.here()
        discardable = distribute(p, ModuleOp.spec, dictionary(p), attributes, at)
    op = ModuleOp([], (), attributes, (p.region(ModuleOp.spec, []),), loc)
    op.discardable = discardable
    return op


def read_entry(p: Parser, loc: Location) -> Op:
    attributes: dict[str, Any] = {"sym_name": p.symbol("the name of the entry, such as @name")}
    declared = _signature(p, attributes)
    if p.accept("optimization_hints"):
        p.expect("=")
        found = hints(p)
        if found:
            attributes["optimization_hints"] = found
    return _with_body(p, Entry, attributes, declared, loc)


def read_func(p: Parser, loc: Location) -> Op:
    attributes: dict[str, Any] = {"sym_name": p.symbol("the name of the function, such as @name")}
    return _with_body(p, Func, attributes, _signature(p, attributes), loc)


def _with_body(p: Parser, cls: type[Op], attributes: dict[str, Any], declared: list[Argument], loc: Location) -> Op:
    body = p.region(cls.spec, declared, implicit=not attributes["function_type"].results)
    op = cls([], (), attributes, (body,), loc)
    op.discardable = p.attr_dict(op)
    return op


def _signature(p: Parser, attributes: dict[str, Any]) -> list[Argument]:
    """``(%a: T, ...) -> results``, kept as the function type."""
    declared = arguments(p)
    results: list[tuple[Type, a.DictAttr]] = []
    if p.accept("->"):
        results = p.comma_list(lambda: _result(p), ")") if p.accept("(") else [(parse_type(p), a.DictAttr())]
    attributes["function_type"] = FunctionType((arg.type for arg in declared), (type for type, _ in results))
    if any(arg.attributes for arg in declared):
        attributes["arg_attrs"] = a.ArrayAttr(tuple(arg.attributes for arg in declared))
    if any(given for _, given in results):
        attributes["res_attrs"] = a.ArrayAttr(tuple(given for _, given in results))
    return declared


def _result(p: Parser) -> tuple[Type, a.DictAttr]:
    type = parse_type(p)
    return type, a.DictAttr.of(dictionary(p)) if p.peek() == "{" else a.DictAttr()


def read_global(p: Parser, loc: Location) -> Op:
    attributes: dict[str, Any] = {}
    if p.peek() in _VISIBILITIES:
        store(attributes, Global.spec.attr_index["symbol_visibility"], p.one_of(_VISIBILITIES, "visibility"))
    if p.accept("constant"):
        attributes["constant"] = True
    attributes["sym_name"] = p.symbol("the name of the global, such as @name")
    if p.accept("alignment"):
        p.expect("=")
        store(attributes, Global.spec.attr_index["alignment"], p.integer("an alignment"))
    discardable = _global_dictionary(p, attributes)
    if p.peek() == ":":
        hint = "write global @name <f32: [1.0, 2.0]> : tile<2xf32>"
        p.expected("'<' and the initial value", hint)
    element, literal = read_elements(p)
    p.expect(":")
    at = p.here()
    type = parse_type(p)
    value = p.elements(element, literal, type, at)
    if value is not None:
        attributes["value"] = value
    op = Global([], (), attributes, (), loc)
    op.discardable = discardable
    return op


def _global_dictionary(p: Parser, attributes: dict[str, Any]) -> dict[str, a.Attribute] | None:
    if p.peek() != "{":
        return None
    at = p.here()
    entries = dictionary(p)
    if _EARLY_VISIBILITY in entries:
        message = f"expected the visibility as a keyword, got '{_EARLY_VISIBILITY}'"
        p.fail(codes.LEGACY, message, at, hint="write global private @name ...")
    return distribute(p, Global.spec, entries, attributes, at)
