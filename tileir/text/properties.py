"""Declared attributes given as free attributes: in an attribute dictionary or as a property of the generic form.

Knows: which attribute stands for the Python value of each kind of declared attribute, and that a value equal to its
default is not stored.
Does not know: how attributes are read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tileir.ir import attributes as a
from tileir.ir.declare import Attr, AttrKind, OpSpec
from tileir.ir.loc import SourceLoc
from tileir.ir.types import I1, I32, I64
from tileir.text import codes
from tileir.text.reader import Reader

SEGMENT_SIZES = "operandSegmentSizes"


def store(attributes: dict[str, Any], attr: Attr, value: Any) -> None:
    """Keep a value unless it says what absence says too."""
    if value == attr.default or (attr.kind is AttrKind.BOOL_ARRAY and not any(value)):
        return
    attributes[attr.name] = value


def distribute(
    reader: Reader, spec: OpSpec, entries: dict[str, a.Attribute], attributes: dict[str, Any], loc: SourceLoc
) -> dict[str, a.Attribute] | None:
    """Store the declared ones of `entries` in `attributes` and return the others, which no declaration knows."""
    discardable: dict[str, a.Attribute] = {}
    for key, value in entries.items():
        attr = spec.attr_index.get(key)
        if attr is None:
            discardable[key] = value
        elif key in attributes:
            reader.fail(codes.DUPLICATE, f"expected '{key}' once, got it again in the attribute dictionary", loc)
        else:
            store(attributes, attr, property_value(reader, spec, attr, value, loc))
    return dict(sorted(discardable.items())) or None


def property_value(reader: Reader, spec: OpSpec, attr: Attr, value: a.Attribute, loc: SourceLoc) -> Any:
    """The Python value of a declared attribute that is given as `value`."""
    what, convert = _KINDS[attr.kind]
    found = _case(attr, value) if attr.kind is AttrKind.ENUM else convert(value)
    if found is None:
        if attr.kind is AttrKind.ENUM and attr.enum is not None:
            what = f"one of {', '.join(case.text for case in attr.enum)}"
        message = f"'{spec.name}' attribute '{attr.name}': expected {what}, got another attribute"
        reader.fail(codes.PROPERTY, message, loc, expected=what)
    return found


def _case(attr: Attr, value: a.Attribute) -> a.TextEnum | None:
    enum = attr.enum
    assert enum is not None
    if isinstance(value, a.EnumAttr):
        return value.case if isinstance(value.case, enum) else None
    if attr.plain_i32 and isinstance(value, a.IntegerAttr) and value.type is I32:
        return next((case for case in enum if case == value.value), None)
    return None


def _integer(type: object) -> Callable[[a.Attribute], int | None]:
    return lambda value: value.value if isinstance(value, a.IntegerAttr) and value.type is type else None


def _numbers(element: object) -> Callable[[a.Attribute], tuple[Any, ...] | None]:
    return lambda value: value.values if isinstance(value, a.DenseArray) and value.element is element else None


def _symbol(value: a.Attribute) -> str | None:
    return value.path[0] if isinstance(value, a.SymbolRef) and len(value.path) == 1 else None


def _is(cls: Any) -> Callable[[a.Attribute], Any]:
    return lambda value: value if isinstance(value, cls) else None


def _value_of(cls: Any) -> Callable[[a.Attribute], Any]:
    return lambda value: value.value if isinstance(value, cls) else None


_KINDS: dict[AttrKind, tuple[str, Callable[[a.Attribute], Any]]] = {
    AttrKind.ENUM: ("a keyword", lambda value: None),
    AttrKind.UNIT: ("nothing after the name", lambda value: True if isinstance(value, a.UnitAttr) else None),
    AttrKind.I32: ("an integer of type i32", _integer(I32)),
    AttrKind.I64: ("an integer of type i64", _integer(I64)),
    AttrKind.BOOL: ("true or false", _value_of(a.BoolAttr)),
    AttrKind.STRING: ("a string", _value_of(a.StringAttr)),
    AttrKind.SYMBOL: ("a symbol such as @name", _symbol),
    AttrKind.SYMBOL_NAME: ("a string", _value_of(a.StringAttr)),
    AttrKind.TYPE: ("a type", _value_of(a.TypeAttr)),
    AttrKind.DENSE: ("dense<...> : tile type", _is(a.DenseElements)),
    AttrKind.I32_ARRAY: ("array<i32: ...>", _numbers(I32)),
    AttrKind.BOOL_ARRAY: ("array<i1: ...>", _numbers(I1)),
    AttrKind.ARRAY: ("an array", _is(a.ArrayAttr)),
    AttrKind.TAGGED: ("an attribute of the dialect", _is((a.DivBy, a.SameElements, a.Bounded, a.OpaqueAttr))),
    AttrKind.HINTS: ("#cuda_tile.optimization_hints<...>", _is(a.OptimizationHints)),
}
