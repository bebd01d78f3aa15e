"""Highlighting of Tile IR text, made from the declarations, and the words of the language.

`grammar` is what editors read that know TextMate grammars, `tileir.tools.lexer` a lexer for Pygments, and
notebooks show `html_of`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from tileir.ir import types as t
from tileir.ir.fields import AttrKind
from tileir.ir.spec import OpSpec
from tileir.ops import OPS
from tileir.ops.calls import Func
from tileir.ops.module import Entry, Global, ModuleOp
from tileir.text.reading.hints import spellings
from tileir.text.reference import syntax

_QUOTED = re.compile(r"<[^<>]*>|%\w+(?:, \.\.\.)?|T\([^)]*\)")
_WORD = re.compile(r"[a-z_]\w+")


@cache
def operation_words() -> tuple[str, ...]:
    """Return every name of an operation, without the dialect's prefix."""
    return tuple(sorted(spellings()))


@cache
def canonical_operations() -> tuple[str, ...]:
    """Return the names that the printer writes."""
    return tuple(sorted(OPS))


@cache
def element_words() -> tuple[str, ...]:
    return tuple(sorted(t.ELEMENTS))


TYPE_WORDS = ("gather_scatter_view", "partition_view", "ptr", "strided_view", "tensor_view", "tile", "token")


@cache
def words_of(spec: OpSpec) -> tuple[str, ...]:
    """Return the words that may follow the name of an operation: those of its format and the cases of its
    attributes."""
    found = set(_WORD.findall(_QUOTED.sub(" ", syntax(spec).replace(spec.name, " "))))
    for attr in spec.attrs:
        if attr.enum is not None:
            found |= {case.text for case in attr.enum}
        elif attr.kind in (AttrKind.UNIT, AttrKind.HINTS):
            found.add(attr.name)
    return tuple(sorted(found - {spec.name}))


@cache
def attribute_words() -> tuple[str, ...]:
    """Return the words of all operations that are no names of operations or types."""
    found = {word for op in OPS.values() for word in words_of(op.spec)}
    return tuple(sorted(found - set(operation_words()) - set(TYPE_WORDS) - set(element_words())))


SCOPE = "source.tileir"


@dataclass(frozen=True)
class Sort:
    """A sort of tokens: the name that themes know, and the expression of what belongs to it."""

    scope: str
    expression: str


_APART = r"(?<![\w$.%@#!])"
_EXTENTS = r"(?:(?:\d+|\?)x(?=[\da-z?]))+(?:\d+(?!\w))?"
"""The extents of a type, as in ``4x?xf32``."""
_BEHIND_EXTENTS = r"(?:(?<![\w$.])|(?<=[\d?]x))"
_ITEMS = frozenset(op.spec.name for op in (ModuleOp, Entry, Global, Func))


def sorts() -> Iterator[Sort]:
    """Yield all sorts; the first that fits at a place wins."""
    control = sorted(name for name, op in OPS.items() if op.spec.chapter == "control")
    items = {*_ITEMS, *(alias for name in _ITEMS for alias in OPS[name].spec.aliases)}
    plain = set(operation_words()) - set(control) - items
    yield Sort("comment.line.double-slash", r"//.*$")
    yield Sort("entity.name.function", r'@(?:[A-Za-z_][\w$.]*|"(?:[^"\\\n]|\\.)*")')
    yield Sort("string.quoted.double", r'"(?:[^"\\\n]|\\.)*"?')
    yield Sort("variable.other", r"%[\w$.]+(?:-(?!>)[\w$.]*)*(?:[ \t]*#\d+)?")
    yield Sort("entity.name.type", r"![A-Za-z_][\w$.]*")
    yield Sort("constant.other.alias", r"#[A-Za-z_][\w$.]*")
    yield Sort("entity.name.label", r"\^[\w$.]+")
    yield Sort("keyword.declaration", rf"\b(?:cuda_tile\.)?(?:{_any(items)})(?![\w$.])")
    yield Sort("keyword.control", rf"\b(?:cuda_tile\.)?(?:{_any(control)})(?![\w$.])")
    yield Sort("storage.type", rf"{_BEHIND_EXTENTS}(?:{_any(TYPE_WORDS)})(?![\w$.])")
    yield Sort("support.function", rf"\b(?:cuda_tile\.)?(?:{_any(plain)})(?![\w$.])")
    yield Sort(
        "constant.numeric",
        rf"{_APART}-?(?:0x[0-9A-F]+(?![\w?])|{_EXTENTS}|0x[0-9A-Fa-f]+|\d+\.\d*(?:[eE][-+]?\d+)?|\d+)",
    )
    yield Sort("support.type", rf"{_BEHIND_EXTENTS}(?:{_any(element_words())})(?![\w$.])")
    yield Sort("storage.modifier", rf"\b(?:{_any(attribute_words())})(?![\w$.])")
    yield Sort("constant.language", r"\b(?:true|false)\b")
    yield Sort("variable.parameter", r"[A-Za-z_][\w$.]*")
    yield Sort("punctuation", r"->|[{}()\[\]<>:,=]")


_COLOURS = {
    "comment": "#7a8490",
    "string": "#b5651d",
    "entity.name.function": "#8250df",
    "entity.name.label": "#8250df",
    "keyword": "#cf4a5a",
    "support.function": "#2a7fd0",
    "storage.type": "#1a8a7a",
    "support.type": "#1a8a7a",
    "constant": "#b07d18",
}
"""Colours by the beginnings of scopes, to be read on white and on black."""


def html_of(text: str) -> str:
    """Return a program as HTML, in colours that need no style sheet."""
    parts, end = [], 0
    for match in _tokens().finditer(text):
        assert match.lastgroup is not None
        colour = _token_colours()[int(match.lastgroup[1:])]
        parts.append(html.escape(text[end : match.start()], quote=False))
        token, end = html.escape(match[0], quote=False), match.end()
        parts.append(f'<span style="color:{colour}">{token}</span>' if colour else token)
    return f"<pre>{''.join(parts)}{html.escape(text[end:], quote=False)}</pre>"


@cache
def _tokens() -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<s{number}>{one.expression})" for number, one in enumerate(sorts())), re.MULTILINE)


@cache
def _token_colours() -> tuple[str | None, ...]:
    return tuple(
        next((colour for begin, colour in _COLOURS.items() if one.scope.startswith(begin)), None) for one in sorts()
    )


def _any(words: Iterable[str]) -> str:
    """Return a pattern for any of several words; the longest first, so that none hides behind its beginning."""
    return "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))


def grammar() -> dict[str, object]:
    """Return the TextMate grammar."""
    return {
        "name": "Tile IR",
        "scopeName": SCOPE,
        "fileTypes": ["tileir", "mlir"],
        "patterns": [{"name": f"{one.scope}.tileir", "match": one.expression} for one in sorts()],
    }
