"""Reductions and scans (spec: syntax#regions)."""

from __future__ import annotations

from typing import Any

from tileir.ir.core import Op, Value
from tileir.ir.loc import UNKNOWN
from tileir.ops.reduction import Reduce, Scan
from tileir.text.printing.attributes import array_text, attr_dict, bool_text
from tileir.text.printing.writer import Writer, arguments_text, write_body, write_close
from tileir.text.reading.attributes import attribute
from tileir.text.reading.statements import StatementReader, arguments, property_value
from tileir.text.reading.types import parse_type
from tileir.text.reading.values import StatementShape

_BOOLEANS = {"true": True, "false": False}


def read_reduce(p: StatementReader) -> Op:
    return _reduction(p, Reduce)


def read_scan(p: StatementReader) -> Op:
    return _reduction(p, Scan)


def _reduction(p: StatementReader, cls: type[Op]) -> Op:
    again = p.shapes.known(p.tokens, p.index - 1, p.values)
    if again is None:
        return _read_anew(p, cls)
    shape, operands, p.index = again
    body = p.region(cls.spec, arguments(p))
    return cls(operands, shape.result_types, shape.attributes, (body,), UNKNOWN, shape.segments)


def _read_anew(p: StatementReader, cls: type[Op]) -> Op:
    begin, troubles = p.index - 1, p.troubles
    offset = p.starts[begin]
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
    if discardable is None and p.can_keep(begin, offset, troubles):
        shape = StatementShape.of(values, results, attributes, (len(values),))
        attributes = shape.attributes if p.keep(begin, marks, shape) else attributes
    body = p.region(cls.spec, arguments(p))
    op = cls(values, results, attributes, (body,), segments=(len(values),))
    op.discardable = discardable
    return op


def _operand_types(p: StatementReader, values: list[Value], marks: list[int]) -> None:
    begin = p.starts[p.index]
    types = p.some(lambda: parse_type(p))
    p.check_count(types, values, "operand", begin)
    for value, type, mark in zip(values, types, marks):
        p.check_type(value, type, mark)


def write_reduce(writer: Writer, op: Reduce, indent: str) -> None:
    _write(writer, op, indent, f"dim={op.dim}")


def write_scan(writer: Writer, op: Scan, indent: str) -> None:
    _write(writer, op, indent, f"dim={op.dim} reverse={bool_text(op.reverse)}")


def _write(writer: Writer, op: Reduce | Scan, indent: str, direction: str) -> None:
    """Write a reduction: the header ends with a blank, and the arguments have a line of their own."""
    what = f"{writer.name(op)} {writer.values(op.operands)}{attr_dict(op)} {direction}"
    types = f"{writer.types(op.operands)} -> {writer.types(op.results)}"
    writer.lines.append(f"{writer.start(op, indent)}{what} identities={array_text(op.identities)} : {types} ")
    writer.lines.append(f"{indent}{arguments_text(writer, op.body.args)} {{")
    write_body(writer, op, op.body, indent)
    write_close(writer, op, indent)
