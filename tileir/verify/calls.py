"""Rules of device functions and their calls (spec: calls#top)."""

from __future__ import annotations

from tileir.ir.core import Op
from tileir.ir.shown import shown
from tileir.ops.calls import Call, Func, PreviewCall
from tileir.verify.debug import add_function_scope
from tileir.verify.items import add_item, add_signature
from tileir.verify.rule import CheckContext, RuleTable, Violation, noted, type_list
from tileir.verify.symbols import signature_of

rules = RuleTable()

add_item(rules, Func)
add_signature(rules, Func)
add_function_scope(rules, Func)


@rules("E0806", Call, contextual=True)
def callee_exists(op: Call, context: CheckContext) -> Violation | None:
    found = context.symbols.get(op.callee)
    if isinstance(found, Func):
        return None
    got = "not defined" if found is None else f"of kind '{found.spec.name}'"
    notes = () if found is None else noted(f"@{shown(op.callee)} is defined here", found.loc)
    return Violation("attribute 'callee'", "a function of the module", f"@{shown(op.callee)}, which is {got}", notes)


@rules("E0807", Call, contextual=True)
def call_signature(op: Call, context: CheckContext) -> Violation | None:
    callee = context.symbols.get(op.callee)
    signature = None if callee is None else signature_of(callee)
    if callee is None or signature is None:
        return None
    notes = noted(f"@{shown(op.callee)} is defined here", callee.loc)
    for what, wanted, values in (("operands", signature.inputs, op.args), ("results", signature.results, op.outputs)):
        found = tuple(value.type for value in values)
        if found != wanted:
            return Violation(what, f"those of @{shown(op.callee)}, {type_list(wanted)}", type_list(found), notes)
    return None


@rules("E0808", Call, contextual=True)
def no_recursion(op: Call, context: CheckContext) -> Violation | None:
    callee, caller = context.symbols.get(op.callee), _function(op)
    if callee is None or caller is None or not context.symbols.recursive(caller, callee):
        return None
    return Violation(
        "callee",
        f"a function that does not lead back to @{shown(caller.attributes['sym_name'])}",
        f"@{shown(op.callee)}",
    )


def _function(op: Op) -> Op | None:
    parent = op.parent_op
    while parent is not None and not isinstance(parent, Func):
        parent = parent.parent_op
    return parent


@rules("E0809", PreviewCall, contextual=True)
def callee_is_elsewhere(op: PreviewCall, context: CheckContext) -> Violation | None:
    found = context.symbols.get(op.callee)
    if found is None:
        return None
    notes = noted(f"@{shown(op.callee)} is defined here", found.loc)
    hint = "'experimental$call' calls functions of the module" if isinstance(found, Func) else None
    got = f"@{shown(op.callee)}, which is of kind '{found.spec.name}'"
    return Violation("attribute 'callee'", "a function that the module does not define", got, notes, hint)
