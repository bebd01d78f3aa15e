"""How the syntax of an operation is shown in the reference, from its declared format.

Knows: what each step of a format looks like to a reader. Does not know: how a step is parsed or printed (`text`).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tileir.ir.declare import Attr, AttrKind, Operand, OpSpec
from tileir.text.format import Step, steps


def syntax(spec: OpSpec) -> str:
    """One line: words as written, ``%operands``, ``[optional parts]``, ``<attributes>`` by name."""
    if spec.format is None:
        return spec.syntax
    parts = [_shown(step, spec) for step in steps(spec.format)]
    text = " ".join(part for part in [_results(spec), spec.name, *parts] if part)
    return re.sub(r" (?=[,\]])|(?<=%\w) (?=\[)|(?<=\[) ", "", text).replace(" [%index", "[%index")


def _results(spec: OpSpec) -> str:
    names = [f"%{result.name}, ..." if result.variadic else f"%{result.name}" for result in spec.results]
    return f"{', '.join(names)} =" if names else ""


def _shown(step: Step, spec: OpSpec) -> str:
    show = _STEPS.get(step.kind)
    if show is None:
        raise ValueError(f"the reference does not know format step '{step.kind}' of '{spec.name}'")
    return show(step, spec)


def _field(step: Step, spec: OpSpec) -> str:
    name = step.fields[0]
    found = spec.operand_index.get(name)
    return _operand(found) if found is not None else _attribute(spec.attr_index[name])


def _operand(operand: Operand) -> str:
    return f"%{operand.name}, ..." if operand.variadic else f"%{operand.name}"


def _attribute(attr: Attr) -> str:
    if attr.kind is AttrKind.UNIT:
        return f"[{attr.name}]"
    if attr.kind is AttrKind.STRING:
        return '"..."'
    if attr.kind in (AttrKind.SYMBOL, AttrKind.SYMBOL_NAME):
        return "@name"
    if attr.kind is AttrKind.I32_ARRAY:
        return f"[<{attr.name}>, ...]"
    return f"<{attr.name}>"


def _literal(step: Step, spec: OpSpec) -> str:
    """A word as it is written, or the elements of a constant."""
    return "<E: elements>" if step.fields else step.text


def _type(step: Step, spec: OpSpec) -> str:
    """``T(field)``, or the type itself where the field can have only one."""
    name = step.fields[0]
    constraints = {field.name: field.constraint for field in spec.operands} | {
        field.name: field.constraint for field in spec.results
    }
    only = constraints[name].only
    return f"T({name})" if only is None else repr(only)


def _named(text: str) -> Callable[[Step, OpSpec], str]:
    """`text` with the name of the step's field in place of ``{}``."""
    return lambda step, spec: text.format(step.fields[0])


def _same(text: str) -> Callable[[Step, OpSpec], str]:
    return lambda step, spec: text


_STEPS: dict[str, Callable[[Step, OpSpec], str]] = {
    "literal": _literal,
    "field": _field,
    "type": _type,
    "repeated_type": _type,
    "rounding": _same("[rounding<mode>]"),
    "clause": _named("[{0}<{0}>]"),
    "flags": lambda step, spec: " ".join(f"[{name}]" for name in step.fields),
    "scope": _named("[<{}>]"),
    "memory": lambda step, spec: f"<{step.fields[0]}> [<{step.fields[1]}>]",
    "tail": lambda step, spec: f"[, {_field(step, spec)}]",
    "tail_type": lambda step, spec: f"[, {_type(step, spec)}]",
    "tail_flag": _named("[, {}]"),
    "token": _named("[token=%{}]"),
    "spaced_token": _named("[token = %{}]"),
    "hints": _same("[optimization_hints = <...>]"),
    "inbounds": _same("[inbounds = [true, ...]]"),
    "blank_inbounds": _same("[inbounds = [true, ...]]"),
    "index_types": _named(", T({})"),
    "exit_operands": _same("[%operand, ... : T, ...]"),
    "tail_colon_types": _same("[: T, ...]"),
    "print_result": _same("-> token"),
    "attr-dict": _same(""),
    "attr-dict-with-keyword": _same(""),
}
