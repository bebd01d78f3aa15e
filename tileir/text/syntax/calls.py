"""Functions and calls of early documents (spec: extension#operations)."""

from __future__ import annotations

from typing import Any

from tileir.ir.core import Op
from tileir.ir.loc import Location
from tileir.ops.calls import Call, Func
from tileir.text.printing.attributes import attr_dict
from tileir.text.printing.regions import result_list, write_line, write_with_body
from tileir.text.printing.writer import Writer
from tileir.text.reading.arguments import function_type
from tileir.text.reading.statements import StatementReader
from tileir.text.strings import symbol_text
from tileir.text.syntax.module import read_function, read_signature, signature_text


def read_func(p: StatementReader, loc: Location) -> Op:
    attributes: dict[str, Any] = {"sym_name": p.symbol("the name of the function, such as @name")}
    return read_function(p, Func, attributes, read_signature(p, attributes), loc)


def write_func(writer: Writer, op: Func, indent: str) -> None:
    write_with_body(writer, op, indent, signature_text(writer, op))


def read_call(p: StatementReader, loc: Location) -> Op:
    attributes: dict[str, Any] = {"callee": p.symbol("the function to call, such as @name")}
    p.expect("(")
    values, marks = p.value_list() if p.peek()[0] == "%" else ([], [])
    p.expect(")")
    discardable = p.read_dict(Call.spec, attributes)
    type = function_type(p, values, marks)
    op = Call(values, type.results, attributes, (), loc, (len(values),))
    op.discardable = discardable
    return op


def write_call(writer: Writer, op: Call, indent: str) -> None:
    signature = f"({writer.types(op.operands)}) -> {result_list(writer, [value.type for value in op.results])}"
    write_line(
        writer, op, indent, f"{symbol_text(op.callee)}({writer.values(op.operands)}){attr_dict(op)} : {signature}"
    )
