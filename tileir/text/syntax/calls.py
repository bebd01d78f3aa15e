"""Functions and calls of early documents, and calls of code that is linked in (spec: calls#top)."""

from __future__ import annotations

from typing import Any

from tileir.ir.attributes import ArrayAttr, Attribute, IntegerAttr, StringAttr, TypeAttr
from tileir.ir.core import Op
from tileir.ir.types import I64, FunctionType
from tileir.ops.calls import Call, Func, PreviewCall
from tileir.text.numbers import symbol_text
from tileir.text.printing.attributes import attr_dict, attribute_text, dict_text, sorted_entries
from tileir.text.printing.writer import Writer, result_list, write_line, write_with_body
from tileir.text.reading.reader import Reader
from tileir.text.reading.statements import StatementReader, function_type
from tileir.text.reading.types import parse_type
from tileir.text.syntax.module import read_function, read_signature, signature_text


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
    op = cls(values, type.results, attributes, (), segments=(len(values),))
    op.discardable = discardable
    return op


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
    dictionary = f" {dict_text(sorted_entries(entries))}" if entries else ""
    head = symbol_text(op.callee) + (f"<[{constants}]>" if constants else "")
    signature = FunctionType([value.type for value in op.operands], [value.type for value in op.results])
    write_line(writer, op, indent, f"{head}({writer.values(op.operands)}){dictionary} : {signature.text}")


def _constant_text(value: Attribute) -> str:
    if isinstance(value, ArrayAttr):
        comma = "," if len(value) == 1 else ""
        return f"({', '.join(map(_constant_text, value))}{comma})"
    return attribute_text(value, elide=True)
