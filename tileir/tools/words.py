"""The words of the language, as the declarations have them.

Knows: which words stand where: names of operations, types, words of attributes. Does not know: who shows them (editors,
highlighting).
"""

from __future__ import annotations

import re
from functools import cache

from tileir.ir import types as t
from tileir.ir.fields import AttrKind
from tileir.ir.spec import OpSpec
from tileir.ops import OPS
from tileir.text.reading.hints import spellings
from tileir.text.reference import syntax

_QUOTED = re.compile(r"<[^<>]*>|%\w+(?:, \.\.\.)?|T\([^)]*\)")
_WORD = re.compile(r"[a-z_]\w+")


@cache
def operation_words() -> tuple[str, ...]:
    """Every name of an operation, without the dialect's prefix."""
    return tuple(sorted(spellings()))


@cache
def canonical_operations() -> tuple[str, ...]:
    """The names that the printer writes."""
    return tuple(sorted(OPS))


@cache
def element_words() -> tuple[str, ...]:
    return tuple(sorted(t.ELEMENTS))


TYPE_WORDS = ("gather_scatter_view", "partition_view", "ptr", "strided_view", "tensor_view", "tile", "token")


@cache
def words_of(spec: OpSpec) -> tuple[str, ...]:
    """The words that may follow the name of an operation: those of its format and the cases of its attributes."""
    found = set(_WORD.findall(_QUOTED.sub(" ", syntax(spec).replace(spec.name, " "))))
    for attr in spec.attrs:
        if attr.enum is not None:
            found |= {case.text for case in attr.enum}
        elif attr.kind in (AttrKind.UNIT, AttrKind.HINTS):
            found.add(attr.name)
    return tuple(sorted(found - {spec.name}))


@cache
def attribute_words() -> tuple[str, ...]:
    """The words of all operations that are no names of operations or types."""
    found = {word for op in OPS.values() for word in words_of(op.spec)}
    return tuple(sorted(found - set(operation_words()) - set(TYPE_WORDS) - set(element_words())))
