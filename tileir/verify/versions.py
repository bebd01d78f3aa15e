"""Language levels: the operations, attributes, enumeration cases and types that each one knows."""

from __future__ import annotations

from collections.abc import Callable

from tileir.ir.core import Op
from tileir.ir.fields import Attr, Operand
from tileir.ir.spec import OpSpec
from tileir.ir.types import (
    F4E2M1FN,
    ElementType,
    FunctionType,
    PointerAttr,
    PointerType,
    TensorViewType,
    TileType,
    TileViewType,
    Type,
)
from tileir.ir.versions import Version, version_key
from tileir.verify.rule import CheckContext, Rule, Violation

OLDEST = "13.1"
_POINTER_ATTR_SINCE = {
    None: OLDEST,
    PointerAttr.NONE: "13.4",
    PointerAttr.UNICAST: "13.5",
    PointerAttr.MULTICAST: "13.5",
}


def type_since(type: Type) -> str:
    """Return the first version that knows `type` with all its parts."""
    return max(_parts(type), key=version_key)


def _parts(type: Type) -> list[str]:
    if isinstance(type, ElementType):
        return [type.since]
    if isinstance(type, TileType):
        return _parts(type.element)
    if isinstance(type, PointerType):
        return [_POINTER_ATTR_SINCE[type.attr], *_parts(type.pointee)]
    if isinstance(type, TensorViewType):
        return [_POINTER_ATTR_SINCE[type.attr], *_parts(type.element)]
    if isinstance(type, TileViewType):
        return [type.since, *_parts(type.tensor_view)]
    if isinstance(type, FunctionType):
        return [OLDEST, *(since for part in (*type.inputs, *type.results) for since in _parts(part))]
    return [OLDEST]


def newer_type(subject: str, type: Type, context: CheckContext) -> Violation | None:
    """E0219: a type that the level does not know; reported where it occurs first."""
    if type in context.refused_types or version_key(since := type_since(type)) <= context.level:
        return None
    context.refused_types.add(type)
    return Violation(subject, f"a type of version {_text(context.level)}", f"{type!r}, which exists since {since}")


def shaped_f4_pointers(subject: str, type: Type, context: CheckContext) -> Violation | None:
    """E0320: 4-bit elements have no address, so 13.5 has no tiles of such pointers (spec: versions#text-additions)."""
    if context.level < (13, 5) or not isinstance(type, TileType) or not type.shape or type in context.refused_types:
        return None
    if not isinstance(type.element, PointerType) or type.element.pointee is not F4E2M1FN:
        return None
    context.refused_types.add(type)
    hint = "load and store f4E2M1FN through a tile view"
    return Violation(subject, "a scalar tile of pointers to f4E2M1FN", repr(type), hint=hint)


TYPE_RULES: tuple[tuple[str, Callable[[str, Type, CheckContext], Violation | None]], ...] = (
    ("E0219", newer_type),
    ("E0320", shaped_f4_pointers),
)
"""Rules of every type of a value, besides the constraint of its operation."""


def op_rules(spec: OpSpec) -> list[Rule]:
    """E0216: the operation itself against the level."""
    return [Rule("E0216", _newer_op, structural=True)] if spec.since != OLDEST else []


def field_rules(spec: OpSpec) -> list[Rule]:
    """E0217 and E0218: fields that are used, and cases of enumerations, against the level."""
    fields: list[Attr | Operand] = [*spec.attrs, *spec.operands]
    result = [_newer_field(field, field.since) for field in fields if field.since and field.since != spec.since]
    cases = [attr for attr in spec.attrs if attr.enum and any(case.since != OLDEST for case in attr.enum)]
    return result + [_newer_case(attr) for attr in cases]


def _newer_op(op: Op, context: CheckContext) -> Violation | None:
    if version_key(op.spec.since) <= context.level:
        return None
    return Violation(f"exists since version {op.spec.since}, and the program is checked at {_text(context.level)}")


def _newer_field(field: Attr | Operand, since: str) -> Rule:
    def check(op: Op, context: CheckContext) -> Violation | None:
        if version_key(since) <= context.level or not _is_used(op, field):
            return None
        what = "attribute" if isinstance(field, Attr) else "operand"
        return Violation(
            f"{what} '{field.name}' exists since version {since}, and the program is checked at {_text(context.level)}"
        )

    return Rule("E0217", check, structural=True)


def _is_used(op: Op, field: Attr | Operand) -> bool:
    if isinstance(field, Operand):
        return bool(op.operand_group(field.position))
    return op.attributes.get(field.name, field.default) != field.default


def _newer_case(attr: Attr) -> Rule:
    def check(op: Op, context: CheckContext) -> Violation | None:
        case = op.attributes.get(attr.name)
        if case is None or version_key(case.since) <= context.level:
            return None
        return Violation(
            f"attribute '{attr.name}'",
            f"a value of version {_text(context.level)}",
            f"{case.text}, which exists since {case.since}",
        )

    return Rule("E0218", check, structural=True)


def _text(level: Version) -> str:
    return f"{level[0]}.{level[1]}"
