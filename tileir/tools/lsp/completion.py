"""Completion and signatures, from the declarations and the names that are visible."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lsprotocol import types as lsp

from tileir.ir.spec import OpSpec
from tileir.text.highlight import TYPE_WORDS, canonical_operations, element_words, operation_words, words_of
from tileir.text.reading.hints import PREFIX, spellings
from tileir.text.reference import stated_rules, syntax
from tileir.tools.lsp.snapshot import Snapshot

_STATEMENT = re.compile(r"^\s*(?:%[^=]*=\s*)?(?P<name>[\w$.]*)$")
_OPERATION = re.compile(r"^\s*(?:%[^=]*=\s*)?(?P<name>[\w$.]+)\b")
_TYPE = re.compile(r"(?:[:<]|->|\bto\b|,|x)\s*!?\w*$")
_MANY = 200


def completion(snapshot: Snapshot, position: lsp.Position) -> lsp.CompletionList:
    """Return the completions at a position."""
    offset = snapshot.lines.offset(position)
    before = snapshot.text[snapshot.lines.starts[min(position.line, len(snapshot.lines.starts) - 1)] : offset]
    items = list(_items(snapshot, offset, before))
    return lsp.CompletionList(is_incomplete=len(items) > _MANY, items=items[: 4 * _MANY])


def _items(snapshot: Snapshot, offset: int, before: str) -> Iterator[lsp.CompletionItem]:
    if re.search(r"%[\w$.]*$", before):
        yield from _values(snapshot, offset)
    elif re.search(r"@[\w$.]*$", before):
        names = dict.fromkeys(snapshot.reading.symbols.values())
        yield from (lsp.CompletionItem(f"@{name}", kind=lsp.CompletionItemKind.Function) for name in names)
    elif _STATEMENT.match(before):
        yield from _operations(before)
    else:
        if _TYPE.search(before):
            yield from _types(snapshot)
        spec = _spec_of(before) or _spec_around(snapshot, offset)
        if spec is not None:
            yield from (lsp.CompletionItem(word, kind=lsp.CompletionItemKind.Keyword) for word in words_of(spec))
        yield from _values(snapshot, offset)


def _values(snapshot: Snapshot, offset: int) -> Iterator[lsp.CompletionItem]:
    for rank, name in enumerate(snapshot.reading.visible(offset)):
        yield lsp.CompletionItem(
            name.name,
            kind=lsp.CompletionItemKind.Variable,
            detail=name.value.type.text,
            sort_text=f"{rank:06}",
            filter_text=name.name,
        )


def _operations(before: str) -> Iterator[lsp.CompletionItem]:
    typed = _STATEMENT.match(before)
    assert typed is not None
    name = typed["name"].removeprefix(PREFIX)
    known: Iterable[str] = canonical_operations()
    if name and not any(one.startswith(name) for one in known):
        known = operation_words()
    for one in known:
        spec = spellings()[one].spec
        yield lsp.CompletionItem(
            one,
            kind=lsp.CompletionItemKind.Function,
            detail=syntax(spec),
            documentation=lsp.MarkupContent(lsp.MarkupKind.Markdown, spec.doc),
        )


def _types(snapshot: Snapshot) -> Iterator[lsp.CompletionItem]:
    for word in TYPE_WORDS:
        yield lsp.CompletionItem(word, kind=lsp.CompletionItemKind.Class)
    for word in element_words():
        yield lsp.CompletionItem(word, kind=lsp.CompletionItemKind.TypeParameter)
    for name in snapshot.reading.types:
        if name.startswith("!") and "." not in name:
            yield lsp.CompletionItem(name, kind=lsp.CompletionItemKind.Class, detail=snapshot.reading.types[name].text)


def _spec_of(line: str) -> OpSpec | None:
    found = _OPERATION.match(line)
    op = spellings().get(found["name"].removeprefix(PREFIX)) if found else None
    return None if op is None else op.spec


def _spec_around(snapshot: Snapshot, offset: int) -> OpSpec | None:
    """Return the operation of a statement that began on an earlier line."""
    found = snapshot.reading.statement_at(offset)
    return None if found is None else found[1].spec


# ---------------------------------------------------------------- signatures


def signature(snapshot: Snapshot, position: lsp.Position) -> lsp.SignatureHelp | None:
    """Return the syntax of the operation whose line is being written, with the operand that stands at the position."""
    offset = snapshot.lines.offset(position)
    line = snapshot.text[snapshot.lines.starts[min(position.line, len(snapshot.lines.starts) - 1)] : offset]
    spec = _spec_of(line)
    if spec is None:
        return None
    label = syntax(spec)
    parameters = [_parameter(label, operand.name, operand.constraint.text) for operand in spec.operands]
    shown = [parameter for parameter in parameters if parameter is not None]
    return lsp.SignatureHelp(
        [lsp.SignatureInformation(label, _documentation(spec), shown)],
        active_signature=0,
        active_parameter=min(_written_operands(line), max(len(shown) - 1, 0)),
    )


def _parameter(label: str, name: str, what: str) -> lsp.ParameterInformation | None:
    found = re.search(rf"%{re.escape(name)}\b", label)
    return None if found is None else lsp.ParameterInformation(found.span(), what)


def _documentation(spec: OpSpec) -> lsp.MarkupContent:
    rules = "\n".join(f"* {rule}" for rule in stated_rules(spec))
    return lsp.MarkupContent(lsp.MarkupKind.Markdown, f"{spec.doc}\n\n{rules}".rstrip())


def _written_operands(line: str) -> int:
    """Return the number of operands that are complete in front of the end of the line."""
    rest = line.split("=", 1)[1] if line.lstrip().startswith("%") and "=" in line else line
    return len(re.findall(r"%[\w$.#-]+(?=[^\w$.#-])", rest))
