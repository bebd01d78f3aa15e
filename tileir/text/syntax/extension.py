"""Operations of early documents with lists of their own (spec: extension#operations)."""

from __future__ import annotations

from typing import Any

from tileir.ir import attributes as a
from tileir.ir.attributes import Attribute, BoolAttr, StringAttr
from tileir.ir.core import Op, Value
from tileir.ir.spec import OpSpec
from tileir.ir.types import Type
from tileir.ops.extension import ExternElementwise, GatherLoad, Generate, ScatterStore
from tileir.text.attributes import attr_dict, attribute_text, dict_text, dictionary
from tileir.text.reading import codes
from tileir.text.reading.reader import shown_token
from tileir.text.reading.statements import StatementReader, distribute, function_type, require
from tileir.text.reading.types import parse_type
from tileir.text.writer import Writer, arguments_text, write_body, write_close, write_line


def read_extern_elementwise(p: StatementReader) -> Op:
    values, marks = p.value_list()
    attributes: dict[str, Any] = {}
    at = p.here()
    discardable = distribute(p, ExternElementwise.spec, dictionary(p), attributes, at)
    require(p, ExternElementwise.spec, attributes, at, "attribute")
    type = function_type(p, values, marks)
    op = ExternElementwise(values, type.results, attributes, (), segments=(len(values),))
    op.discardable = discardable
    return op


def write_extern_elementwise(writer: Writer, op: ExternElementwise, indent: str) -> None:
    entries: dict[str, Attribute] = dict(op.discardable or {})
    entries |= {name: StringAttr(op.attributes[name]) for name in ("libname", "libpath", "symbol")}
    entries["pure"] = BoolAttr(op.pure)
    signature = f"({writer.types(op.operands)}) -> {writer.types(op.results)}"
    write_line(writer, op, indent, f"{writer.values(op.operands)}{dict_text(entries)} : {signature}")


# ---------------------------------------------------------------- generate


def read_generate(p: StatementReader) -> Op:
    body = p.region(Generate.spec, [])
    attributes: dict[str, Any] = {}
    discardable = p.read_dict(Generate.spec, attributes)
    p.expect(":")
    op = Generate([], (parse_type(p),), attributes, (body,), segments=())
    op.discardable = discardable
    return op


def write_generate(writer: Writer, op: Generate, indent: str) -> None:
    writer.lines.append(f"{writer.start(op, indent)}{writer.name(op)} {{")
    if op.body.args:
        writer.lines.append(f"{indent}^bb0{arguments_text(writer, op.body.args)}:")
    write_body(writer, op, op.body, indent)
    write_close(writer, op, indent, f"{attr_dict(op)} : {writer.types(op.results)}")


# ---------------------------------------------------------------- gather and scatter


def read_gather_load(p: StatementReader) -> Op:
    spec = GatherLoad.spec
    (source, index), offsets, marks = _indexed(p, 2)
    attributes, discardable = _angle_dict(p, spec)
    types = _types(p, 2, len(offsets))
    p.expect("->")
    result = parse_type(p)
    p.check_types(types, [source, index, *offsets], marks)
    op = GatherLoad([source, index, *offsets], (result,), attributes, (), segments=(1, 1, len(offsets)))
    op.discardable = discardable
    return op


def write_gather_load(writer: Writer, op: GatherLoad, indent: str) -> None:
    fill = "" if op.fill_value is None else f", fillValue = {attribute_text(op.fill_value)}"
    properties = f"<{{dim = {op.dim} : i64{fill}}}>"
    text = f"{writer.uses[op.source]}, {writer.uses[op.index]}, [{writer.values(op.offsets)}] {properties}"
    types = f"{writer.types([op.source, op.index, *op.offsets[:1]])} -> {writer.types(op.results)}"
    write_line(writer, op, indent, f"{text}{attr_dict(op)} : {types}")


def read_scatter_store(p: StatementReader) -> Op:
    spec = ScatterStore.spec
    (source, destination, index), offsets, marks = _indexed(p, 3)
    operands = [source, destination, index, *offsets]
    token: list[Value] = []
    if p.accept_key("token"):
        marks.append(p.starts[p.index])
        token = [p.value()]
    attributes, discardable = _angle_dict(p, spec)
    types = _types(p, 3, len(offsets))
    if token:
        p.expect(",")
        types.append(parse_type(p))
    p.expect("->")
    result = parse_type(p)
    p.check_types(types, operands + token, marks)
    segments = (1, 1, 1, len(offsets), len(token))
    op = ScatterStore(operands + token, (result,), attributes, (), segments=segments)
    op.discardable = discardable
    return op


def write_scatter_store(writer: Writer, op: ScatterStore, indent: str) -> None:
    uses = writer.uses
    tokens = [] if op.token is None else [op.token]
    values = f"{uses[op.source]}, {uses[op.destination]}, {uses[op.index]}, [{writer.values(op.offsets)}]"
    token = "".join(f" token = {uses[value]}" for value in tokens)
    typed = [op.source, op.destination, op.index, *op.offsets[:1], *tokens]
    types = f"{writer.types(typed)} -> {writer.types(op.results)}"
    write_line(writer, op, indent, f"{values}{token} <{{dim = {op.dim} : i64}}>{attr_dict(op)} : {types}")


def _indexed(p: StatementReader, count: int) -> tuple[list[Value], list[Value], list[int]]:
    """Read ``%a, %b, [%offset, ...]``: `count` values, then the offsets, and where all of them stand."""
    values: list[Value] = []
    marks: list[int] = []
    for _ in range(count):
        marks.append(p.starts[p.index])
        values.append(p.value())
        p.expect(",")
    p.expect("[")
    offsets, places = p.value_list() if p.peek()[0] == "%" else ([], [])
    p.expect("]")
    return values, offsets, marks + places


def _angle_dict(p: StatementReader, spec: OpSpec) -> tuple[dict[str, Any], dict[str, a.Attribute] | None]:
    """Read ``<{dim = 0 : i64}> {attrs}``."""
    attributes: dict[str, Any] = {}
    at = p.here()
    p.expect("<")
    unknown = distribute(p, spec, dictionary(p), attributes, at)
    if unknown:
        message = f"'{spec.name}': expected declared attributes, got {shown_token(next(iter(unknown)))}"
        p.fail(codes.UNKNOWN_ATTRIBUTE, message, at)
    p.expect(">")
    require(p, spec, attributes, at, "attribute")
    return attributes, p.read_dict(spec, attributes)


def _types(p: StatementReader, count: int, offsets: int) -> list[Type]:
    """Return the types of the single operands and, if there are offsets, one that they share."""
    p.expect(":")
    types = [parse_type(p)]
    while len(types) < count + bool(offsets):
        p.expect(",", "',' and one more type")
        types.append(parse_type(p))
    return types[:count] + types[count:] * offsets
