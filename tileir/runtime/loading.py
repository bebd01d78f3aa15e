"""The public ways to load a program: from a file, text or bytes."""

from __future__ import annotations

import os
from pathlib import Path

from tileir.ir.versions import NEWEST
from tileir.runtime import reading
from tileir.runtime.module import Module

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
        return Module.of(reading.read_text(source, "<string>"))
    if not isinstance(source, str | os.PathLike):
        raise TypeError(f"source: expected a path, program text or bytes, got {type(source).__name__}")
    path = Path(source)
    return from_content(reading.read_file(path), str(path))


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
    return Module.of(reading.read_tile_ir(text, filename, first_line, level))


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
    """Load the content of a file, text or bytecode. Raises `DiagnosticError`, for text as `parse` does."""
    return Module.of(reading.read_content(content, filename, first_line, level))
