"""The format language: how a declared format becomes directives, and the readers and writers of all operations.

A format is a list of words in backquotes, fields (``$lhs``) and directives with the fields that they are about
(``type($result)``), separated by blanks; `DIRECTIVES` lists them all. Blanks in the output: spec: printing#spacing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from tileir.ir.core import NO_ATTRIBUTES, Op, Value
from tileir.ir.loc import UNKNOWN
from tileir.ir.spec import OpSpec
from tileir.ir.traits import Relation, Same, Trait, TypeFrom
from tileir.ir.types import Type
from tileir.ops.calls import Call, Func, PreviewCall
from tileir.ops.control import For, If, Loop
from tileir.ops.extension import ExternElementwise, Generate
from tileir.ops.module import Entry, Global, ModuleOp
from tileir.ops.reduction import Reduce, Scan
from tileir.ops.views import MakeTensorView
from tileir.text.elements import constant_elements
from tileir.text.reading.hints import PREFIX, spellings
from tileir.text.reading.statements import ReadOp, StatementReader
from tileir.text.syntax import clauses, control, directive, extension, module, views
from tileir.text.syntax.directive import ConstantElements, Directive, Draft, FixedText, field, slot_of
from tileir.text.writer import Writer

DIRECTIVES: dict[str, type[Directive]] = {
    "type": directive.TypeOf,
    "type_of_both": directive.TypeOfBoth,
    "repeated_type": directive.RepeatedType,
    "tail_type": directive.TailType,
    "index_types": directive.IndexTypes,
    "exit_operands": directive.ExitOperands,
    "tail_colon_types": directive.TailColonTypes,
    "print_result": directive.PrintResult,
    "tail": clauses.TailOperand,
    "tail_flag": clauses.TailFlag,
    "token": clauses.TokenOperand,
    "spaced_token": clauses.SpacedTokenOperand,
    "rounding": clauses.RoundingClause,
    "clause": clauses.CaseClause,
    "flags": clauses.FlagNames,
    "scope": clauses.ScopeKeyword,
    "memory": clauses.MemoryKeywords,
    "hints": clauses.HintsClause,
    "inbounds": clauses.InboundsClause,
    "blank_inbounds": clauses.BlankInboundsClause,
    "elements": directive.ConstantElements,
    "properties": extension.Properties,
    "operand_types": extension.OperandTypes,
    "mode": directive.ModeKeyword,
    "mode-attr-dict": directive.ModeAttrDict,
    "attr-dict": directive.AttrDict,
    "attr-dict-with-keyword": directive.AttrDictWithKeyword,
}

_ELEMENT = re.compile(r"`([^`]+)`|\$(\w+)|([\w-]+)(?:\(([^)]*)\))?")
_OPENING = frozenset("([<{")
_CLOSING = frozenset(",)]>}")
_PUNCTUATION = frozenset(("->", ":", "=", *_OPENING, *_CLOSING))


@cache
def directives(spec: OpSpec) -> tuple[Directive, ...]:
    """Return the directives of the format of an operation; none if its syntax is no format."""
    found = tuple(_directive(spec, *match.groups()) for match in _ELEMENT.finditer(spec.format or ""))
    previous = ""
    for part in found:
        part.lead = _gap(previous, part.text)
        previous = part.text
    return found


def _directive(spec: OpSpec, word: str | None, name: str | None, directive: str, arguments: str | None) -> Directive:
    if word is not None:
        return FixedText(spec, word)
    if name is not None:
        return field(spec, name)
    names = [argument.strip().lstrip("$") for argument in (arguments or "").split(",") if argument.strip()]
    return DIRECTIVES[directive](spec, *names)


def _gap(previous: str, text: str) -> str:
    """Return the blank between two directives, by the punctuation that they are; nothing precedes it right after the
    name."""
    if previous in _OPENING or text in _CLOSING:
        return ""
    return "" if text in _OPENING and previous not in _PUNCTUATION else " "


def shown(spec: OpSpec) -> str:
    """Return the format as the manual shows it: ``%operands``, ``[optional parts]``, ``<attributes>`` by name."""
    return " ".join(text for directive in directives(spec) if (text := directive.shown()))


Copy = tuple[int, int, Callable[[Type], Type | None] | None]
"""Destination slot, source slot, and how the type is derived (None: it is the same)."""
Piece = Callable[[Writer, Op], str]


# ---------------------------------------------------------------- reading


def format_reader(cls: type[Op]) -> ReadOp:
    """Return the function that reads an operation of class `cls` by its declared format."""
    spec = cls.spec
    reads = tuple(directive.read for directive in directives(spec))
    count = len(spec.operands)
    known, copies = inference(spec)
    holds_elements = any(isinstance(directive, ConstantElements) for directive in directives(spec))

    def read(p: StatementReader) -> Op:
        draft = Draft(count, known.copy())
        for part in reads:
            part(p, draft)
        slots = draft.slots
        for target, source, derive in copies:
            slots[target] = slots[source] if derive is None else derive(slots[source])
        if holds_elements:  # which can be encoded now that their type is known
            assert draft.literal is not None
            at = p.place(draft.literal.begin, draft.literal.end)
            value = constant_elements(p, draft.element, draft.literal, slots[-1], at)
            if value is not None:
                draft.attributes["value"] = value
        return _finish(cls, p, draft)

    return read


def inference(spec: OpSpec) -> tuple[list[Any], tuple[Copy, ...]]:
    """Return the slots with the types that are known beforehand, and the types that follow once the stated ones are
    read."""
    constraints = [operand.constraint for operand in spec.operands] + [result.constraint for result in spec.results]
    slots: list[Any] = [constraint.only for constraint in constraints]
    known = {slot_of(spec, name) for part in directives(spec) if part.states for name in part.names}
    known |= {slot for slot, only in enumerate(slots) if only is not None}
    copies: list[Copy] = []
    for trait in spec.traits:
        for target, source, derive in _conclusions(spec, trait, known):
            copies.append((target, source, derive))
            known.add(target)
    return slots, tuple(copies)


def _conclusions(spec: OpSpec, trait: Trait, known: set[int]) -> list[Copy]:
    if isinstance(trait, Same) and trait.relation is Relation.TYPE:
        slots = [slot_of(spec, name) for name in trait.fields]
        source = next((slot for slot in slots if slot in known), None)
        return [(slot, source, None) for slot in slots if slot not in known] if source is not None else []
    if isinstance(trait, TypeFrom) and slot_of(spec, trait.field) not in known:
        return [(slot_of(spec, trait.field), slot_of(spec, trait.source), trait.derive)]
    return []


def _finish(cls: type[Op], p: StatementReader, draft: Draft) -> Op:
    """Make the operation, whose operands must have the types that are stated or follow."""
    groups, slots = draft.groups, draft.slots
    flat: list[Value] = []
    segments: list[int] = []
    for group, expected, mark in zip(groups, slots, draft.marks):
        begin = len(flat)
        if isinstance(group, list):
            types = expected if isinstance(expected, list) else [expected] * len(group)
            p.check_types(types, group, mark)
            flat += group
        elif group is not None:
            if group.type is not expected:
                p.check_type(group, expected, mark)
            flat.append(group)
        segments.append(len(flat) - begin)
    results: list[Type] = []
    for type in slots[len(groups) :]:
        if isinstance(type, list):
            results += type
        else:
            results.append(type)
    sizes = cls.spec.fixed_segments or tuple(segments)
    return cls(flat, results, draft.attributes or NO_ATTRIBUTES, (), UNKNOWN, sizes, draft.discardable)


# ---------------------------------------------------------------- writing


def write_formatted(writer: Writer, op: Op, indent: str) -> None:
    """Add the line of an operation that has a declared format."""
    template, pieces = _template(op.spec)
    text = template % tuple([piece(writer, op) for piece in pieces])
    writer.lines.append(f"{writer.start(op, indent)}{writer.name(op)}{text}{writer.end(op)}")


@cache
def _template(spec: OpSpec) -> tuple[str, tuple[Piece, ...]]:
    """Return the words of a format with ``%s`` for each directive between them, and the functions that fill these."""
    assert spec.format is not None, f"'{spec.name}' has no format"
    template = "".join(directive.lead + directive.text if directive.text else "%s" for directive in directives(spec))
    return template, tuple(directive.write for directive in directives(spec) if not directive.text)


@dataclass(frozen=True)
class Syntax:
    """The function that reads an operation behind its name, and the one that adds its lines to a `Writer`."""

    read: ReadOp
    write: Callable[..., None]


OWN_SYNTAX: dict[type[Op], Syntax] = {
    ModuleOp: Syntax(module.read_module, module.write_module),
    Entry: Syntax(module.read_entry, module.write_entry),
    Global: Syntax(module.read_global, module.write_global),
    Func: Syntax(module.read_func, module.write_func),
    Call: Syntax(module.read_call, module.write_call),
    PreviewCall: Syntax(module.read_preview_call, module.write_preview_call),
    For: Syntax(control.read_for, control.write_for),
    Loop: Syntax(control.read_loop, control.write_loop),
    If: Syntax(control.read_if, control.write_if),
    Reduce: Syntax(partial(control.read_reduction, cls=Reduce), control.write_reduction),
    Scan: Syntax(partial(control.read_reduction, cls=Scan), control.write_reduction),
    MakeTensorView: Syntax(views.read_make_tensor_view, views.write_make_tensor_view),
    ExternElementwise: Syntax(extension.read_extern_elementwise, extension.write_extern_elementwise),
    Generate: Syntax(extension.read_generate, extension.write_generate),
}


def write_operation(writer: Writer, op: Op, indent: str) -> None:
    """Add the lines of an operation in its own syntax."""
    own = OWN_SYNTAX.get(type(op))
    (write_formatted if own is None else own.write)(writer, op, indent)


@cache
def operations() -> dict[str, ReadOp]:
    """Return the function that reads an operation, by every name that it may have, with and without the dialect's
    prefix."""
    names: dict[type[Op], list[str]] = {}
    for name, op in spellings().items():
        names.setdefault(op, []).extend((name, PREFIX + name))
    readers: dict[str, ReadOp] = {}
    for op, spelt in names.items():
        own = OWN_SYNTAX.get(op)
        readers.update(dict.fromkeys(spelt, _made_when_used(op, spelt, readers) if own is None else own.read))
    return readers


def _made_when_used(op: type[Op], names: list[str], readers: dict[str, ReadOp]) -> ReadOp:
    """Stand in for the function that reads `op` by its format until that is needed: a program has few of all."""

    def read(p: StatementReader) -> Op:
        made = format_reader(op)
        readers.update(dict.fromkeys(names, made))
        return made(p)

    return read
