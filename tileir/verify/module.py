"""Rules of modules and their items (operations 3.3, 3.9, 3.11)."""

from __future__ import annotations

from tileir.ir.core import Op
from tileir.ir.types import ElementType, FunctionType, TileType
from tileir.ops.extension import Func
from tileir.ops.module import Entry, Global, ModuleOp
from tileir.verify import debug
from tileir.verify.core import constant_payload
from tileir.verify.hints import entries_are_dictionaries
from tileir.verify.rule import Fault, Rules, Scope, shown, type_list
from tileir.verify.symbols import symbol_name
from tileir.verify.versions import newer_type

rules = Rules()

ITEMS = (Entry, Global, Func)


@rules("E0207", ModuleOp, contextual=True)
def no_arguments(op: ModuleOp, scope: Scope) -> Fault | None:
    return None if op.body is None or not op.body.args else Fault("body", "no arguments", str(len(op.body.args)))


@rules("E0802", Entry, Global, Func, contextual=True)
def stands_in_module(op: Op, scope: Scope) -> Fault | None:
    parent = op.parent_op
    if isinstance(parent, ModuleOp):
        return None
    return Fault("parent operation", "'module'", "none" if parent is None else f"'{parent.spec.name}'")


@rules("E0801", Entry, Global, Func, contextual=True)
def unique_name(op: Op, scope: Scope) -> Fault | None:
    name = symbol_name(op)
    first = None if name is None else scope.symbols.get(name)
    if first is None or first is op:
        return None
    return Fault("name", "one that no other item has", f"@{name}", shown(f"@{name} is defined here first", first.loc))


def item_fault(op: Op) -> Fault | None:
    """E0803: what stands directly in a module."""
    if isinstance(op, ITEMS):
        return None
    return Fault("cannot stand directly in a module, which holds entries, globals and functions")


# ---------------------------------------------------------------- entries and functions


@rules("E0202", Entry, Func)
def has_signature(op: Op, scope: Scope) -> Fault | None:
    found = op.attributes["function_type"]
    if isinstance(found, FunctionType):
        return None
    return Fault("attribute 'function_type'", "a function type", repr(found))


@rules("E0812", Entry, Func, contextual=True)
def arguments_match(op: Entry | Func, scope: Scope) -> Fault | None:
    inputs, args = op.function_type.inputs, tuple(arg.type for arg in op.body.args)
    if inputs == args:
        return None
    return Fault("body arguments", f"those of the signature, {type_list(inputs)}", type_list(args))


@rules("E0810", Entry)
def returns_nothing(op: Entry, scope: Scope) -> Fault | None:
    results = op.function_type.results
    if not results:
        return None
    return Fault("", "no results", type_list(results), hint="write results through a pointer argument")


@rules("E0811", Entry)
def scalar_arguments(op: Entry, scope: Scope) -> Fault | None:
    for index, type in enumerate(op.function_type.inputs):
        if isinstance(type, TileType) and type.shape:
            hint = "pass a pointer and load the tile from it"
            return Fault(f"argument {index}", "a scalar tile", repr(type), hint=hint)
    return None


rules.add("E0830", entries_are_dictionaries, Entry)


# ---------------------------------------------------------------- globals


@rules("E0813", Global)
def global_rank(op: Global, scope: Scope) -> Fault | None:
    type = op.value.type
    return None if type.rank == 1 else Fault("attribute 'value'", "a tile of rank 1", repr(type))


@rules("E0814", Global)
def global_elements(op: Global, scope: Scope) -> Fault | None:
    type = op.value.type
    return None if isinstance(type.element, ElementType) else Fault("attribute 'value'", "numbers", repr(type))


rules.add("E0406", constant_payload, Global)


@rules("E0219", Global)
def global_type(op: Global, scope: Scope) -> Fault | None:
    return newer_type("attribute 'value'", op.value.type, scope)


@rules("W0801", Global, contextual=True)
def global_alignment(op: Global, scope: Scope) -> Fault | None:
    found = op.alignment
    if found >= 0 and found & (found - 1) == 0:
        return None
    return Fault("attribute 'alignment'", "0 or a power of two", str(found))


for _op, _rules in debug.rules.items():
    rules.setdefault(_op, []).extend(_rules)
