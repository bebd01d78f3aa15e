"""The language server: documents that are open, and which part answers which request.

Documents that are being written are checked when there is a short pause.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
from typing import Any, BinaryIO

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from tileir.tools.lsp import blanks, completion, diagnostics, navigation, showing
from tileir.tools.lsp.snapshot import Snapshot
from tileir.tools.messages import read_content

PAUSE = 0.02
"""Seconds without a change after which a document is checked."""
CALM = 0.3
"""Seconds after a check when numbers are looked at, so that a question about them is answered at once."""
LEGEND = lsp.SemanticTokensLegend(list(showing.TOKEN_TYPES), list(showing.TOKEN_MODIFIERS))


class _Framed:
    """A stream of messages whose headers are spelled and bounded as pygls takes for granted."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lines: list[bytes] = []
        self._content = b""

    def readline(self) -> bytes:
        if not self._lines:
            content = read_content(self._stream)
            if not content:
                return b""
            self._content, self._lines = content, [b"\r\n", b"Content-Length: %d\r\n" % len(content)]
        return self._lines.pop()

    def read(self, size: int) -> bytes:
        return self._content


class TileServer(LanguageServer):
    """A server for Tile IR text."""

    def __init__(self, version: str) -> None:
        super().__init__("tileir", version)
        self._snapshots: dict[str, Snapshot] = {}
        self._due: dict[str, asyncio.TimerHandle] = {}

    def snapshot(self, uri: str) -> Snapshot:
        """Return the document as it is now."""
        document = self.workspace.get_text_document(uri)
        try:
            text = document.source
        except OSError:  # it is not open, and there is no such file
            raise JsonRpcInvalidParams(f"expected an open document, got '{uri}'") from None
        known = self._snapshots.get(uri)
        if known is None or known.version != document.version or known.text != text:
            if known is not None:
                known.release()
            known = self._snapshots[uri] = Snapshot(to_fs_path(uri) or uri, text, document.version)
        return known

    def check_soon(self, uri: str) -> None:
        """Check a document when nothing changes for a while."""
        self._call_later(PAUSE, uri, self.check)

    def check(self, uri: str) -> None:
        """Tell the editor what is wrong with a document."""
        snapshot = self.snapshot(uri)
        found = diagnostics.shown_diagnostics(snapshot, uri)
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, found, snapshot.version))
        self._call_later(CALM, uri, lambda uri: self.snapshot(uri).know_all())

    def forget(self, uri: str) -> None:
        """Forget a closed document: nothing is wrong with it any more."""
        waiting = self._due.pop(uri, None)
        if waiting is not None:
            waiting.cancel()
        self._snapshots.pop(uri, None)
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))

    def _call_later(self, seconds: float, uri: str, call: Any) -> None:
        waiting = self._due.pop(uri, None)
        if waiting is not None:
            waiting.cancel()
        self._due[uri] = asyncio.get_running_loop().call_later(seconds, call, uri)


def serve(version: str) -> None:
    """Answer on standard input and output until the editor says goodbye."""
    # Programs are large and live until the next edit: looking for circles in them costs more than it gives.
    gc.freeze()
    gc.set_threshold(200_000, 20, 100)
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_is_unforeseen)
    logging.getLogger("pygls.server").addFilter(_brief)
    # The server closes what it is given.
    with os.fdopen(os.dup(0), "rb") as stdin, os.fdopen(os.dup(1), "wb") as stdout:
        server(version).start_io(_Framed(stdin), stdout)  # type: ignore[arg-type]


def _is_unforeseen(record: logging.LogRecord) -> bool:
    """Return whether a failure is more than a refused or unreadable request, which the editor is told of."""
    refused = record.exc_info and isinstance(record.exc_info[1], JsonRpcInvalidParams)
    return not refused and not record.getMessage().startswith("Unable to deserialize")


def _brief(record: logging.LogRecord) -> bool:
    """Give the reason instead of a traceback: a message that cannot be read is the editor's fault, not ours."""
    if record.exc_info:
        record.msg, record.exc_info = f"{record.msg}: {record.exc_info[1]}", None
    return True


def server(version: str) -> TileServer:
    """Return a server with all its features."""
    found = TileServer(version)
    _documents(found)
    _answers(found)
    _names(found)
    _commands(found)
    return found


def _documents(ls: TileServer) -> None:
    @ls.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        ls.check_soon(params.text_document.uri)

    @ls.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        ls.check_soon(params.text_document.uri)

    @ls.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        ls.forget(params.text_document.uri)


