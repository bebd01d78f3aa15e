"""Operations written by their declared format (specification 8.3, 8.4).

Knows: what each step of a format prints, and when it prints nothing. A format is compiled once per operation class
into a template and the functions that fill it.
Does not know: the operations without a format (`text.structured_text`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from tileir.ir.attributes import Attribute, EnumAttr
from tileir.ir.core import Op, Value
from tileir.ir.declare import AttrKind, OpSpec
from tileir.text.attribute_text import bool_text, dict_text, predicate_text
from tileir.text.elements import element_of, elements_text
from tileir.text.format import Step, steps
from tileir.text.spacing import gap
from tileir.text.strings import string_text, symbol_text
from tileir.text.writer import Writer

Piece = Callable[[Writer, Op], str]
"""Writes one element with the blank in front of it, or nothing if the element is absent."""


def write_formatted(writer: Writer, op: Op, indent: str) -> None:
    """Add the line of an operation that has a declared format."""
    template, pieces = _compiled(op.spec)
    text = template % tuple([piece(writer, op) for piece in pieces])
    writer.lines.append(f"{writer.start(op, indent)}{writer.name(op)}{text}{writer.end(op)}")


@cache
def _compiled(spec: OpSpec) -> tuple[str, tuple[Piece, ...]]:
    assert spec.format is not None, f"'{spec.name}' has no format"
    template = ""
    pieces: list[Piece] = []
    previous: Step | None = None
    for step in steps(spec.format):
        lead = gap(previous, step)
        if step.text:
            template += lead + step.text
        else:
            template += "%s"
            pieces.append(_STEPS[step.kind](spec, step, lead))
        previous = step
    return template, tuple(pieces)


# ---------------------------------------------------------------- reading fields


def _group(spec: OpSpec, name: str) -> Callable[[Op], list[Value]]:
    """The values of an operand or result: one, or as many as there are."""
    for result in spec.results:
        if result.name == name:
            begin, end = result.position, None if result.variadic else result.position + 1
            return lambda op: op.results[begin:end]
    position = spec.operand_index[name].position
    if spec.fixed_segments is not None:
        return lambda op: op.operands[position : position + 1]
    return lambda op: op.operand_group(position)


def _reader(spec: OpSpec, name: str) -> Callable[[Op], Any]:
    """The value of a declared attribute, or its default."""
    default = spec.attr_index[name].default
    return lambda op: op.attributes.get(name, default)


# ---------------------------------------------------------------- fields and types


_SPELLINGS: dict[AttrKind, Callable[[Any], str]] = {
    AttrKind.ENUM: lambda case: case.text,
    AttrKind.I64: str,
    AttrKind.STRING: string_text,
    AttrKind.SYMBOL: symbol_text,
    AttrKind.I32_ARRAY: lambda numbers: f"[{', '.join(map(str, numbers))}]",
    AttrKind.TAGGED: predicate_text,
}


def _field(spec: OpSpec, step: Step, lead: str) -> Piece:
    (name,) = step.fields
    if name in spec.operand_index:
        group = _group(spec, name)
        return lambda writer, op: lead + writer.values(group(op))
    attr = spec.attr_index[name]
    if attr.kind is AttrKind.UNIT:
        return lambda writer, op: f" {name}" if op.attributes.get(name) else ""
    spell = _SPELLINGS[attr.kind]
    return lambda writer, op: lead + spell(op.attributes[name])


def _type(spec: OpSpec, step: Step, lead: str) -> Piece:
    group = _group(spec, step.fields[0])
    return lambda writer, op: lead + writer.short[group(op)[0].type]


def _repeated_type(spec: OpSpec, step: Step, lead: str) -> Piece:
    """The type of the first result; a view of rank 0 has none, and any index type may stand there."""
    return lambda writer, op: lead + (writer.short[op.results[0].type] if op.results else "tile<i64>")


def _index_types(spec: OpSpec, step: Step, lead: str) -> Piece:
    group = _group(spec, step.fields[0])

    def piece(writer: Writer, op: Op) -> str:
        values = group(op)
        same = all(value.type is values[0].type for value in values)
        return "".join([f", {writer.short[value.type]}" for value in (values[:1] if same else values)])

    return piece


# ---------------------------------------------------------------- optional parts


def _tail(spec: OpSpec, step: Step, lead: str) -> Piece:
    group = _group(spec, step.fields[0])
    return lambda writer, op: f", {writer.values(values)}" if (values := group(op)) else ""


def _tail_type(spec: OpSpec, step: Step, lead: str) -> Piece:
    group = _group(spec, step.fields[0])
    return lambda writer, op: f", {writer.types(values)}" if (values := group(op)) else ""


def _tail_flag(spec: OpSpec, step: Step, lead: str) -> Piece:
    (name,) = step.fields
    return lambda writer, op: f", {name}" if op.attributes.get(name) else ""


def _token(spec: OpSpec, step: Step, lead: str) -> Piece:
    group = _group(spec, step.fields[0])
    equals = "=" if step.kind == "token" else " = "
    return lambda writer, op: f" token{equals}{writer.values(values)}" if (values := group(op)) else ""


def _tail_colon_types(spec: OpSpec, step: Step, lead: str) -> Piece:
    group = _group(spec, step.fields[0])
    return lambda writer, op: f" : {writer.types(values)}" if (values := group(op)) else ""


def _exit_operands(spec: OpSpec, step: Step, lead: str) -> Piece:
    return lambda writer, op: f" {writer.values(op.operands)} : {writer.types(op.operands)}" if op.operands else ""


def _print_result(spec: OpSpec, step: Step, lead: str) -> Piece:
    return lambda writer, op: f" -> {writer.short[op.results[0].type]}"


# ---------------------------------------------------------------- attributes in their own syntax


def _rounding(spec: OpSpec, step: Step, lead: str) -> Piece:
    """Keeps its blank when the mode is the default."""
    (name,) = step.fields
    default = spec.attr_index[name].default
    read = _reader(spec, name)
    return lambda writer, op: " " if (mode := read(op)) is default else f" rounding<{mode.text}>"


def _clause(spec: OpSpec, step: Step, lead: str) -> Piece:
    (name,) = step.fields
    default = spec.attr_index[name].default
    read = _reader(spec, name)
    return lambda writer, op: "" if (case := read(op)) is default else f" {name}<{case.text}>"


def _flags(spec: OpSpec, step: Step, lead: str) -> Piece:
    return lambda writer, op: "".join([f" {name}" for name in step.fields if op.attributes.get(name)])


def _scope(spec: OpSpec, step: Step, lead: str) -> Piece:
    read = _reader(spec, step.fields[0])
    return lambda writer, op: "" if (case := read(op)) is None else f" {case.text}"


def _memory(spec: OpSpec, step: Step, lead: str) -> Piece:
    ordering, scope = _reader(spec, step.fields[0]), _reader(spec, step.fields[1])
    return lambda writer, op: f" {ordering(op).text}" + ("" if (case := scope(op)) is None else f" {case.text}")


def _hints(spec: OpSpec, step: Step, lead: str) -> Piece:
    (name,) = step.fields
    read = _reader(spec, name)
    return lambda writer, op: "" if (hints := read(op)) is None else f" {name} = {writer.hints(hints)}"


def _inbounds(spec: OpSpec, step: Step, lead: str) -> Piece:
    (name,) = step.fields
    absent = " " if step.kind == "blank_inbounds" else ""

    def piece(writer: Writer, op: Op) -> str:
        promises = op.attributes.get(name, ())
        return f" {name} = [{', '.join(map(bool_text, promises))}]" if any(promises) else absent

    return piece


def _literal(spec: OpSpec, step: Step, lead: str) -> Piece:
    (name,) = step.fields
    return lambda writer, op: " " + literal_text(op.attributes[name])


def literal_text(value: Any) -> str:
    """``<f32: 1.000000e+00>``"""
    return f"<{element_of(value).name}: {elements_text(value)}>"


# ---------------------------------------------------------------- discardable attributes


def attr_dict(op: Op, keyword: str = "") -> str:
    """`` {key = value}``, or nothing without discardable attributes."""
    return f"{keyword} {dict_text(sorted_entries(op.discardable))}" if op.discardable else ""


def sorted_entries(entries: dict[str, Attribute]) -> list[tuple[str, Attribute]]:
    return sorted(entries.items(), key=lambda entry: entry[0].encode("utf-8", "surrogateescape"))


def _attr_dict(spec: OpSpec, step: Step, lead: str) -> Piece:
    return lambda writer, op: attr_dict(op) if op.discardable else ""


def _attr_dict_with_keyword(spec: OpSpec, step: Step, lead: str) -> Piece:
    """A declared attribute that the format names stands here when it is not at its default."""

    def piece(writer: Writer, op: Op) -> str:
        entries = dict(op.discardable or {})
        for name in step.fields:
            case = op.attributes.get(name)
            if case not in (None, spec.attr_index[name].default):
                entries[name] = EnumAttr(case)
        return f" attributes {dict_text(sorted_entries(entries))}" if entries else ""

    return piece


_STEPS: dict[str, Callable[[OpSpec, Step, str], Piece]] = {
    "field": _field,
    "type": _type,
    "repeated_type": _repeated_type,
    "rounding": _rounding,
    "clause": _clause,
    "flags": _flags,
    "scope": _scope,
    "memory": _memory,
    "tail": _tail,
    "tail_type": _tail_type,
    "tail_flag": _tail_flag,
    "token": _token,
    "spaced_token": _token,
    "hints": _hints,
    "inbounds": _inbounds,
    "blank_inbounds": _inbounds,
    "index_types": _index_types,
    "literal": _literal,
    "exit_operands": _exit_operands,
    "tail_colon_types": _tail_colon_types,
    "print_result": _print_result,
    "attr-dict": _attr_dict,
    "attr-dict-with-keyword": _attr_dict_with_keyword,
}
