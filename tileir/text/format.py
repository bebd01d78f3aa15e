"""The language of the declared text formats.

Knows: how a format string reads, as a tuple of `Step`s that the parser and the printer both walk.
Does not know: how a step is parsed (`text.parser`) or printed (`text.printer`).

A format is a blank-separated list of

- `` `word` ``: a literal, punctuation or keyword;
- ``$field``: an operand (variadic: a comma list) or an attribute by its kind: the keyword of an enum, an integer, a
  string, a symbol, a ``[..]`` list, a predicate; a flag is its own name;
- ``type($field)``: the type of a single operand or result;
- ``repeated_type($result)``: one type that stands for all results of a variadic result;
- ``rounding($attr)``: ``rounding<mode>``; a default is left out but keeps its blank;
- ``clause($attr)``: ``name<value>``; a default is left out;
- ``flags($a, $b)``: flags in any order when read, in this order when printed;
- ``scope($attr)``: a keyword of an optional enum;
- ``memory($ordering, $scope)``: the ordering and scope keywords of the view operations;
- ``tail($operand)``: ``, %x`` or nothing; a comma alone is read too; variadic: ``, %x, ...``;
- ``tail_type($operand)``: ``, T`` iff the operand is there;
- ``tail_flag($attr)``: ``, name`` iff the flag is set;
- ``token($operand)``: ``token=%t`` or nothing; ``spaced_token`` prints ``token = %t``;
- ``hints($attr)``: ``optimization_hints = <...>`` or nothing;
- ``inbounds($attr)``: ``inbounds = [true, ...]`` unless all are false; ``blank_inbounds`` keeps the blank;
- ``index_types($operand)``: ``, T`` for all indices or ``, T, ...`` one each;
- ``literal($attr)``: ``<E: elements>``;
- ``exit_operands($operand)``: ``%x, ... : T, ...`` or nothing;
- ``tail_colon_types($operand)``: ``: T, ...`` iff there are operands;
- ``print_result($result)``: ``-> token``, which early text leaves out;
- ``attr-dict``: the discardable attributes; ``attr-dict-with-keyword``: the same after ``attributes``, and with
  ``($attr)`` also that declared attribute when it is not at its default.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

_STEP = re.compile(r"`([^`]+)`|\$(\w+)|([\w-]+)(?:\(([^)]*)\))?")


@dataclass(frozen=True)
class Step:
    """One element of a format: `kind` is ``literal``, ``field`` or the directive's name; `fields` its arguments."""

    kind: str
    fields: tuple[str, ...] = ()
    text: str = ""


@cache
def steps(format: str) -> tuple[Step, ...]:
    """The steps of a format string."""
    return tuple(_step(*match.groups()) for match in _STEP.finditer(format))


def _step(literal: str | None, field: str | None, directive: str, arguments: str | None) -> Step:
    if literal is not None:
        return Step("literal", text=literal)
    if field is not None:
        return Step("field", (field,))
    names = tuple(name.strip().lstrip("$") for name in (arguments or "").split(",") if name.strip())
    return Step(directive, names)
