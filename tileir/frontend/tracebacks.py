"""Tracebacks without our frames, and without those of the library where the kernel is at fault.

Faults of arguments, programs and runs are shown without our frames. A fault of tileir itself keeps its frames. pytest
leaves out frames that say so themselves.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from tileir.ir.diagnostics import DiagnosticError, Trap, UnsupportedError

E = TypeVar("E", bound=BaseException)

_PACKAGE = Path(__file__).parents[1]
_EXAMPLES = _PACKAGE / "examples"
_ARGUMENTS = (_PACKAGE / "cutile", _PACKAGE / "triton", _PACKAGE / "runtime")
"""Folders of the code that finds faults of arguments and grids."""
_LIBRARIES = ("cuda.tile", "triton")
"""The libraries whose kernels run."""


def is_ours(file: str) -> bool:
    path = Path(file)
    return _PACKAGE in path.parents and _EXAMPLES not in path.parents


def is_hidden(error: BaseException, file: str) -> bool:
    """Return whether a traceback of `error` is clearer without the frames of a file: ours, or those of the library that
    launched a kernel at fault."""
    return is_ours(file) or (isinstance(error, Trap | DiagnosticError) and _is_library(file))


def trimmed(error: E) -> E:
    """Return the error, to be raised again, without our frames if it is none of ours."""
    entries = list(_entries(error.__traceback__))
    of_library = _is_of_library(error)
    if not entries or (not of_library and _is_fault_of_ours(error, entries[-1].tb_frame.f_code.co_filename)):
        return error
    trace = None
    for entry in reversed(entries):
        file = entry.tb_frame.f_code.co_filename
        if not (is_ours(file) or (of_library and _is_library(file))):
            trace = TracebackType(trace, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return error.with_traceback(trace)


def _is_of_library(error: BaseException) -> bool:
    """Return whether a library reports a fault of a kernel; its text says where."""
    return f"{type(error).__module__}.".startswith(tuple(f"{name}." for name in _LIBRARIES))


def _is_library(file: str) -> bool:
    found = [getattr(sys.modules.get(name), "__file__", None) for name in _LIBRARIES]
    return any(path is not None and Path(path).parent in Path(file).parents for path in found)


def _entries(trace: TracebackType | None) -> list[TracebackType]:
    found = []
    while trace is not None:
        found.append(trace)
        trace = trace.tb_next
    return found


def _is_fault_of_ours(error: BaseException, file: str) -> bool:
    """Return whether `error`, raised in `file`, is one that only tileir's code explains."""
    if isinstance(error, Trap | DiagnosticError | UnsupportedError) or not is_ours(file):
        return False
    of_arguments = isinstance(error, TypeError | ValueError | OverflowError)
    return not (of_arguments and any(folder in Path(file).parents for folder in _ARGUMENTS))
