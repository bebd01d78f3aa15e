"""Declared attributes as free attributes, as they stand in an attribute dictionary or among properties, both ways."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tileir.ir import attributes as a
from tileir.ir.fields import Attr, AttributeKind, AttrKind
from tileir.ir.types import I1, I32, I64, ElementType

SEGMENT_SIZES = "operandSegmentSizes"
"""The property that holds the sizes of the operand groups."""

ENUM_MNEMONICS: dict[type[a.TextEnum], str] = {
    a.Signedness: "signedness",
    a.Overflow: "overflow",
    a.Rounding: "rounding",
    a.Ordering: "comparison_ordering",
    a.Predicate: "comparison_predicate",
    a.Visibility: "symbol_visibility",
    a.MultimemReduction: "multimem_reduction_kind",
}
"""The name in ``#cuda_tile.name<case>`` of the enumerations that are attributes of their own."""


@dataclass(frozen=True)
class FreeForm:
    """The free form of attributes of one kind, which messages call `what`.

    ``value`` gives the Python value of a declared attribute that is given as a free one, None if it is of another kind.
    ``attribute`` is the reverse.
    """

    what: str
    value: Callable[[Attr, a.Attribute], Any]
    attribute: Callable[[Any], a.Attribute]


def free_value(attr: Attr, given: a.Attribute) -> Any:
    """Return the Python value of a declared attribute that is given as `given`; None if that is of another kind."""
    return _FREE_FORMS[attr.kind].value(attr, given)


def free_attribute(attr: Attr, value: Any) -> a.Attribute:
    """Return the attribute that stands for the Python value of a declared attribute."""
    return _FREE_FORMS[attr.kind].attribute(value)


def expected_form(attr: Attr) -> str:
    """Return the free form of a declared attribute, for messages."""
    if attr.enum is not None:
        return f"one of {', '.join(case.text for case in attr.enum)}"
    return _FREE_FORMS[attr.kind].what


# ---------------------------------------------------------------- the kinds


def _case_value(attr: Attr, given: a.Attribute) -> a.TextEnum | None:
    enum = attr.enum
    assert enum is not None
    if isinstance(given, a.EnumAttr):
        return given.case if isinstance(given.case, enum) else None
    if isinstance(given, a.IntegerAttr) and (given.type is I64 or (attr.plain_i32 and given.type is I32)):
        return next((case for case in enum if case == given.value), None)
    return None


def _case_attribute(case: a.TextEnum) -> a.Attribute:
    return a.EnumAttr(case) if type(case) in ENUM_MNEMONICS else a.IntegerAttr(int(case), I32)


def _integer(type: ElementType) -> FreeForm:
    def value(attr: Attr, given: a.Attribute) -> int | None:
        return given.value if isinstance(given, a.IntegerAttr) and given.type is type else None

    return FreeForm(f"an integer of type {type.name}", value, lambda value: a.IntegerAttr(value, type))


def _numbers(element: ElementType) -> FreeForm:
    def value(attr: Attr, given: a.Attribute) -> tuple[int | bool | float, ...] | None:
        return given.values if isinstance(given, a.DenseArray) and given.element is element else None

    return FreeForm(f"array<{element.name}: ...>", value, lambda value: a.DenseArray(element, tuple(value)))


def _symbol(attr: Attr, given: a.Attribute) -> str | None:
    return given.path[0] if isinstance(given, a.SymbolRef) and len(given.path) == 1 else None


def _held(what: str, cls: type[a.BoolAttr] | type[a.StringAttr] | type[a.TypeAttr]) -> FreeForm:
    """Return an attribute whose value is the Python value."""
    return FreeForm(what, lambda attr, given: given.value if isinstance(given, cls) else None, cls)


def _itself(what: str, *classes: type[a.Attribute]) -> FreeForm:
    """Return an attribute that is itself the value."""
    return FreeForm(what, lambda attr, given: given if isinstance(given, classes) else None, lambda value: value)


_FREE_FORMS: dict[AttributeKind, FreeForm] = {
    AttrKind.ENUM: FreeForm("a keyword", _case_value, _case_attribute),
    AttrKind.UNIT: FreeForm(
        "nothing after the name",
        lambda attr, given: True if isinstance(given, a.UnitAttr) else None,
        lambda value: a.UnitAttr(),
    ),
    AttrKind.I32: _integer(I32),
    AttrKind.I64: _integer(I64),
    AttrKind.BOOL: _held("true or false", a.BoolAttr),
    AttrKind.STRING: _held("a string", a.StringAttr),
    AttrKind.SYMBOL: FreeForm("a symbol such as @name", _symbol, lambda value: a.SymbolRef((value,))),
    AttrKind.SYMBOL_NAME: _held("a string", a.StringAttr),
    AttrKind.TYPE: _held("a type", a.TypeAttr),
    AttrKind.DENSE: _itself("dense<...> : tile type", a.DenseElements),
    AttrKind.I32_ARRAY: _numbers(I32),
    AttrKind.BOOL_ARRAY: _numbers(I1),
    AttrKind.ARRAY: _itself("an array", a.ArrayAttr),
    AttrKind.TAGGED: _itself("an attribute of the dialect", a.DivBy, a.SameElements, a.Bounded, a.OpaqueAttr),
    AttrKind.HINTS: _itself("#cuda_tile.optimization_hints<...>", a.OptimizationHints),
    AttrKind.DICTS: _itself("an array of dictionaries", a.ArrayAttr),
    AttrKind.CONSTANTS: _itself("an array of constants", a.ArrayAttr),
}
