"""Rules of the core operations: constants, globals, iota, select (spec: core#top)."""

from __future__ import annotations

from tileir.ir.attributes import DenseElements
from tileir.ir.core import Op
from tileir.ir.diagnostics import Note
from tileir.ir.escaping import shown
from tileir.ir.types import F4E2M1FN
from tileir.ops.core import Constant, GetGlobal, Iota, Select
from tileir.ops.module import Global
from tileir.verify.kinds import payload_violation
from tileir.verify.rule import CheckContext, RuleTable, Violation, noted

rules = RuleTable()


# ---------------------------------------------------------------- constant


@rules("E0405", Constant)
def constant_type(op: Constant, context: CheckContext) -> Violation | None:
    found = op.value.type
    if found is op.result.type:
        return None
    return Violation("attribute 'value'", f"elements of {op.result.type!r}", f"of {found!r}")


@rules("E0406", Constant)
def constant_payload(op: Constant, context: CheckContext) -> Violation | None:
    return payload_violation(op.value)


# ---------------------------------------------------------------- globals, iota, select


@rules("E0804", GetGlobal, contextual=True)
def global_exists(op: GetGlobal, context: CheckContext) -> Violation | None:
    found = context.symbols.get(op.symbol)
    if isinstance(found, Global):
        return None
    return Violation(
        "attribute 'name'", "a global of the module", f"@{shown(op.symbol)}, {_what(found)}", _symbol_notes(op, found)
    )


@rules("E0805", GetGlobal, contextual=True)
def global_pointee(op: GetGlobal, context: CheckContext) -> Violation | None:
    found = context.symbols.get(op.symbol)
    value = found.attributes.get("value") if found is not None else None
    pointee = op.result.type.pointer.pointee
    if not isinstance(value, DenseElements) or value.type.element is pointee:
        return None
    expected = f"a pointer to {value.type.element!r}, the elements of @{shown(op.symbol)}"
    return Violation("result", expected, repr(op.result.type), _symbol_notes(op, found))


def _what(found: Op | None) -> str:
    return "which is not defined" if found is None else f"which is of kind '{found.spec.name}'"


def _symbol_notes(op: GetGlobal, found: Op | None) -> tuple[Note, ...]:
    return () if found is None else noted(f"@{shown(op.symbol)} is defined here", found.loc)


@rules("E0407", Iota)
def iota_rank(op: Iota, context: CheckContext) -> Violation | None:
    return None if op.result.type.rank == 1 else Violation("result", "a tile of rank 1", repr(op.result.type))


@rules("E0410", Iota)
def iota_range(op: Iota, context: CheckContext) -> Violation | None:
    type = op.result.type
    limit = 1 << type.element.bits
    if type.count <= limit:
        return None
    return Violation("result", f"at most {limit} elements, as many as {type.element!r} can number", str(type.count))


@rules("E0421", Select)
def select_element(op: Select, context: CheckContext) -> Violation | None:
    if op.result.type.element is not F4E2M1FN:
        return None
    return Violation("result", "elements other than f4E2M1FN", repr(op.result.type))
