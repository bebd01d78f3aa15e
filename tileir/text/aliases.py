"""Alias definitions: ``#name = attribute`` and ``!name = type`` (specification, types and syntax, 3.1).

Knows: that an alias is defined once and before its use, except for locations; and a limit on how much an alias may
stand for, because aliases of aliases grow without bound.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from tileir.ir.attributes import Attribute
from tileir.ir.loc import LocAlias, Location, SourceLoc
from tileir.ir.types import FunctionType, Type
from tileir.text import codes
from tileir.text.attribute_parser import attribute
from tileir.text.location_parser import resolved
from tileir.text.reader import MAX_NESTING, Reader
from tileir.text.type_parser import parse_type

MAX_PARTS = 1 << 20
"""Parts that an attribute or type built from aliases may have."""


def define_attribute_alias(reader: Reader) -> None:
    name = _new_alias(reader)
    at = reader.here()
    found = attribute(reader)
    check_size(reader, found, at)
    reader.aliases[name] = found


def define_type_alias(reader: Reader) -> None:
    name = _new_alias(reader)
    at = reader.here()
    found = parse_type(reader)
    check_size(reader, found, at)
    reader.types[name] = found


def _new_alias(reader: Reader) -> str:
    """``#name =``; names with a dot belong to dialects."""
    name, at = reader.peek(), reader.here()
    if "." in name or name in ("#cuda_tile", "!cuda_tile"):
        reader.fail(codes.ALIAS, f"expected an alias name without a dot, got '{name}'", at)
    earlier = reader.alias_places.get(name)
    if earlier is not None:
        notes = reader.note("defined here", earlier)
        reader.fail(codes.ALIAS, f"expected a new alias name, got '{name}' again", at, notes=notes)
    reader.alias_places[name] = at
    reader.index += 2
    return name


def resolve_location(reader: Reader, loc: Location) -> Location:
    """`loc` without aliases, now that all of them are defined."""
    found = resolved(reader, loc)
    if isinstance(loc, LocAlias):
        check_size(reader, found, loc.at)
    return found


def check_size(reader: Reader, root: Attribute | Type, at: SourceLoc) -> None:
    """Fault if `root` is nested too deeply or has too many parts."""
    count = 0
    stack: list[tuple[object, int]] = [(root, 0)]
    while stack:
        part, depth = stack.pop()
        count += 1
        if depth > MAX_NESTING:
            reader.fail(codes.NESTING, f"expected an alias nested at most {MAX_NESTING} deep, got a deeper one", at)
        if count > MAX_PARTS:
            reader.fail(codes.NESTING, f"expected an alias of at most {MAX_PARTS} parts, got more", at)
        stack += ((inner, depth + 1) for inner in _parts(part))


def _parts(part: object) -> Iterator[object]:
    if isinstance(part, FunctionType):
        yield from part.inputs + part.results
    elif isinstance(part, tuple):
        yield from part
    elif dataclasses.is_dataclass(part) and not isinstance(part, type):
        for field in dataclasses.fields(part):
            value = getattr(part, field.name)
            if isinstance(value, Attribute | FunctionType) or (isinstance(value, tuple) and not _is_flat(value)):
                yield value


def _is_flat(values: tuple[object, ...]) -> bool:
    """Whether a tuple holds plain numbers or strings only."""
    return not values or isinstance(values[0], int | float | str)
