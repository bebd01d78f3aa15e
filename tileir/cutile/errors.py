"""What a user of cuTile is told when something is wrong, and where.

Knows: how an argument of a launch is named, and how a fault of a run is shown at the line of the kernel's Python file.
Does not know: what is wrong (`signature`, the targets).
"""

from __future__ import annotations

import linecache
from dataclasses import dataclass, replace
from typing import TypeVar

from tileir.ir.diagnostics import DiagnosticError, Note, Trap
from tileir.ir.loc import CallSiteLoc, FileLoc, Location, Source, file_position

Fault = TypeVar("Fault", Trap, DiagnosticError)
Error = TypeVar("Error", TypeError, ValueError, OverflowError)


@dataclass(frozen=True)
class Place:
    """An argument of a launch, or an item of one: ``path`` is ``xs`` or ``xs[2]``."""

    kernel: str
    path: str

    def item(self, index: int) -> Place:
        return Place(self.kernel, f"{self.path}[{index}]")

    def error(self, kind: type[Error], expected: str, got: str) -> Error:
        return kind(f"kernel '{self.kernel}', argument '{self.path}': expected {expected}, got {got}")

    def type_error(self, expected: str, value: object) -> TypeError:
        kind = type(value)
        name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
        return self.error(TypeError, expected, name)


def at_python_line(fault: Fault, file: str) -> Fault:
    """`fault` with the source of the kernel's file at hand, so that its text shows the line and a caret.

    The columns that cuTile writes count from 0; those of a location count from 1.
    """
    if isinstance(fault, Trap):
        place = file_position(fault.loc)
        if isinstance(place, FileLoc):
            fault.notes = _calls(fault.loc)
            fault.loc = _from_one(place)
            file = place.file
    fault.source = source_of(file)
    return fault


def source_of(file: str) -> Source | None:
    """The text of a Python file, or of the notebook cell that Python knows by that name."""
    lines = linecache.getlines(file)
    return Source(file, "".join(lines)) if lines else None


def _calls(loc: Location) -> tuple[Note, ...]:
    """A note for each call that led to `loc`, the innermost first."""
    notes = []
    while isinstance(loc, CallSiteLoc):
        place = file_position(loc.caller)
        if isinstance(place, FileLoc):
            notes.append(Note("called from here", _from_one(place)))
        loc = loc.caller
    return tuple(notes)


def _from_one(place: FileLoc) -> FileLoc:
    return replace(place, column=place.column + 1)
