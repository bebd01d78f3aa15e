"""The manual of an operation, made from its declaration: its syntax in one line, and its page as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tileir.ir.attributes import TextEnum
from tileir.ir.core import Op
from tileir.ir.effects import AccessTrait
from tileir.ir.fields import REQUIRED, Attr, AttrKind
from tileir.ir.spec import OpSpec, Placement
from tileir.ir.traits import Same, TypeFrom
from tileir.text.syntax.format import shown


def syntax(spec: OpSpec) -> str:
    """Return the text form in one line: words as written, ``%operands``, ``[optional parts]``, ``<attributes>`` by
    name."""
    if spec.syntax:
        return spec.syntax
    names = [f"%{result.name}, ..." if result.variadic else f"%{result.name}" for result in spec.results]
    results = f"{', '.join(names)} =" if names else ""
    text = " ".join(part for part in (results, spec.name, shown(spec)) if part)
    return re.sub(r" (?=[,\]])|(?<=%\w) (?=\[)|(?<=\[) ", "", text).replace(" [%index", "[%index")


def operation_page(op: type[Op]) -> str:
    """Return the page of an operation, as Markdown."""
    spec = op.spec
    reference = f"[reference](spec/{spec.chapter}.md#{spec.name.replace('$', '-')})"
    facts = [f"since {spec.since}", _encoding(spec), *_other_names(spec), reference]
    parts = [f"# {spec.name}\n", f"{spec.doc}\n", f"```text\n{syntax(spec)}\n```\n", f"*{'; '.join(facts)}*\n"]
    fields = list(_fields(spec))
    if fields:
        rows = ["| field | kind | what it is |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in fields)]
        parts.append("\n".join(rows) + "\n")
    rules = list(stated_rules(spec))
    if rules:
        parts.append("\n".join(f"* {rule}" for rule in rules) + "\n")
    return "\n".join(parts)


def _encoding(spec: OpSpec) -> str:
    if spec.opcode is None:
        return "text only"
    where = {
        Placement.FUNCTION: ", in the function section",
        Placement.GLOBAL: ", in the global section",
        Placement.MODULE: ", implied by the file",
    }
    return f"opcode 0x{spec.opcode:02X}{where.get(spec.placement, '')}"


def _other_names(spec: OpSpec) -> Iterator[str]:
    dated = {name: since for since, name in spec.spellings}
    for name, since in dated.items():
        yield f"spelled `{name}` since {since}"
    rest = [f"`{alias}`" for alias in spec.aliases if alias not in dated]
    if rest:
        yield f"also read as {', '.join(rest)}"


def _fields(spec: OpSpec) -> Iterator[tuple[str, str, str]]:
    """Yield name, kind and description of each field."""
    for operand in spec.operands:
        kind = "operands" if operand.variadic else "operand, optional" if operand.optional else "operand"
        yield f"`{operand.name}`", kind, _dated(operand.constraint.text, operand.since)
    for attr in spec.attrs:
        yield f"`{attr.name}`", "attribute", _dated(value_text(attr), attr.since)
    for result in spec.results:
        kind = "results" if result.variadic else "result"
        yield f"`{result.name}`", kind, _dated(result.constraint.text, result.since)


def value_text(attr: Attr) -> str:
    what = attr.kind.name.replace("_", " ")
    if attr.enum is not None:
        what = ", ".join(f"`{case.text}`" for case in attr.enum)
    if attr.kind is AttrKind.UNIT:
        return "flag"
    if attr.default is REQUIRED:
        return what
    if attr.default is None or attr.default == ():
        return f"{what}; optional"
    return f"{what}; default `{attr.default.text if isinstance(attr.default, TextEnum) else attr.default}`"


def _dated(text: str, since: str | None) -> str:
    cell = text.replace("|", "\\|")
    return f"{cell} (since {since})" if since else cell


def stated_rules(spec: OpSpec) -> Iterator[str]:
    """Yield the traits, in words; those that a reader of programs has no use for are left out."""
    for trait in spec.traits:
        if isinstance(trait, Same):
            yield f"{', '.join(f'`{name}`' for name in trait.fields)} have the same {trait.relation.value}"
        elif isinstance(trait, TypeFrom):
            yield f"the type of `{trait.field}` is {trait.text}"
        elif trait.name == "parent":
            parents = getattr(trait, "parents", ())
            yield f"stands directly in {', '.join(f'`{name}`' for name in parents)}"
        elif trait.name == "region terminator":
            yield _terminators(trait)
        elif isinstance(trait, AccessTrait):
            yield _access(trait)
        elif trait.name in _TRAIT_WORDS:
            yield _TRAIT_WORDS[trait.name]


_TRAIT_WORDS = {
    "pure": "pure: may be removed, repeated or moved",
    "no memory effect": "no memory effect, but undefined for some operands: not moved to where it would not run",
    "terminator": "ends its block",
    "recursive effects": "has the effects of the operations inside",
    "isolated from above": "uses no value from outside",
    "effects of the callee": "has the effects of the function that it calls",
    "allocates": "takes memory, until the region around is left",
    "fences": "orders accesses to memory, and makes none",
    "waits": "waits for another kernel, and makes visible what that has stored",
    "signals": "lets another kernel start",
    "prints": "writes to the output",
    "calls the host": "runs code of the host, which may do anything unless it is `pure`",
    "may stop": "may end the launch",
    "promises": "tells the compiler what is so: undefined where it is not",
    "hides": "hides from the compiler what the value is",
}


def _access(trait: AccessTrait) -> str:
    verb = {"reads": "reads", "writes": "writes", "updates": "reads and writes, each element as one step,"}[trait.name]
    where = f", where `{trait.mask}` is 1" if trait.mask else ""
    return f"{verb} the memory that `{trait.through}` leads to{where}"


def _terminators(trait: object) -> str:
    names = (getattr(trait, "terminator", ""), *getattr(trait, "also", ()))
    return f"its blocks end with {' or '.join(f'`{name}`' for name in names)}"
