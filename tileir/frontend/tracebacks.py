"""Tracebacks without our frames, and without those of the library where the kernel is at fault.

Faults of arguments, programs and runs are shown without our frames. A fault of tileir itself keeps its frames. pytest
leaves out frames that say so themselves.
"""

from __future__ import annotations

import linecache
import sys
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from tileir.ir.diagnostics import DiagnosticError, Note, Trap, UnsupportedError
from tileir.ir.loc import CallSiteLoc, FileLoc, Location, Source, file_position

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


# ---------------------------------------------------------------- lines of Python


Raised = TypeVar("Raised", Trap, DiagnosticError)


def at_python_line(fault: Raised, file: str, first_column: int = 1) -> Raised:
    """Return `fault` with the source of the kernel's file at hand, so that its text shows the line and a caret.

    `first_column` is the number that the front end gives the first column.
    """
    if isinstance(fault, Trap):
        place = file_position(fault.loc)
        if isinstance(place, FileLoc):
            fault.notes = calls_to(fault.loc, first_column)
            fault.loc = _from_one(place, first_column)
            file = place.file
    fault.source = source_of(file)
    return fault


def source_of(file: str) -> Source | None:
    """Return the text of a Python file, or of the notebook cell that Python knows by that name."""
    lines = linecache.getlines(file)
    return Source(file, "".join(lines)) if lines else None


def calls_to(loc: Location, first_column: int = 1) -> tuple[Note, ...]:
    """Return a note for each call that led to `loc`, the innermost first."""
    notes = []
    while isinstance(loc, CallSiteLoc):
        place = file_position(loc.caller)
        if isinstance(place, FileLoc):
            notes.append(Note("called from here", _from_one(place, first_column)))
        loc = loc.caller
    return tuple(notes)


def python_place(loc: Location, first_column: int = 1) -> Location:
    """Return the position in a Python file that `loc` stands for; `loc` itself if it has none."""
    place = file_position(loc)
    return _from_one(place, first_column) if isinstance(place, FileLoc) else loc


def _from_one(place: FileLoc, first_column: int) -> FileLoc:
    return replace(place, column=place.column + 1 - first_column)
