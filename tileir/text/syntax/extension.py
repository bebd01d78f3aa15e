"""Operations of early documents with dictionaries of their own (spec: extension#operations)."""

from __future__ import annotations

from typing import Any

from tileir.ir.attributes import Attribute, BoolAttr, StringAttr
from tileir.ir.core import Op
from tileir.ir.spec import OpSpec
from tileir.ops.extension import ExternElementwise, Generate
from tileir.text.attributes import FORMS, attr_dict, dict_text, dictionary
from tileir.text.reading import codes
from tileir.text.reading.reader import shown_token
from tileir.text.reading.statements import StatementReader, distribute, function_type, require
from tileir.text.reading.types import parse_type
from tileir.text.syntax.directive import Directive, Draft
from tileir.text.writer import Writer, arguments_text, write_body, write_close, write_line


def read_extern_elementwise(p: StatementReader) -> Op:
    values, marks = p.value_list()
    attributes: dict[str, Any] = {}
    at = p.here()
    discardable = distribute(p, ExternElementwise.spec, dictionary(p), attributes, at)
    require(p, ExternElementwise.spec, attributes, at, "attribute")
    type = function_type(p, values, marks)
    return ExternElementwise(values, type.results, attributes, (), segments=(len(values),), discardable=discardable)


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
    return Generate([], (parse_type(p),), attributes, (body,), segments=(), discardable=discardable)


def write_generate(writer: Writer, op: Generate, indent: str) -> None:
    writer.lines.append(f"{writer.start(op, indent)}{writer.name(op)} {{")
    if op.body.args:
        writer.lines.append(f"{indent}^bb0{arguments_text(writer, op.body.args)}:")
    write_body(writer, op, op.body, indent)
    write_close(writer, op, indent, f"{attr_dict(op)} : {writer.types(op.results)}")


# ---------------------------------------------------------------- parts of gather and scatter


class Properties(Directive):
    """``properties``: ``<{dim = 0 : i64}>``, all declared attributes and no others."""

    def read(self, p: StatementReader, draft: Draft) -> None:
        at = p.here()
        unknown = p.angled(lambda: distribute(p, self.spec, dictionary(p), draft.attributes, at))
        if unknown:
            message = f"'{self.spec.name}': expected declared attributes, got {shown_token(next(iter(unknown)))}"
            p.fail(codes.UNKNOWN_ATTRIBUTE, message, at)
        require(p, self.spec, draft.attributes, at, "attribute")

    def write(self, writer: Writer, op: Op) -> str:
        given = [attr for attr in self.spec.attrs if attr.name in op.attributes]
        entries = {attr.name: FORMS[attr.kind].attribute(op.attributes[attr.name]) for attr in given}
        return f"{dict_text(entries, ' <')}>"


class OperandTypes(Directive):
    """``operand_types($one, ...)``: a type for each operand that is there, one for all of a variadic operand."""

    states = True

    def __init__(self, spec: OpSpec, *names: str) -> None:
        super().__init__(spec, *names)
        self.operands = [spec.operand_index[name] for name in names]

    def read(self, p: StatementReader, draft: Draft) -> None:
        for number, operand in enumerate(self.operands):
            if operand.single or draft.groups[operand.position]:
                if number:
                    p.expect(",", None if operand.optional else "',' and one more type")
                draft.slots[operand.position] = parse_type(p)

    def write(self, writer: Writer, op: Op) -> str:
        groups = (op.operand_group(operand.position) for operand in self.operands)
        return f" {writer.types([group[0] for group in groups if group])}"
