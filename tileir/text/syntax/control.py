"""Loops and conditions (spec: syntax#regions): their headers. Regions are read by `StatementReader.region`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tileir.ir.core import Op, Value
from tileir.ir.types import Type
from tileir.ops.control import For, If, Loop
from tileir.text.printing.attributes import attr_dict
from tileir.text.printing.writer import Writer, write_body, write_close, write_with_body
from tileir.text.reading.statements import Argument, StatementReader, plain_argument
from tileir.text.reading.types import parse_type

# ---------------------------------------------------------------- for


def read_for(p: StatementReader) -> Op:
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
    op = For(operands, types, attributes, (p.region(For.spec, declared),), segments=(1, 1, 1, len(carried)))
    op.discardable = p.attr_dict(op)
    return op


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
    op = Loop([item.value for item in carried], results, {}, (body,), segments=(len(carried),))
    op.discardable = p.attr_dict(op)
    return op


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
    p.expect("(")
    return p.comma_list(lambda: _assignment(p), ")")


def _assignment(p: StatementReader) -> _Carried:
    begin = p.starts[p.index]
    name = p.new_name()
    p.expect("=")
    value_begin = p.starts[p.index]
    return _Carried(name, begin, p.value(), value_begin)


def _carry(p: StatementReader, carried: list[_Carried], types: list[Type]) -> list[Argument]:
    """Check the initial values against the stated types and make the block arguments."""
    p.check_count(types, carried, "carried value", p.starts[p.index])
    for item, type in zip(carried, types):
        p.check_type(item.value, type, item.value_begin)
    return [plain_argument(item.name, type, item.begin) for item, type in zip(carried, types)]


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
    op = If([condition], results, {}, (then, otherwise), segments=(1,))
    op.discardable = p.attr_dict(op)
    return op


def write_if(writer: Writer, op: If, indent: str) -> None:
    results = f" -> ({writer.types(op.results)})" if op.results else ""
    writer.lines.append(f"{writer.start(op, indent)}if {writer.uses[op.condition]}{results} {{")
    write_body(writer, op, op.then, indent)
    if op.otherwise is not None:
        writer.lines.append(f"{indent}}} else {{")
        write_body(writer, op, op.otherwise, indent)
    write_close(writer, op, indent, attr_dict(op))
