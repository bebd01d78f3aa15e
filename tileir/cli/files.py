"""Programs read from files and standard input, and output written to files.

Knows: ``-``, text and bytecode told apart by content, and that an output file appears whole or not at all.
Does not know: what is done with a program.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from pathlib import Path

from tileir.cli import UsageError
from tileir.cli.kinds import require_program
from tileir.ir.versions import NEWEST
from tileir.runtime.loading import from_content
from tileir.runtime.module import Module
from tileir.runtime.reading import read_stream
from tileir.verify import verify

STANDARD_INPUT = "<stdin>"
BYTECODE_SUFFIXES = (".tileirbc", ".tilebc", ".bc")
"""How the names of files with bytecode end."""


def display_name(file: str) -> str:
    """The name of `file` in messages."""
    return STANDARD_INPUT if file == "-" else file


def read(file: str) -> bytes:
    """The content of a file, or of standard input for ``-``. Raises `DiagnosticError` if there is no end of it."""
    name = display_name(file)
    try:
        if file == "-":
            return read_stream(sys.stdin.buffer, name)
        with Path(file).open("rb") as stream:
            return read_stream(stream, name)
    except OSError as error:
        raise UsageError(f"cannot read '{name}': {reason(error)}") from None
    except ValueError as error:  # a name that no file can have
        raise UsageError(f"cannot read '{name}': {error}") from None


def program(file: str, level: str = NEWEST) -> Module:
    """The program in a file; text or bytecode. Raises `DiagnosticError`, and `UsageError` for what is no program."""
    content = read(file)
    require_program(file, content, display_name(file))
    return from_content(content, display_name(file), level=level)


def verified(file: str, level: str) -> Module:
    """The program in a file, without a fault at the language level. Raises `DiagnosticError`."""
    module = program(file, level)
    verify(module, level).raise_if_errors()
    return module


def write(file: str | None, content: str | bytes) -> None:
    """Write to a file, at once and whole; to standard output for None or ``-``."""
    data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    if file is None or file == "-":
        if isinstance(content, bytes) and sys.stdout.isatty():
            raise UsageError("what is to be written is not text: say where it goes with -o FILE")
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        _replace(Path(file), data)


def _replace(path: Path, data: bytes) -> None:
    """Write beside `path` and rename: a reader, or a run that is broken off, never sees half a file."""
    target = Path(os.path.realpath(path))
    temporary = None
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(data)
            return
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:64]}.")
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.chmod(temporary, target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
        os.replace(temporary, target)
        temporary = None
    except OSError as error:
        raise UsageError(f"cannot write '{path}': {reason(error)}") from None
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def reason(error: OSError) -> str:
    """What has gone wrong, as errors say it."""
    return (error.strerror or str(error)).lower()
