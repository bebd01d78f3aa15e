"""Rules of modules, entries and globals (spec: module#top)."""

from __future__ import annotations

from tileir.ir.partial import POISON
from tileir.ir.types import ElementType, PointerType, TensorViewType, TileType, TileViewType
from tileir.ops.module import Entry, Global, ModuleOp
from tileir.verify.debug import add_function_scope, item_without_scope
from tileir.verify.hints import entries_are_dictionaries
from tileir.verify.items import add_item, add_signature
from tileir.verify.kinds import payload_violation
from tileir.verify.rule import CheckContext, RuleTable, Violation, type_list
from tileir.verify.versions import newer_type

rules = RuleTable()

VIEWS = TensorViewType | TileViewType


@rules("E0207", ModuleOp, contextual=True)
def no_arguments(op: ModuleOp, context: CheckContext) -> Violation | None:
    return None if op.body is None or not op.body.args else Violation("body", "no arguments", str(len(op.body.args)))


# ---------------------------------------------------------------- entries

add_item(rules, Entry)
add_signature(rules, Entry)


@rules("E0810", Entry)
def returns_nothing(op: Entry, context: CheckContext) -> Violation | None:
    results = op.function_type.results
    if not results:
        return None
    return Violation("", "no results", type_list(results), hint="write results through a pointer argument")


@rules("E0811", Entry)
def scalar_arguments(op: Entry, context: CheckContext) -> Violation | None:
    for index, type in enumerate(op.function_type.inputs):
        if isinstance(type, TileType) and type.shape:
            hint = "pass a pointer and load the tile from it"
            return Violation(f"argument {index}", "a scalar tile", repr(type), hint=hint)
    return None


@rules("E0815", Entry)
def tile_arguments(op: Entry, context: CheckContext) -> Violation | None:
    for index, type in enumerate(op.function_type.inputs if context.level >= (13, 5) else ()):
        if not isinstance(type, TileType) and type is not POISON:
            view = "pass a pointer and make the view in the body"
            bare = f"write 'tile<{type!r}>'" if isinstance(type, ElementType | PointerType) else None
            hint = view if isinstance(type, VIEWS) else bare
            return Violation(f"argument {index}", "a scalar tile in version 13.5", repr(type), hint=hint)
    return None


rules.add("E0830", entries_are_dictionaries, Entry)
add_function_scope(rules, Entry)


# ---------------------------------------------------------------- globals


@rules("E0406", Global)
def global_payload(op: Global, context: CheckContext) -> Violation | None:
    return payload_violation(op.value)


add_item(rules, Global)


@rules("E0813", Global)
def global_rank(op: Global, context: CheckContext) -> Violation | None:
    type = op.value.type
    return None if type.rank == 1 else Violation("attribute 'value'", "a tile of rank 1", repr(type))


@rules("E0814", Global)
def global_elements(op: Global, context: CheckContext) -> Violation | None:
    type = op.value.type
    return None if isinstance(type.element, ElementType) else Violation("attribute 'value'", "numbers", repr(type))


@rules("E0219", Global)
def global_type(op: Global, context: CheckContext) -> Violation | None:
    return newer_type("attribute 'value'", op.value.type, context)


@rules("E0816", Global)
def global_alignment(op: Global, context: CheckContext) -> Violation | None:
    return Violation("attribute 'alignment'", "0 or a power of two", str(op.alignment)) if op.alignment < 0 else None


@rules("W0801", Global, contextual=True)
def useful_alignment(op: Global, context: CheckContext) -> Violation | None:
    found = op.alignment
    return Violation("attribute 'alignment'", "0 or a power of two", str(found)) if found & (found - 1) else None


rules.add("E0826", item_without_scope, Global, contextual=True)
