"""The lines of Python that faults of a kernel are shown at."""

from __future__ import annotations

import linecache
from dataclasses import replace
from typing import TypeVar

from tileir.ir.diagnostics import DiagnosticError, Note, Trap
from tileir.ir.loc import CallSiteLoc, FileLoc, Location, Source, file_position

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
