"""Programs from files, streams, text and bytes, as plain modules, and the errors of reading them."""

from __future__ import annotations

import codecs
import errno
import math
from pathlib import Path
from typing import IO

from tileir.ir.core import Module
from tileir.ir.diagnostics import Diagnostic, DiagnosticError, FileError
from tileir.ir.loc import SourceLoc, file_position
from tileir.ir.versions import NEWEST

MAGIC = b"\x7fTileIR\x00"
MAX_BYTES = 1 << 30
"""More is refused; a program of this size would take days to read."""
MAX_PART = 1 << 24
_NUL = b"\x00"


def read_content(content: bytes, filename: str, first_line: int = 1, level: str = NEWEST) -> Module:
    """Read the content of a file, text or bytecode, or the part of a text that begins at `first_line`.

    Raises `DiagnosticError`.
    """
    if not content.startswith(MAGIC[:1]):  # which no text begins with, though the file may be cut short or damaged
        return read_text(_decoded(content, filename), filename, first_line, level)
    from tileir.bytecode import decode

    return decode(content, filename)


def read_text(text: str, filename: str, first_line: int = 1, level: str = NEWEST) -> Module:
    """Read text: Tile IR, or TTIR as Triton writes it. Raises `DiagnosticError`."""
    if "tt.func" in text:
        from tileir.triton.importer.entry import imported, is_ttir

        if is_ttir(text):
            return imported(text, filename, first_line)
    return read_tile_ir(text, filename, first_line, level)


def read_tile_ir(text: str, filename: str, first_line: int = 1, level: str = NEWEST) -> Module:
    """Read Tile IR. Raises `DiagnosticError` with every fault of the text and of what could be read of it."""
    from tileir.text.parser import parse

    try:
        return parse(text, filename, first_line)
    except DiagnosticError as error:
        raise _with_violations(error, level) from None


def _with_violations(error: DiagnosticError, level: str) -> DiagnosticError:
    """Return the faults of a text with those that the verifier finds in the rest of it, in the order of the text."""
    from tileir.verify import verify_partial

    if error.partial is None:
        return error
    found = [*error.diagnostics, *verify_partial(error.partial, level)]
    return DiagnosticError(sorted(found, key=_offset), error.source)


def _offset(diagnostic: Diagnostic) -> float:
    place = file_position(diagnostic.loc)
    return place.offset if isinstance(place, SourceLoc) else math.inf


def _decoded(content: bytes, filename: str) -> str:
    """Return the text in UTF-8 `content`, without a byte order mark."""
    try:
        text, place = content.decode("utf-8-sig"), 0
        if not content.startswith(_NUL):
            return text
    except UnicodeDecodeError as error:
        place = error.start
    what = f"expected text in UTF-8 or Tile IR bytecode, got byte {content[place]:#04x} at offset {place}"
    raise DiagnosticError([Diagnostic("E0003", f"{filename}: {what}")])


# ---------------------------------------------------------------- files


def read_file(path: Path) -> bytes:
    """Return the content of a file. Raises `FileError` E0001 or E0002, `DiagnosticError` E0004."""
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "expected a file, got a directory")
        with path.open("rb") as file:
            return read_stream(file, str(path))
    except (OSError, ValueError) as error:  # a name that no file can have is a ValueError
        reason = getattr(error, "strerror", None) or str(error)
        code = "E0002" if isinstance(error, IsADirectoryError) else "E0001"
        diagnostic = Diagnostic(code, f"cannot read '{path}': {reason.lower()}")
        raise FileError(diagnostic, getattr(error, "errno", None), reason, str(path)) from None


def read_stream(file: IO[bytes], name: str) -> bytes:
    """Read a file, which may be endless; only the beginning if that cannot begin a program.

    Raises `DiagnosticError` E0004.
    """
    parts, size = [], 0
    while part := file.read(min(MAX_PART, MAX_BYTES + 1 - size)):
        parts.append(part)
        size += len(part)
        if len(parts) == 1 and cannot_begin(part):
            break
    if size > MAX_BYTES:
        message = f"cannot read '{name}': expected at most {MAX_BYTES} bytes, got more"
        raise DiagnosticError([Diagnostic("E0004", message)])
    return b"".join(parts)


def cannot_begin(content: bytes) -> bool:
    """Return whether no program, in text or bytecode, begins like this."""
    if content.startswith(MAGIC):
        return False
    try:
        codecs.getincrementaldecoder("utf-8-sig")().decode(content)
    except UnicodeDecodeError:
        return True
    return content.startswith(_NUL)