def _answers(ls: TileServer) -> None:
    @ls.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hovered(params: lsp.HoverParams) -> lsp.Hover | None:
        return navigation.hover(ls.snapshot(params.text_document.uri), params.position)

    @ls.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=["%", "@", "!", ":", "<"]))
    def completed(params: lsp.CompletionParams) -> lsp.CompletionList:
        return completion.completion(ls.snapshot(params.text_document.uri), params.position)

    @ls.feature(lsp.TEXT_DOCUMENT_SIGNATURE_HELP, lsp.SignatureHelpOptions(trigger_characters=[" ", ","]))
    def signed(params: lsp.SignatureHelpParams) -> lsp.SignatureHelp | None:
        return completion.signature(ls.snapshot(params.text_document.uri), params.position)

    @ls.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    def hinted(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        return showing.inlay_hints(ls.snapshot(params.text_document.uri), params.range)

    @ls.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def outlined(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        return showing.outline(ls.snapshot(params.text_document.uri))

    @ls.feature(lsp.TEXT_DOCUMENT_FOLDING_RANGE)
    def folded(params: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
        return showing.folds(ls.snapshot(params.text_document.uri))

    @ls.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, LEGEND)
    def coloured(params: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
        snapshot = ls.snapshot(params.text_document.uri)
        return showing.semantic_tokens(snapshot, 0, len(snapshot.text))

    @ls.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, LEGEND)
    def partly_coloured(params: lsp.SemanticTokensRangeParams) -> lsp.SemanticTokens:
        snapshot = ls.snapshot(params.text_document.uri)
        first = snapshot.lines.offset(lsp.Position(params.range.start.line, 0))
        return showing.semantic_tokens(snapshot, first, snapshot.lines.offset(params.range.end))

    @ls.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def formatted(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
        snapshot = ls.snapshot(params.text_document.uri)
        text = blanks.formatted(snapshot.reading)
        if text is None:
            return None
        return [] if text == snapshot.text else [lsp.TextEdit(snapshot.lines.range(0, len(snapshot.text)), text)]

    @ls.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix]))
    def mended(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri = params.text_document.uri
        return diagnostics.fixes(ls.snapshot(uri), uri, params.range)


def _names(ls: TileServer) -> None:
    @ls.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def defined(params: lsp.DefinitionParams) -> list[lsp.Location]:
        uri = params.text_document.uri
        name = navigation.named_at(ls.snapshot(uri), params.position)
        if name is None or name.definition is None:
            return []
        return navigation.locations(ls.snapshot(uri), uri, name, [name.definition])

    @ls.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def used(params: lsp.ReferenceParams) -> list[lsp.Location]:
        uri = params.text_document.uri
        name = navigation.named_at(ls.snapshot(uri), params.position)
        if name is None:
            return []
        asked = params.context.include_declaration
        places = [at for at in name.places if asked or at != name.definition]
        return navigation.locations(ls.snapshot(uri), uri, name, places)

    @ls.feature(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def highlighted(params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
        uri = params.text_document.uri
        name = navigation.named_at(ls.snapshot(uri), params.position)
        found = [] if name is None else navigation.locations(ls.snapshot(uri), uri, name, name.places)
        return [lsp.DocumentHighlight(one.range) for one in found]

    @ls.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepared(params: lsp.PrepareRenameParams) -> lsp.Range | None:
        snapshot = ls.snapshot(params.text_document.uri)
        name = navigation.named_at(snapshot, params.position)
        if name is None:
            return None
        offset = snapshot.lines.offset(params.position)
        at = max((place for place in name.places if place <= offset), default=name.places[0])
        return snapshot.lines.range(at, at + len(name.name))

    @ls.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def renamed(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        uri = params.text_document.uri
        name = navigation.named_at(ls.snapshot(uri), params.position)
        try:
            return None if name is None else navigation.renamed(ls.snapshot(uri), uri, name, params.new_name)
        except navigation.RenameError as error:
            raise JsonRpcInvalidParams(str(error)) from None


def _commands(ls: TileServer) -> None:
    @ls.feature(lsp.TEXT_DOCUMENT_CODE_LENS)
    def lenses(params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        uri = params.text_document.uri
        return showing.lenses(ls.snapshot(uri), uri)

    @ls.command("tileir.launch")
    def launched(uri: str, kernel: str) -> dict[str, list[str]]:
        """Return the words of a command line that runs an entry."""
        return {"words": showing.launch_words(ls.snapshot(uri), kernel)}

    @ls.command("tileir.stage")
    async def shown(uri: str, stage: str, line: int) -> dict[str, str]:
        """Return the code of the entry at a line, from one of the compilers."""
        snapshot = ls.snapshot(uri)
        kernel = showing.entry_at(snapshot, line)
        return await asyncio.get_running_loop().run_in_executor(None, showing.made, snapshot.text, stage, kernel)
