"""Loading programs from files, streams, text and bytes, and the errors of that."""

from __future__ import annotations

import codecs
import errno
import math
import os
from pathlib import Path
from typing import IO

from tileir.ir.diagnostics import Diagnostic, DiagnosticError, FileError
from tileir.ir.loc import SourceLoc, file_position
from tileir.ir.versions import NEWEST
from tileir.runtime.module import Module

MAX_PATH = 4096
MAGIC = b"\x7fTileIR\x00"
MAX_BYTES = 1 << 30
"""More is refused; a program of this size would take days to read."""
MAX_PART = 1 << 24
_NUL = b"\x00"


def load(source: str | os.PathLike[str] | bytes) -> Module:
    """Load a program from wherever it is. It is not verified.

    Parameters
    ----------
    source : str, path or bytes
        The path of a file, program text, or the bytes of either text or bytecode. A string is a path if such a file
        exists or if it cannot be a program, which has braces or more than one line. Text may also be TTIR, which
        Triton's compiler makes of a kernel.

    Returns
    -------
    Module
        The program.

    Raises
    ------
    DiagnosticError
        For a file that cannot be read, and for faults of the program.
    TypeError
        For a source of another type.
    """
    if isinstance(source, bytes | bytearray | memoryview):
        return from_content(bytes(source), "<bytes>")
    if isinstance(source, str) and not _is_path(source):
        return from_text(source, "<string>")
    if not isinstance(source, str | os.PathLike):
        raise TypeError(f"source: expected a path, program text or bytes, got {type(source).__name__}")
    path = Path(source)
    return from_content(read_file(path), str(path))


def _is_path(text: str) -> bool:
    if "\n" in text or "\0" in text or not text or len(text) > MAX_PATH:
        return False
    return os.path.exists(text) or not any(mark in text for mark in ("{", "}", "//"))


def parse(text: str, filename: str = "<string>", first_line: int = 1, *, level: str = NEWEST) -> Module:
    """Read a program from text. It is not verified.

    Parameters
    ----------
    text : str
        The program.
    filename : str
        Its name in messages.
    first_line : int
        Number of its first line in the file.
    level : str
        Language version that the program is checked against.

    Returns
    -------
    Module
        The program.

    Raises
    ------
    DiagnosticError
        With every fault of the text, and other faults in the part that could be read.
    TypeError
        For anything but text.
    """
    if not isinstance(text, str):
        raise TypeError(f"text: expected a string, got {type(text).__name__}; tileir.load takes files and bytes")
    from tileir.text import parser

    try:
        return Module.of(parser.parse(text, filename, first_line))
    except DiagnosticError as error:
        if error.partial is None:
            raise error from None
        from tileir.verify import verify_partial

        found = [*error.diagnostics, *verify_partial(error.partial, level)]
        raise DiagnosticError(sorted(found, key=_offset), error.source) from None


def _offset(diagnostic: Diagnostic) -> float:
    place = file_position(diagnostic.loc)
    return place.offset if isinstance(place, SourceLoc) else math.inf


def from_bytecode(data: bytes, filename: str = "<bytecode>") -> Module:
    """Read a program from bytecode. It is not verified.

    Parameters
    ----------
    data : bytes
        The content of a bytecode file.
    filename : str
        Its name in messages.

    Returns
    -------
    Module
        The program.

    Raises
    ------
    DiagnosticError
        With the path into the file and the byte offset of what is wrong.
    TypeError
        For what is no bytes.
    """
    from tileir.bytecode import decode

    if not isinstance(data, bytes | bytearray | memoryview):
        raise TypeError(f"data: expected bytes, got {type(data).__name__}; tileir.load takes files and text")
    return Module.of(decode(bytes(data), filename))


def from_content(content: bytes, filename: str, first_line: int = 1, *, level: str = NEWEST) -> Module:
    """Load the content of a file, text or bytecode, or the part of a text that begins at `first_line`.

    Raises `DiagnosticError`, for text as `parse` does.
    """
    if content.startswith(MAGIC[:1]):  # which no text begins with, though the file may be cut short or damaged
        return from_bytecode(content, filename)
    return from_text(_decoded(content, filename), filename, first_line, level=level)


def from_text(text: str, filename: str, first_line: int = 1, *, level: str = NEWEST) -> Module:
    """Load text: Tile IR, or TTIR as Triton writes it. Raises `DiagnosticError`, as `parse` does."""
    if "tt.func" in text:
        from tileir.triton.importer.entry import imported, is_ttir

        if is_ttir(text):
            return Module.of(imported(text, filename, first_line))
    return parse(text, filename, first_line, level=level)


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
