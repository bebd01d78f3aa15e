"""Rules that entries, functions and globals share (spec: module#top, spec: calls#top): place, name, signature."""

from __future__ import annotations

from tileir.ir.core import Op
from tileir.ir.escaping import shown
from tileir.ir.types import FunctionType
from tileir.ops.calls import Func
from tileir.ops.module import Entry, Global, ModuleOp
from tileir.verify.rule import CheckContext, RuleTable, Violation, noted, type_list
from tileir.verify.symbols import symbol_name

ITEMS = (Entry, Global, Func)


def stands_in_module(op: Op, context: CheckContext) -> Violation | None:
    """E0802."""
    parent = op.parent_op
    if isinstance(parent, ModuleOp):
        return None
    return Violation("parent operation", "'module'", "none" if parent is None else f"'{parent.spec.name}'")


def unique_name(op: Op, context: CheckContext) -> Violation | None:
    """E0801."""
    name = symbol_name(op)
    first = None if name is None else context.symbols.get(name)
    if name is None or first is None or first is op:
        return None
    symbol = f"@{shown(name)}"
    return Violation("name", "one that no other item has", symbol, noted(f"{symbol} is defined here first", first.loc))


def item_violation(op: Op) -> Violation | None:
    """E0803: what stands directly in a module."""
    if isinstance(op, ITEMS):
        return None
    return Violation("cannot stand directly in a module, which holds entries, globals and functions")


def has_signature(op: Op, context: CheckContext) -> Violation | None:
    """E0202."""
    found = op.attributes["function_type"]
    if isinstance(found, FunctionType):
        return None
    return Violation("attribute 'function_type'", "a function type", repr(found))


def arguments_match(op: Entry | Func, context: CheckContext) -> Violation | None:
    """E0812."""
    inputs, args = op.function_type.inputs, tuple(arg.type for arg in op.body.args)
    if inputs == args:
        return None
    return Violation("body arguments", f"those of the signature, {type_list(inputs)}", type_list(args))


def add_item(table: RuleTable, op: type[Op]) -> None:
    """Add the rules of whatever stands in a module and has a name."""
    table.add("E0802", stands_in_module, op, contextual=True)
    table.add("E0801", unique_name, op, contextual=True)


def add_signature(table: RuleTable, op: type[Op]) -> None:
    """Add the rules of whatever has a signature and a body."""
    table.add("E0202", has_signature, op)
    table.add("E0812", arguments_match, op, contextual=True)
