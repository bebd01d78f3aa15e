"""Values of each kind of attribute, as a check and in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeGuard

from tileir.ir.attributes import (
    ArrayAttr,
    Attribute,
    BoolAttr,
    Bounded,
    DenseElements,
    DictAttr,
    DivBy,
    EnumAttr,
    FloatAttr,
    IntegerAttr,
    OpaqueAttr,
    OptimizationHints,
    SameElements,
    StringAttr,
    TextEnum,
    is_constant,
)
from tileir.ir.fields import Attr, AttrKind
from tileir.ir.types import ElementType, Type
from tileir.verify.rule import Violation, listed


@dataclass(frozen=True)
class ExpectedAttribute:
    """`text` says what is expected, `accepts` tests it."""

    text: str
    accepts: Callable[[object], bool]


def _instance(text: str, *classes: type) -> ExpectedAttribute:
    return ExpectedAttribute(text, lambda value: isinstance(value, classes))


def _is_int(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool | TextEnum)


def _integer(bits: int) -> ExpectedAttribute:
    limit = 1 << (bits - 1)
    return ExpectedAttribute(f"a {bits}-bit integer", lambda value: _is_int(value) and -limit <= value < limit)


def _list_of(text: str, accepts: Callable[[object], bool]) -> ExpectedAttribute:
    return ExpectedAttribute(text, lambda value: isinstance(value, tuple) and all(map(accepts, value)))


def _is_i32(value: object) -> bool:
    return _KINDS[AttrKind.I32].accepts(value)


def _are_dicts(value: object) -> bool:
    return isinstance(value, ArrayAttr) and all(isinstance(item, DictAttr) for item in value)


def _are_constants(value: object) -> bool:
    return isinstance(value, ArrayAttr) and is_constant(value)


_KINDS = {
    AttrKind.UNIT: _instance("a unit attribute", bool),
    AttrKind.I32: _integer(32),
    AttrKind.I64: _integer(64),
    AttrKind.BOOL: _instance("true or false", bool),
    AttrKind.STRING: _instance("a string", str),
    AttrKind.SYMBOL: _instance("a symbol of the module", str),
    AttrKind.SYMBOL_NAME: _instance("a name", str),
    AttrKind.TYPE: _instance("a type", Type),
    AttrKind.DENSE: _instance("the elements of a tile", DenseElements),
    AttrKind.I32_ARRAY: _list_of("a list of 32-bit integers", _is_i32),
    AttrKind.BOOL_ARRAY: _list_of("a list of booleans", lambda value: isinstance(value, bool)),
    AttrKind.ARRAY: _instance("an array", ArrayAttr),
    AttrKind.TAGGED: _instance("an attribute", Attribute),
    AttrKind.HINTS: _instance("optimization hints", OptimizationHints),
    AttrKind.DICTS: ExpectedAttribute("an array of dictionaries", _are_dicts),
    AttrKind.CONSTANTS: ExpectedAttribute("integers of type i64, strings, types and arrays of them", _are_constants),
}


def kind_of(attr: Attr) -> ExpectedAttribute:
    """Return the kind of a declared attribute."""
    if attr.enum is not None:
        return _instance(listed([case.text for case in attr.enum]), attr.enum)
    return _KINDS[attr.kind]


_WORDS: dict[type, str] = {
    StringAttr: "a string",
    str: "a string",
    tuple: "a list",
    ArrayAttr: "an array",
    DenseElements: "the elements of a tile",
    OptimizationHints: "optimization hints",
    DivBy: "a div_by predicate",
    SameElements: "a same_elements predicate",
    Bounded: "a bounded predicate",
}


def value_text(value: object) -> str:
    """Return an attribute's value as messages show it."""
    if isinstance(value, TextEnum):
        return value.text
    if isinstance(value, BoolAttr):
        value = value.value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | Type):
        return repr(value)
    if isinstance(value, IntegerAttr):
        return f"{value.value} : {value.type!r}"
    if isinstance(value, FloatAttr):
        return f"a float of {value.type!r}"
    if isinstance(value, EnumAttr):
        return value.case.text
    if isinstance(value, OpaqueAttr):
        return f"{value.mnemonic} {value.keyword}"
    return _WORDS.get(type(value), "another kind of attribute")


def payload_violation(value: DenseElements) -> Violation | None:
    """E0406: the bytes of dense elements, one for each element or one for all."""
    if not isinstance(value.type.element, ElementType):
        return None
    one = value.type.element.byte_size
    every = one * value.type.count
    if len(value.data) in (one, every):
        return None
    return Violation("attribute 'value'", f"{one} bytes for all elements or {every} bytes", str(len(value.data)))
