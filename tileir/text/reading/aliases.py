"""Alias definitions: ``#name = attribute`` and ``!name = type`` (spec: syntax#file).

Knows: that an alias is defined once and before its use, except for locations; and a limit on how much an alias may
stand for, because aliases of aliases double with every line.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import TypeVar

from tileir.ir.attributes import Attribute
from tileir.ir.loc import LocAlias, Location, SourceLoc
from tileir.ir.types import FunctionType, Type
from tileir.ir.unread import POISON
from tileir.text.reading import codes
from tileir.text.reading.attributes import attribute
from tileir.text.reading.locations import location_in_brackets, resolved
from tileir.text.reading.reader import MAX_NESTING, Reader, shown_token
from tileir.text.reading.types import parse_type

T = TypeVar("T", Attribute, Type)

MAX_PARTS = 1 << 20
"""Parts that an attribute or type built from aliases may have."""


def define_attribute_alias(reader: Reader) -> None:
    name = _new_alias(reader)
    found: Attribute | None = None
    try:
        found = _measured(reader, _attribute)
    finally:
        reader.aliases[name] = found


def define_type_alias(reader: Reader) -> None:
    name = _new_alias(reader)
    found: Type = POISON
    try:
        found = _measured(reader, parse_type)
    finally:
        reader.types[name] = found


def _attribute(reader: Reader) -> Attribute:
    return location_in_brackets(reader, attribute) if reader.accept("loc") else attribute(reader)


def _measured(reader: Reader, read: Callable[[Reader], T]) -> T:
    at = reader.here()
    found = read(reader)
    check_size(reader, found, at)
    return found


def _new_alias(reader: Reader) -> str:
    """``#name =``, which stands for nothing until its definition is read; names with a dot belong to dialects."""
    name, at = reader.peek(), reader.here()
    if "." in name or name in ("#cuda_tile", "!cuda_tile"):
        reader.fail(codes.ALIAS, f"expected an alias name without a dot, got {shown_token(name)}", at)
    earlier = reader.alias_places.get(name)
    if earlier is not None:
        notes = reader.note("defined here", earlier)
        reader.fail(codes.ALIAS, f"expected a new alias name, got {shown_token(name)} again", at, notes=notes)
    reader.alias_places[name] = at
    reader.index += 2
    return name


def resolve_location(reader: Reader, loc: Location) -> Location:
    """`loc` without aliases, now that all of them are defined."""
    found = resolved(reader, loc)
    if isinstance(loc, LocAlias):
        check_size(reader, found, loc.at)
    return found


def check_size(reader: Reader, found: Attribute | Type, at: SourceLoc) -> None:
    """Fail if `found` is nested too deeply or has too many parts; remembers its measure."""
    if isinstance(found, Attribute | FunctionType) and id(found) not in reader.measures:
        count, depth = _measure(found, reader.measures)
        if depth > MAX_NESTING:
            reader.fail(codes.NESTING, f"expected an alias nested at most {MAX_NESTING} deep, got a deeper one", at)
        if count > MAX_PARTS:
            reader.fail(codes.NESTING, f"expected an alias of at most {MAX_PARTS} parts, got more", at)
        reader.measures[id(found)] = (count, depth)


def _measure(part: object, known: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """Number of parts and depth; `known` has those of the aliases, which live as long as the reader."""
    if id(part) in known:
        return known[id(part)]
    count, depth = 1, 0
    for inner in _parts(part):
        inner_count, inner_depth = _measure(inner, known)
        count += inner_count
        depth = max(depth, inner_depth + 1)
    return count, depth


def _parts(part: object) -> Iterator[object]:
    if isinstance(part, FunctionType):
        yield from part.inputs + part.results
    elif dataclasses.is_dataclass(part) and not isinstance(part, type):
        for field in dataclasses.fields(part):
            yield from _parts_of_field(getattr(part, field.name))


def _parts_of_field(value: object) -> Iterator[object]:
    if isinstance(value, Attribute | FunctionType):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _parts_of_field(item)
