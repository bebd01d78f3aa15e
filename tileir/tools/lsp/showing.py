"""Annotations that an editor shows in and around the text: types, outline, colours, folds, commands over entries,
stages."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from lsprotocol import types as lsp

from tileir.ir.core import Block, Op
from tileir.ir.types import PointerType, TileType, Type
from tileir.ops.calls import Func
from tileir.ops.module import Entry, Global, ModuleOp
from tileir.text.highlight import TYPE_WORDS, attribute_words, element_words
from tileir.text.reading.hints import PREFIX, spellings
from tileir.text.reading.lexer import END, TokenCursor
from tileir.tools.lsp.snapshot import Snapshot

TOKEN_TYPES = ("keyword", "type", "variable", "parameter", "function", "number", "string", "macro", "comment")
TOKEN_MODIFIERS = ("definition",)
_TYPES = frozenset((*TYPE_WORDS, *element_words()))
_COMMENT = re.compile(r"//[^\n]*")
_COMPOSITE = re.compile(r"[a-z_]+<")
RUN, SHOW = "tileir.run", "tileir.show"
LONGEST_HINT = 60


# ---------------------------------------------------------------- types beside names


def inlay_hints(snapshot: Snapshot, wanted: lsp.Range) -> list[lsp.InlayHint]:
    """Return the types of the names defined in a range whose statements do not spell them."""
    begin, end = snapshot.lines.offset(wanted.start), snapshot.lines.offset(wanted.end)
    hints = []
    for at, name in snapshot.reading.definitions.items():
        if not begin <= at <= end or _spelled(snapshot, at, name.value.type.text):
            continue
        text = name.value.type.text
        shown = text if len(text) <= LONGEST_HINT else text[: LONGEST_HINT - 3] + "..."
        position = snapshot.lines.position(at + len(name.name))
        hints.append(lsp.InlayHint(position, f": {shown}", kind=lsp.InlayHintKind.Type, tooltip=text))
    return hints


def _spelled(snapshot: Snapshot, at: int, type: str) -> bool:
    """Return whether the type stands right after the name, or is the only one on the lines of the statement."""
    behind = snapshot.text[at : at + 400]
    if re.match(r"%[\w$.-]+\s*:\s*[a-z!]", behind):
        return True
    found = snapshot.reading.statement_at(at)
    if found is None or len(found[1].results) > 1:
        return False
    rest = snapshot.text[at : snapshot.text.find("\n", at) % (1 << 62)]
    return type in rest and "{" not in rest


# ---------------------------------------------------------------- the outline


def outline(snapshot: Snapshot) -> list[lsp.DocumentSymbol]:
    """Return module, globals, entries and functions, and the loops and branches in them."""
    ends = _ends(snapshot)
    module = snapshot.reading.module.op
    return list(_symbols(snapshot, ends, [module] if module in ends else module.regions[0].ops))  # type: ignore[union-attr]


def _ends(snapshot: Snapshot) -> dict[Op, tuple[int, int]]:
    """Return the beginning and end of each operation with regions, as offsets."""
    found = {}
    for begin, op in snapshot.reading.statements.items():
        if op.regions or isinstance(op, Global):
            found[op] = begin, _end(snapshot.text, begin) if op.regions else snapshot.text.find("\n", begin) % (1 << 62)
    return {op: (begin, min(end, len(snapshot.text))) for op, (begin, end) in found.items()}


_BRACES = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"|[{}]')


def _end(text: str, begin: int) -> int:
    """Return the offset behind the brace that closes the first body from `begin` on."""
    depth = 0
    for found in _BRACES.finditer(text, begin):
        if found[0] in "{}":
            depth += 1 if found[0] == "{" else -1
            if depth == 0:
                return found.end()
    return len(text)


_KINDS = {
    ModuleOp: lsp.SymbolKind.Module,
    Entry: lsp.SymbolKind.Function,
    Func: lsp.SymbolKind.Function,
    Global: lsp.SymbolKind.Constant,
}


def _symbols(snapshot: Snapshot, ends: dict[Op, tuple[int, int]], ops: list[Op]) -> Iterator[lsp.DocumentSymbol]:
    for op in ops:
        inner = [one for region in op.regions if region is not None for one in region.ops]
        if op not in ends:
            continue
        begin, end = ends[op]
        name = op.attributes.get("sym_name")
        kind = _KINDS.get(type(op), lsp.SymbolKind.Namespace)
        here = snapshot.lines.range(begin, min(end, snapshot.text.find("\n", begin) % (1 << 62)))
        yield lsp.DocumentSymbol(
            f"@{name}" if name else op.spec.name,
            kind,
            snapshot.lines.range(begin, end),
            here,
            detail=op.spec.name if name else None,
            children=list(_symbols(snapshot, ends, inner)),
        )


def folds(snapshot: Snapshot) -> list[lsp.FoldingRange]:
    ranges = (snapshot.lines.range(*place) for place in _ends(snapshot).values())
    return [lsp.FoldingRange(one.start.line, one.end.line) for one in ranges if one.end.line > one.start.line]


def lenses(snapshot: Snapshot, uri: str) -> list[lsp.CodeLens]:
    """Return commands over each entry: run it, and show its code by a back end."""
    found = []
    for begin, op in snapshot.reading.statements.items():
        if isinstance(op, Entry):
            place = snapshot.lines.range(begin, begin + len("entry"))
            line = place.start.line
            for title, command, arguments in (
                ("run this entry", RUN, [uri, op.sym_name]),
                ("show LLVM IR", SHOW, [uri, "llvm", line]),
                ("show PTX", SHOW, [uri, "ptx", line]),
            ):
                found.append(lsp.CodeLens(place, lsp.Command(title, command, arguments=list(arguments))))
    return found


# ---------------------------------------------------------------- colours


def semantic_tokens(snapshot: Snapshot, begin: int, end: int) -> lsp.SemanticTokens:
    """Return the tokens between two offsets, as the differences that the protocol counts in."""
    data: list[int] = []
    last = lsp.Position(0, 0)
    for at, length, kind, modifiers in _coloured(snapshot, begin, end):
        place = snapshot.lines.position(at)
        width = snapshot.lines.position(at + length).character - place.character
        if width <= 0:
            continue
        same = place.line == last.line
        data += (
            place.line - last.line,
            place.character - last.character if same else place.character,
            width,
            TOKEN_TYPES.index(kind),
            modifiers,
        )
        last = place
    return lsp.SemanticTokens(data)


def _coloured(snapshot: Snapshot, begin: int, end: int) -> Iterator[tuple[int, int, str, int]]:
    text = snapshot.text
    cursor = TokenCursor(text)
    cursor.restart(begin)
    reached = begin
    while True:
        cursor.lookahead()
        token, at = cursor.tokens[cursor.index], cursor.starts[cursor.index]
        for comment in _COMMENT.finditer(text, reached, min(at, end)):
            yield comment.start(), len(comment[0]), "comment", 0
        if token is END or at >= end:
            return
        kind = kind_of(token, at, snapshot)
        if kind is not None and "\n" not in token:
            yield at, len(token), kind, int(at in snapshot.reading.definitions)
        reached = at + len(token)
        cursor.index += 1


def kind_of(token: str, at: int, snapshot: Snapshot) -> str | None:
    """Return the sort of a token; None of punctuation."""
    first = token[0]
    if first == "%":
        name = snapshot.reading.name_at(at)
        parent = None if name is None or isinstance(name.value.owner, Op) else name.value.owner.parent
        return "parameter" if isinstance(parent, Entry | Func) else "variable"
    if first == '"':
        return "string"
    if first == "@":
        return "function"
    if first in "#!^" and len(token) > 1:
        return "type" if first == "!" else "macro"
    if first.isdigit():
        return "number"
    if token in _TYPES or _COMPOSITE.match(token):
        return "type"
    if token.removeprefix(PREFIX) in spellings() or token in _ATTRIBUTES:
        return "keyword"
    return None


_ATTRIBUTES = frozenset((*attribute_words(), "loc", "true", "false", "dense", "array"))


STAGES = {
    "llvm": ("llvm", ["--target", "cpu", "--emit", "llvm"]),
    "asm": ("asm", ["--target", "cpu", "--emit", "asm"]),
    "ttir": ("mlir", ["--target", "sm_90", "--emit", "ttir"]),
    "ptx": ("ptx", ["--target", "sm_90", "--emit", "ptx"]),
}
"""Stage -> (language of its text, options of ``tileir compile``)."""
SECONDS = 120


def entry_at(snapshot: Snapshot, line: int) -> str | None:
    """Return the name of the last entry that begins at or before a line, counted from zero."""
    found = None
    for begin, op in sorted(snapshot.reading.statements.items()):
        if isinstance(op, Entry) and snapshot.lines.position(begin).line <= line:
            found = op.sym_name
    return found


def made(text: str, stage: str, kernel: str | None) -> dict[str, str]:
    """Return the code of an entry: ``language`` and ``text``, or ``error``."""
    if kernel is None or stage not in STAGES:
        return {"error": "no entry at this line" if stage in STAGES else f"no stage '{stage}': {', '.join(STAGES)}"}
    language, options = STAGES[stage]
    command = [sys.executable, "-m", "tileir", "compile", "-", "--kernel", kernel, *options]
    try:
        ended = subprocess.run(
            command, input=text.encode("utf-8", "surrogatepass"), capture_output=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return {"error": f"compiling @{kernel} took longer than {SECONDS} seconds"}
    if ended.returncode:
        return {"error": ended.stderr.decode("utf-8", "replace").strip()}
    return {"language": language, "text": ended.stdout.decode("utf-8", "replace")}


def launch_words(snapshot: Snapshot, kernel: str) -> list[str]:
    """Return the words of a command line that runs an entry: those of the nearest file of launches, or else arguments
    to be changed: zeros, and 1 for numbers."""
    known = _known_launch(Path(snapshot.source.name), kernel)
    if known is not None:
        return ["run", snapshot.source.name, "--kernel", kernel, *known]
    found = [op for op in snapshot.reading.module.items if isinstance(op, Entry) and op.sym_name == kernel]
    body = found[0].body if found else Block()
    names = [name.lstrip("%") for name in body.arg_names] or [str(index) for index in range(len(body.args))]
    words = [f"{name}={_fill(argument.type)}" for name, argument in zip(names, body.args)]
    return ["run", snapshot.source.name, "--kernel", kernel, "--grid", "1", *words]


LAUNCHES = "tileir_launches.json"
"""The file in a program's folder, or above it, that has launches by file and entry."""


def _known_launch(file: Path, kernel: str) -> list[str] | None:
    """Return the words that a file of launches has for an entry; None without one, or of another form."""
    for folder in file.absolute().parents:
        path = folder / LAUNCHES
        if not path.is_file():
            continue
        try:
            words = json.loads(path.read_text(encoding="utf-8"))[file.absolute().relative_to(folder).as_posix()][kernel]
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            return None
        return words if isinstance(words, list) and all(isinstance(word, str) for word in words) else None
    return None


def _fill(type: Type) -> str:
    element = type.element if isinstance(type, TileType) else None
    if isinstance(element, PointerType):
        return f"{element.pointee.name}[1024]:zeros"
    return f"{element.name}:1" if element is not None else "1"
