"""A declared format made ready to read: its steps, and how the types that text does not spell follow.

Knows: inference of types from traits and constraints, the check of stated types against the values, and the making of
the operation.
Does not know: how a single step is read (`text.steps`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tileir.ir.core import Op, Value
from tileir.ir.declare import Relation, Same, TypeFrom
from tileir.ir.loc import Location
from tileir.ir.types import Type
from tileir.text.format import steps
from tileir.text.steps import Draft, slot_of, step_reader

if TYPE_CHECKING:
    from tileir.text.parser import Parser

ReadOp = Callable[["Parser", Location], Op]
"""Reads an operation whose name, at the given place, was just taken."""
Copy = tuple[int, int, Callable[[Type], Type | None] | None]
"""Destination slot, source slot, and how the type is derived (None: it is the same)."""

_STATING = ("type", "repeated_type", "tail_type", "index_types", "exit_operands", "tail_colon_types")


def format_reader(cls: type[Op], format: str) -> ReadOp:
    """The function that reads an operation of class `cls` by its declared format."""
    spec = cls.spec
    reads = tuple(step_reader(spec, step) for step in steps(format))
    count = len(spec.operands)
    known, copies = _inference(cls, format)
    finish = _finish_fixed if _is_fixed(cls) else _finish
    holds_elements = any(step.kind == "literal" and step.fields for step in steps(format))

    def read(p: Parser, loc: Location) -> Op:
        draft = Draft(count, known.copy())
        for step in reads:
            step(p, draft)
        slots = draft.slots
        for target, source, derive in copies:
            slots[target] = slots[source] if derive is None else derive(slots[source])
        if holds_elements:
            p.keep_elements(draft)
        op = finish(cls, p, draft, loc)
        op.discardable = draft.discardable
        return op

    return read


def _is_fixed(cls: type[Op]) -> bool:
    return cls.spec.fixed_segments is not None and not any(result.variadic for result in cls.spec.results)


def _inference(cls: type[Op], format: str) -> tuple[list[Any], tuple[Copy, ...]]:
    """The slots with the types that are known beforehand, and what follows once the stated types are read."""
    spec = cls.spec
    constraints = [operand.constraint for operand in spec.operands] + [result.constraint for result in spec.results]
    slots: list[Any] = [constraint.only for constraint in constraints]
    known = {slot_of(spec, name) for step in steps(format) if step.kind in _STATING for name in step.fields}
    known |= {slot for slot, only in enumerate(slots) if only is not None}
    copies: list[Copy] = []
    for trait in spec.traits:
        for target, source, derive in _conclusions(cls, trait, known):
            copies.append((target, source, derive))
            known.add(target)
    return slots, tuple(copies)


def _conclusions(cls: type[Op], trait: object, known: set[int]) -> list[Copy]:
    if isinstance(trait, Same) and trait.relation is Relation.TYPE:
        slots = [slot_of(cls.spec, name) for name in trait.fields]
        source = next((slot for slot in slots if slot in known), None)
        return [(slot, source, None) for slot in slots if slot not in known] if source is not None else []
    if isinstance(trait, TypeFrom) and slot_of(cls.spec, trait.field) not in known:
        return [(slot_of(cls.spec, trait.field), slot_of(cls.spec, trait.source), trait.derive)]
    return []


def _finish_fixed(cls: type[Op], p: Parser, draft: Draft, loc: Location) -> Op:
    """Make an operation whose operands are all single and whose results are too."""
    groups, slots = draft.groups, draft.slots
    count = len(groups)
    for position in range(count):
        value = groups[position]
        if value.type is not slots[position]:
            p.check_type(value, slots[position], draft.marks[position])
    return cls(groups, slots[count:], draft.attributes, (), loc, cls.spec.fixed_segments)


def _finish(cls: type[Op], p: Parser, draft: Draft, loc: Location) -> Op:
    flat: list[Value] = []
    segments: list[int] = []
    for group, expected, mark in zip(draft.groups, draft.slots, draft.marks):
        begin = len(flat)
        if isinstance(group, list):
            types = expected if isinstance(expected, list) else [expected] * len(group)
            for value, type, at in zip(group, types, mark):
                p.check_type(value, type, at)
            flat += group
        elif group is not None:
            p.check_type(group, expected, mark)
            flat.append(group)
        segments.append(len(flat) - begin)
    results: list[Type] = []
    for type in draft.slots[len(draft.groups) :]:
        results += type if isinstance(type, list) else [type]
    return cls(flat, results, draft.attributes, (), loc, tuple(segments))
