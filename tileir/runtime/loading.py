"""Loading a program from wherever it is: a file, text, bytes.

Knows: how the three are told apart, and what can be wrong with a file.
Does not know: how text or bytecode is read.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

from tileir.ir.diagnostics import Diagnostic, DiagnosticError
from tileir.runtime.module import Module, cannot_begin, from_content, from_text

MAX_BYTES = 1 << 30
"""More is refused; a program of this size would take days to read."""
MAX_PART = 1 << 24
MAX_PATH = 4096


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
        return from_text(source)
    if not isinstance(source, str | os.PathLike):
        raise TypeError(f"source: expected a path, program text or bytes, got {type(source).__name__}")
    path = Path(source)
    return from_content(read_file(path), str(path))


def _is_path(text: str) -> bool:
    if "\n" in text or "\0" in text or not text or len(text) > MAX_PATH:
        return False
    return os.path.exists(text) or not any(mark in text for mark in ("{", "}", "//"))


def read_file(path: Path) -> bytes:
    """The content of a file. Raises `DiagnosticError` E0001, E0002 or E0004."""
    try:
        if path.is_dir():
            raise _failure("E0002", f"cannot read '{path}': expected a file, got a directory")
        with path.open("rb") as file:
            return read_stream(file, str(path))
    except (OSError, ValueError) as error:  # a name that no file can have is a ValueError
        reason = getattr(error, "strerror", None) or str(error)
        raise _failure("E0001", f"cannot read '{path}': {reason.lower()}") from None


def read_stream(file: IO[bytes], name: str) -> bytes:
    """All that is in a file, which may be endless; the beginning will do if it is none of a program.

    Raises `DiagnosticError` E0004.
    """
    parts, size = [], 0
    while part := file.read(min(MAX_PART, MAX_BYTES + 1 - size)):
        parts.append(part)
        size += len(part)
        if len(parts) == 1 and cannot_begin(part):
            break
    if size > MAX_BYTES:
        raise _failure("E0004", f"cannot read '{name}': expected at most {MAX_BYTES} bytes, got more")
    return b"".join(parts)


def _failure(code: str, message: str) -> DiagnosticError:
    return DiagnosticError([Diagnostic(code, message)])
