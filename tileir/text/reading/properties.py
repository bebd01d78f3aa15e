"""Declared attributes given as free attributes: in an attribute dictionary or as a property of the generic form.

Knows: that a value equal to its default is not stored, and that what is not declared is kept apart.
Does not know: how attributes are read, nor which attribute stands for which value (`text.kinds`).
"""

from __future__ import annotations

from typing import Any

from tileir.ir import attributes as a
from tileir.ir.fields import Attr, AttrKind
from tileir.ir.loc import SourceLoc
from tileir.ir.spec import OpSpec
from tileir.text.kinds import expected_form, free_value
from tileir.text.reading import codes
from tileir.text.reading.reader import Reader


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
    found = free_value(attr, value)
    if found is None:
        what = expected_form(attr)
        message = f"'{spec.name}' attribute '{attr.name}': expected {what}, got another attribute"
        reader.fail(codes.PROPERTY, message, loc, expected=what)
    return found
