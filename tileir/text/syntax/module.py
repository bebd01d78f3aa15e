"""Modules, entries, globals, functions and calls (spec: syntax#items)."""

from __future__ import annotations

from typing import Any

from tileir.ir import attributes as a
from tileir.ir.attributes import ArrayAttr, Attribute, IntegerAttr, StringAttr, TypeAttr, Visibility
from tileir.ir.core import Op
from tileir.ir.types import I64, FunctionType, Type
from tileir.ops.calls import Call, Func, PreviewCall
from tileir.ops.module import Entry, Global, ModuleOp
from tileir.text.attributes import attr_dict, attribute_text, dict_text, dictionary, hints
from tileir.text.elements import constant_elements, literal_text
from tileir.text.numbers import symbol_text
from tileir.text.reading import codes
from tileir.text.reading.reader import Reader, TextFault
from tileir.text.reading.statements import Argument, StatementReader, arguments, distribute, function_type, store
from tileir.text.reading.types import parse_type
from tileir.text.syntax.directive import read_elements
from tileir.text.writer import (
    Writer,
    arguments_text,
    result_list,
    write_body,
    write_close,
    write_line,
    write_with_body,
)

_EARLY_VISIBILITY = "sym_visibility"
_VISIBILITIES = a.Visibility.keywords()


def read_module(p: StatementReader) -> Op:
    attributes: dict[str, Any] = {"sym_name": p.symbol("the name of the module, such as @name")}
    discardable = None
    if p.accept("attributes"):
        at = p.here()
        discardable = distribute(p, ModuleOp.spec, dictionary(p), attributes, at)
    return ModuleOp([], (), attributes, (p.region(ModuleOp.spec, []),), discardable=discardable)


def write_module(writer: Writer, op: ModuleOp, indent: str) -> None:
    entries = dict(op.discardable or {})
    if op.producer is not None:
        entries["producer"] = StringAttr(op.producer)
    attributes = dict_text(entries, " attributes ")
    writer.lines.append(f"{indent}cuda_tile.module {symbol_text(op.sym_name)}{attributes} {{")
    write_body(writer, op, op.body, indent)
    write_close(writer, op, indent)


# ---------------------------------------------------------------- entries


def read_entry(p: StatementReader) -> Op:
    attributes: dict[str, Any] = {"sym_name": p.symbol("the name of the entry, such as @name")}
    declared = read_signature(p, attributes)
    if p.accept_key("optimization_hints"):
        found = hints(p)
        if found:
            attributes["optimization_hints"] = found
    return read_function(p, Entry, attributes, declared)


def write_entry(writer: Writer, op: Entry, indent: str) -> None:
    hints = op.optimization_hints
    shown = f" optimization_hints={writer.hints(hints)}" if hints else ""
    write_with_body(writer, op, indent, signature_text(writer, op) + shown)


def read_function(p: StatementReader, cls: type[Op], attributes: dict[str, Any], declared: list[Argument]) -> Op:
    """Return the body of an entry or function, and its dictionary."""
    body = p.region(cls.spec, declared, implicit=not attributes["function_type"].results)
    return p.with_dict(cls([], (), attributes, (body,)))


def read_signature(p: StatementReader, attributes: dict[str, Any]) -> list[Argument]:
    """Read ``(%a: T, ...) -> results``, kept as the function type."""

    def result() -> tuple[Type, a.DictAttr]:
        type = parse_type(p)
        return type, a.DictAttr.of(dictionary(p)) if p.peek() == "{" else a.DictAttr()

    declared = arguments(p)
    results: list[tuple[Type, a.DictAttr]] = []
    if p.accept("->"):
        results = p.comma_list(result, ")") if p.accept("(") else [(parse_type(p), a.DictAttr())]
    attributes["function_type"] = FunctionType((arg.type for arg in declared), (type for type, _ in results))
    if any(arg.attributes for arg in declared):
        attributes["arg_attrs"] = a.ArrayAttr(tuple(arg.attributes for arg in declared))
    if any(given for _, given in results):
        attributes["res_attrs"] = a.ArrayAttr(tuple(given for _, given in results))
    return declared


def signature_text(writer: Writer, op: Entry | Func) -> str:
    results = op.function_type.results
    shown = f" -> {result_list(writer, results)}" if results else ""
    return f"{writer.name(op)} {symbol_text(op.sym_name)}{arguments_text(writer, op.body.args)}{shown}"


# ---------------------------------------------------------------- globals


