"""The language of the declared text formats.

Knows: how a format string reads as directives, and where blanks stand between them (spec: printing#spacing).
Does not know: what a directive reads or writes; that is its class.

A format is a blank-separated list of words in backquotes, of fields (``$lhs``) and of directives with the fields they
are about (``type($result)``); `DIRECTIVES` has them all.
"""

from __future__ import annotations

import re
from functools import cache

from tileir.ir.spec import OpSpec
from tileir.text.syntax import clauses, dictionaries, types
from tileir.text.syntax.directive import Directive
from tileir.text.syntax.fields import FixedText, field

DIRECTIVES: dict[str, type[Directive]] = {
    "type": types.TypeOf,
    "repeated_type": types.RepeatedType,
    "tail_type": types.TailType,
    "index_types": types.IndexTypes,
    "exit_operands": types.ExitOperands,
    "tail_colon_types": types.TailColonTypes,
    "print_result": types.PrintResult,
    "tail": clauses.TailOperand,
    "tail_flag": clauses.TailFlag,
    "token": clauses.TokenOperand,
    "spaced_token": clauses.SpacedTokenOperand,
    "rounding": clauses.RoundingClause,
    "clause": clauses.CaseClause,
    "flags": clauses.FlagNames,
    "scope": clauses.ScopeKeyword,
    "memory": clauses.MemoryKeywords,
    "hints": clauses.HintsClause,
    "inbounds": clauses.InboundsClause,
    "blank_inbounds": clauses.BlankInboundsClause,
    "elements": dictionaries.ConstantElements,
    "attr-dict": dictionaries.AttrDict,
    "attr-dict-with-keyword": dictionaries.AttrDictWithKeyword,
}

_ELEMENT = re.compile(r"`([^`]+)`|\$(\w+)|([\w-]+)(?:\(([^)]*)\))?")
_OPENING = frozenset("([<{")
_CLOSING = frozenset(",)]>}")
_PUNCTUATION = frozenset(("->", ":", "=", *_OPENING, *_CLOSING))


@cache
def directives(spec: OpSpec) -> tuple[Directive, ...]:
    """The directives of the format of an operation; none if its syntax is no format."""
    found = tuple(_directive(spec, *match.groups()) for match in _ELEMENT.finditer(spec.format or ""))
    previous = ""
    for directive in found:
        directive.lead = _gap(previous, directive.text)
        previous = directive.text
    return found


def _directive(spec: OpSpec, word: str | None, name: str | None, directive: str, arguments: str | None) -> Directive:
    if word is not None:
        return FixedText(spec, word)
    if name is not None:
        return field(spec, name)
    names = [argument.strip().lstrip("$") for argument in (arguments or "").split(",") if argument.strip()]
    return DIRECTIVES[directive](spec, *names)


def _gap(previous: str, text: str) -> str:
    """The blank between two directives, by the punctuation that they are; nothing precedes it right after the name."""
    if previous in _OPENING or text in _CLOSING:
        return ""
    return "" if text in _OPENING and previous not in _PUNCTUATION else " "


def stated_fields(spec: OpSpec) -> frozenset[str]:
    """The fields whose types the format spells."""
    return frozenset(name for directive in directives(spec) if directive.states for name in directive.names)


def shown(spec: OpSpec) -> str:
    """The format as the manual shows it: ``%operands``, ``[optional parts]``, ``<attributes>`` by name."""
    return " ".join(text for directive in directives(spec) if (text := directive.shown()))
