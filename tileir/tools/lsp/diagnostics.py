"""Diagnostics and their mends as an editor shows them."""

from __future__ import annotations

import re

from lsprotocol import types as lsp

from tileir.ir.diagnostics import Diagnostic
from tileir.ir.escaping import shown_lines
from tileir.ir.loc import FileLoc, Location, SourceLoc, file_position
from tileir.tools.lsp.reading import token_around
from tileir.tools.lsp.snapshot import Snapshot

_DID_YOU_MEAN = re.compile(r"^did you mean '([^']+)'\?$")
_TWIN = re.compile(r"^'([\w$]+)' takes (?:integers|floats)$")
_OPERATION = re.compile(r"^[\w$.]+$")
_SEVERITIES = {"error": lsp.DiagnosticSeverity.Error, "warning": lsp.DiagnosticSeverity.Warning}


def shown_diagnostics(snapshot: Snapshot, uri: str) -> list[lsp.Diagnostic]:
    """Return all diagnostics of a document."""
    return [_shown(snapshot, uri, found) for found in snapshot.diagnostics]


def _shown(snapshot: Snapshot, uri: str, found: Diagnostic) -> lsp.Diagnostic:
    message = shown_lines(found.message) + (f"\nhint: {shown_lines(found.hint)}" if found.hint else "")
    notes = [
        lsp.DiagnosticRelatedInformation(lsp.Location(uri, _range(snapshot, note.loc)), shown_lines(note.message))
        for note in found.notes
    ]
    return lsp.Diagnostic(
        _range(snapshot, found.loc),
        message,
        severity=_SEVERITIES[found.severity],
        code=found.code,
        source="tileir",
        related_information=notes or None,
    )


def _range(snapshot: Snapshot, loc: Location) -> lsp.Range:
    return snapshot.lines.range(*place(snapshot, loc))


def place(snapshot: Snapshot, loc: Location) -> tuple[int, int]:
    """Return the part of the text that a location stands for: where it is no place in it, that of the operation that
    has it, or the beginning of the text."""
    found = file_position(loc)
    if isinstance(found, SourceLoc) and found.source is snapshot.source:
        return found.offset, max(found.offset, found.end)
    begin = snapshot.reading.moved.get(id(loc))
    if begin is None and isinstance(found, FileLoc) and found.file == snapshot.source.name:
        starts = snapshot.lines.starts
        line = min(max(found.line, 1), len(starts))
        begin = min(starts[line - 1] + max(found.column - 1, 0), len(snapshot.text))
    begin = begin or 0
    return begin, begin + max(1, len(token_around(snapshot.text, begin)[1]))


# ---------------------------------------------------------------- mends


def fixes(snapshot: Snapshot, uri: str, wanted: lsp.Range) -> list[lsp.CodeAction]:
    """Return the mends of the diagnostics that touch a part of the text."""
    begin, end = snapshot.lines.offset(wanted.start), snapshot.lines.offset(wanted.end)
    actions = []
    for found in snapshot.diagnostics:
        low, high = place(snapshot, found.loc)
        if low <= end and begin <= high:
            actions += _fixes(snapshot, uri, found)
    return actions


def _fixes(snapshot: Snapshot, uri: str, found: Diagnostic) -> list[lsp.CodeAction]:
    edit = mend(snapshot, found)
    if edit is None:
        return []
    begin, end, text = edit
    change = lsp.TextEdit(snapshot.lines.range(begin, end), text)
    return [
        lsp.CodeAction(
            f"change to '{text}'",
            kind=lsp.CodeActionKind.QuickFix,
            diagnostics=[_shown(snapshot, uri, found)],
            edit=lsp.WorkspaceEdit(changes={uri: [change]}),
            is_preferred=True,
        )
    ]


def mend(snapshot: Snapshot, found: Diagnostic) -> tuple[int, int, str] | None:
    """Return the edit that the hint of a diagnostic stands for: a part of the text, and what takes its place."""
    begin, end = place(snapshot, found.loc)
    near = _DID_YOU_MEAN.match(found.hint or "")
    if near:
        old = snapshot.text[begin:end]
        return begin, end, f'"{near[1]}"' if old.startswith('"') and not near[1].startswith('"') else near[1]
    twin = _TWIN.match(found.hint or "")
    if twin and found.op:
        at, token = token_around(snapshot.text, begin)
        if _OPERATION.match(token) and token.removeprefix("cuda_tile.") == found.op:
            return at, at + len(token), twin[1]
    return None
