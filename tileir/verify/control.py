"""Rules of control flow and of calls (spec: control#top, spec: calls#top)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tileir.analysis.structure import TARGETS
from tileir.ir.core import Block, Op, Value
from tileir.ir.escaping import shown
from tileir.ir.types import TensorViewType, TileViewType, Type
from tileir.ops.calls import Call, Func, PreviewCall
from tileir.ops.control import Break, Continue, For, If, Loop, Return, Yield
from tileir.ops.module import Entry
from tileir.verify.bodies import body_values
from tileir.verify.debug import add_function_scope
from tileir.verify.items import add_item, add_signature
from tileir.verify.rule import CheckContext, RuleTable, Violation, counted, noted, type_list
from tileir.verify.symbols import signature_of

rules = RuleTable()


# ---------------------------------------------------------------- for, loop, if


@rules("E0503", For)
def results_are_carried(op: For, context: CheckContext) -> Violation | None:
    initial, results = _types(op.initial), _types(op.outputs)
    if initial == results:
        return None
    return Violation("results", f"the types of the initial values, {type_list(initial)}", type_list(results))


@rules("E0504", For, contextual=True)
def induction_variable(op: For, context: CheckContext) -> Violation | None:
    args, bound = op.body.args, op.lower.type
    if args and args[0].type is bound:
        return None
    return Violation("induction variable", f"{bound!r}, the type of the bounds", repr(args[0].type) if args else "none")


@rules("E0505", For, Loop, contextual=True)
def iteration_arguments(op: For | Loop, context: CheckContext) -> Violation | None:
    body: Block = op.body
    args, initial = _types(body.args[isinstance(op, For) :]), _types(op.initial)
    if len(args) != len(initial):
        what = counted(len(initial), "iteration argument")
        return Violation("body", f"{what}, one per initial value", str(len(args)))
    for index, (found, wanted) in enumerate(zip(args, initial)):
        if found is not wanted:
            return Violation(f"iteration argument {index}", f"{wanted!r}, the type of its initial value", repr(found))
    return None


@rules("E0506", For, If, Loop)
def views_stay(op: For | If | Loop, context: CheckContext) -> Violation | None:
    for what, values in (("initial value", getattr(op, "initial", ())), ("result", op.outputs)):
        for index, value in enumerate(values):
            if isinstance(value.type, TensorViewType | TileViewType):
                hint = "make the view again where it is used: that costs nothing"
                return Violation(f"{what} {index}", "a tile or a token", repr(value.type), hint=hint)
    return None


@rules("E0507", If, contextual=True)
def results_need_else(op: If, context: CheckContext) -> Violation | None:
    if not op.outputs or op.otherwise is not None:
        return None
    return Violation("", "an else region, as there are results", "none")


# ---------------------------------------------------------------- exits


def _passed(op: Op, context: CheckContext) -> tuple[type[Op], ...]:
    """Return the operations that an exit leaves on its way; `return` leaves loops since 13.4."""
    return (If, Loop) if isinstance(op, Return) and context.level >= (13, 4) else (If,)


def _target(op: Op, context: CheckContext) -> Op | None:
    """Return the nearest operation around `op` that its exit does not merely pass through."""
    passed, parent = _passed(op, context), op.parent_op
    while isinstance(parent, passed):
        parent = parent.parent_op
    return parent


@rules("E0501", Break, Continue, Return, contextual=True)
def exit_target(op: Break | Continue | Return, context: CheckContext) -> Violation | None:
    target, allowed = _target(op, context), TARGETS[type(op)]
    if isinstance(target, allowed):
        return None
    expected = " or ".join(f"'{cls.spec.name}'" for cls in allowed if cls is not Func)
    passed = " and ".join(f"'{cls.spec.name}'" for cls in _passed(op, context))
    notes = () if target is None else noted(f"this '{target.spec.name}' is in the way", target.loc)
    hint = (
        "'return' may leave a 'loop' since version 13.4"
        if isinstance(op, Return) and isinstance(target, Loop)
        else None
    )
    got = "none" if target is None else f"'{target.spec.name}'"
    return Violation(f"nearest operation around other than {passed}", expected, got, notes, hint)


@rules("E0502", Break, Continue, Return, contextual=True)
def exit_values(op: Break | Continue | Return, context: CheckContext) -> Violation | None:
    target = _target(op, context)
    if target is None or target in context.unsound:
        return None
    what, wanted = _wanted(op, target)
    hint = (
        "an entry returns nothing: store the value through one of its pointers" if isinstance(target, Entry) else None
    )
    return _values_violation(op, target, what, wanted, hint)


def _wanted(op: Op, target: Op) -> tuple[str, Sequence[Type]]:
    """Return words for what the operands of an exit become, and the types asked for."""
    if isinstance(op, Break):
        return "the results of the 'loop'", _types(target.results)
    if isinstance(op, Continue):
        values = target.initial if isinstance(target, Loop) else target.results
        return f"the values that the '{target.spec.name}' carries", _types(values)
    signature = signature_of(target) if isinstance(target, Func) else None
    return f"the results of the '{target.spec.name}'", () if signature is None else signature.results


@rules("E0502", Yield, contextual=True)
def branch_values(op: Yield, context: CheckContext) -> Violation | None:
    parent = op.parent_op
    if not isinstance(parent, If) or parent in context.unsound:
        return None
    return _values_violation(op, parent, "the results of the 'if'", _types(parent.outputs))


def _values_violation(
    op: Op, target: Op, what: str, wanted: Sequence[Type], hint: str | None = None
) -> Violation | None:
    found = _types(op.operands)
    if list(wanted) == found:
        return None
    notes = noted(f"the '{target.spec.name}' is here", target.loc)
    return Violation("operands", f"{what}, {type_list(wanted)}", type_list(found), notes, hint)


MAX_CALL_DEPTH = 64
"""Functions in a chain of calls. Targets take several frames of Python for each."""


def _types(values: Iterable[Value]) -> list[Type]:
    return [value.type for value in values]


rules.add("E0517", body_values, Yield, contextual=True)


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


@rules("E0817", Call, contextual=True)
def calls_end_soon(op: Call, context: CheckContext) -> Violation | None:
    """Report the call that makes a chain too long; those further out lead to it."""
    callee = context.symbols.get(op.callee)
    if callee is None or _function(op) is None or context.symbols.depth(callee) != MAX_CALL_DEPTH:
        return None
    expected = f"calls that lead at most {MAX_CALL_DEPTH} functions deep"
    return Violation("callee", expected, f"@{shown(op.callee)}, which leads {MAX_CALL_DEPTH} deep itself")


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