def read_global(p: StatementReader) -> Op:
    attributes: dict[str, Any] = {}
    if p.peek() in _VISIBILITIES:
        store(attributes, Global.spec.attr_index["symbol_visibility"], p.one_of(_VISIBILITIES, "visibility"))
    if p.accept("constant"):
        attributes["constant"] = True
    attributes["sym_name"] = p.symbol("the name of the global, such as @name")
    if p.accept_key("alignment"):
        store(attributes, Global.spec.attr_index["alignment"], p.integer("an alignment"))
    discardable = None
    if p.peek() == "{":
        at, entries = p.here(), dictionary(p)
        if _EARLY_VISIBILITY in entries:
            message = f"expected the visibility as a keyword, got '{_EARLY_VISIBILITY}'"
            p.fail(codes.LEGACY, message, at, hint="write global private @name ...")
        discardable = distribute(p, Global.spec, entries, attributes, at)
    if p.peek() == ":":
        hint = "write global @name <f32: [1.0, 2.0]> : tile<2xf32>"
        p.expected("'<' and the initial value", hint)
    element, literal = read_elements(p)
    p.expect(":")
    at = p.here()
    type = parse_type(p)
    value = constant_elements(p, element, literal, type, at)
    if value is None:
        raise TextFault(None)
    attributes["value"] = value
    return Global([], (), attributes, (), discardable=discardable)


def write_global(writer: Writer, op: Global, indent: str) -> None:
    """Write a global, where the visibility keeps its blank when it is left out."""
    visibility = "" if op.symbol_visibility is Visibility.PUBLIC else f"{op.symbol_visibility.text} "
    constant = " constant" if op.constant else ""
    alignment = f" alignment = {op.alignment}" if op.alignment else ""
    name = f"{visibility}{constant} {symbol_text(op.sym_name)}{alignment}{attr_dict(op)}"
    write_line(writer, op, indent, f"{name} {literal_text(op.value)} : {writer.short[op.value.type]}")


# ---------------------------------------------------------------- calls


def read_func(p: StatementReader) -> Op:
    attributes: dict[str, Any] = {"sym_name": p.symbol("the name of the function, such as @name")}
    return read_function(p, Func, attributes, read_signature(p, attributes))


def write_func(writer: Writer, op: Func, indent: str) -> None:
    write_with_body(writer, op, indent, signature_text(writer, op))


def read_call(p: StatementReader) -> Op:
    return _read_call(p, Call, {"callee": p.symbol("the function to call, such as @name")})


def _read_call(p: StatementReader, cls: type[Op], attributes: dict[str, Any]) -> Op:
    """Read ``(%a, ...) {attrs} : (T, ...) -> R``."""
    p.expect("(")
    values, marks = p.value_list() if p.peek()[0] == "%" else ([], [])
    p.expect(")")
    discardable = p.read_dict(cls.spec, attributes)
    type = function_type(p, values, marks)
    return cls(values, type.results, attributes, (), segments=(len(values),), discardable=discardable)


def write_call(writer: Writer, op: Call, indent: str) -> None:
    signature = f"({writer.types(op.operands)}) -> {result_list(writer, [value.type for value in op.results])}"
    write_line(
        writer, op, indent, f"{symbol_text(op.callee)}({writer.values(op.operands)}){attr_dict(op)} : {signature}"
    )


# ---------------------------------------------------------------- calls of code that is linked in


def read_preview_call(p: StatementReader) -> Op:
    attributes: dict[str, Any] = {"callee": p.symbol("the function to call, such as @name")}
    if p.accept("<"):
        p.expect("[")
        attributes["const_args"] = ArrayAttr(tuple(p.comma_list(lambda: _constant(p), "]")))
        p.expect(">")
    return _read_call(p, PreviewCall, attributes)


def _constant(p: Reader) -> Attribute:
    """Return an integer, a string, a type, or a tuple of constants: ``(1,)``."""
    token = p.peek()
    if token[0] == '"':
        return StringAttr(p.string())
    if token == "(":
        return _tuple(p)
    if token[0].isdigit() or token[0] == "-":
        return IntegerAttr(p.integer("a constant"), I64)
    return TypeAttr(parse_type(p))


def _tuple(p: Reader) -> ArrayAttr:
    p.enter()
    p.expect("(")
    items: list[Attribute] = []
    while not p.accept(")"):
        items.append(_constant(p))
        if not p.accept(","):
            p.expect(")", "',' or ')'")
            break
    p.depth -= 1
    return ArrayAttr(tuple(items))


def write_preview_call(writer: Writer, op: PreviewCall, indent: str) -> None:
    constants = ", ".join(map(_constant_text, op.const_args))
    entries: dict[str, Attribute] = dict(op.discardable or {})
    entries |= {name: op.attributes[name] for name in ("arg_attrs", "res_attrs") if name in op.attributes}
    head = symbol_text(op.callee) + (f"<[{constants}]>" if constants else "")
    signature = FunctionType([value.type for value in op.operands], [value.type for value in op.results])
    write_line(writer, op, indent, f"{head}({writer.values(op.operands)}){dict_text(entries)} : {signature.text}")


def _constant_text(value: Attribute) -> str:
    if isinstance(value, ArrayAttr):
        comma = "," if len(value) == 1 else ""
        return f"({', '.join(map(_constant_text, value))}{comma})"
    return attribute_text(value, elide=True)
