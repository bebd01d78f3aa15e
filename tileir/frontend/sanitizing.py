"""Findings of the sanitizer in the kernels of a Python program, at the lines of its Python files.

The reports of all launches become one, and a place in bytecode becomes a line of Python.
"""

from __future__ import annotations

import os
from dataclasses import replace

from tileir.frontend.child_findings import FindingsFolder, Gathered
from tileir.frontend.poisoned_memory import PoisonedMemory, unwritten
from tileir.frontend.tracebacks import calls_to, python_place, source_of
from tileir.ir.loc import FileLoc, Location
from tileir.sanitize.findings import Finding
from tileir.sanitize.launch import SanitizerOptions, sanitizing_target
from tileir.sanitize.report import SanitizerReport


class SanitizerSession:
    """The findings of all launches so far, those of child processes among them: `report`."""

    def __init__(
        self, target: str, options: SanitizerOptions, folder: FindingsFolder | None = None, first_column: int = 1
    ) -> None:
        """``folder``: this process is a child and hands over its findings.

        `first_column` is the number that the front end gives the first column of a line. Raises ValueError for a target
        that has no sanitizer, TypeError for an option that it does not have.
        """
        if target != "interp":
            raise ValueError(f"sanitize: expected the target 'interp', got '{target}'")
        self.target = sanitizing_target(self.add, options, unwritten)
        self.poisoned_memory = PoisonedMemory()
        self._first_column = first_column
        self.folder = folder or FindingsFolder(options)
        self._gathered = Gathered()
        self._process = 0 if folder is not None else os.getpid()
        """The process that has the report; 0 is none of the children."""

    @staticmethod
    def of(
        target: str, sanitize: bool | SanitizerOptions | FindingsFolder, first_column: int = 1
    ) -> SanitizerSession | None:
        """Return the session that a front end is asked for: none, one with options, or in a child process one that
        hands its findings to a folder."""
        if isinstance(sanitize, FindingsFolder):
            return SanitizerSession(target, sanitize.options, sanitize, first_column)
        if isinstance(sanitize, bool):
            return SanitizerSession(target, {}, None, first_column) if sanitize else None
        return SanitizerSession(target, sanitize, None, first_column)

    def add(self, report: SanitizerReport) -> None:
        """Take in what one launch has given."""
        is_child = os.getpid() != self._process
        if is_child and self._process:
            # A fork has what its parent had found before.
            self._gathered, self._process = Gathered(), 0
        for proof in report.proofs:
            self._gathered.prove(proof)
        self._gathered.runs += report.runs
        self._gathered.launches[report.kernel] += 1
        self._gathered.noted.update((report.kernel, note) for note in report.notes)
        for found in map(self._at_python_lines, report):
            self._gathered.add(found)
        if is_child:
            self.folder.leave(self._gathered)

    @property
    def report(self) -> SanitizerReport:
        whole = Gathered()
        for part in (self._gathered, *self.folder.left()):
            whole.join(part)
        names = ", @".join(whole.kernels) or "none"
        sources, proofs = tuple(whole.sources.values()), tuple(whole.kernels.values())
        found, runs = list(whole.found.values()), max(1, whole.runs)
        return SanitizerReport(found, names, runs, sources, notes=whole.notes, prove=lambda: proofs)

    def _at_python_lines(self, found: Finding) -> Finding:
        notes = tuple(replace(note, loc=self._place(note.loc)) for note in found.notes)
        other = None if found.other is None else self._place(found.other)
        return replace(
            found, loc=self._place(found.loc), other=other, notes=calls_to(found.loc, self._first_column) + notes
        )

    def _place(self, loc: Location) -> Location:
        place = python_place(loc, self._first_column)
        if isinstance(place, FileLoc) and place.file not in self._gathered.sources:
            source = source_of(place.file)
            if source is not None:
                self._gathered.sources[place.file] = source
        return place
