"""Findings of the sanitizer in the cuTile kernels of a program, at the lines of its Python files.

Knows: how the reports of all launches become one, and how a place in bytecode becomes a line of Python.
Does not know: what is found (`sanitize`), how a launch is replaced (`launch`).
"""

from __future__ import annotations

from dataclasses import replace

from tileir.cutile.errors import calls_to, python_place, source_of
from tileir.ir.loc import FileLoc, Location, Source
from tileir.runtime.options import SanitizerOptions
from tileir.runtime.sanitizing import SanitizingTarget
from tileir.sanitize.findings import Finding
from tileir.sanitize.proofs.verdict import ProofReport
from tileir.sanitize.report import SanitizerReport


class SanitizerSession:
    """The findings of all launches so far: `report`."""

    def __init__(self, target: str, options: SanitizerOptions) -> None:
        """Raises ValueError for a target that has no sanitizer, TypeError for an option that it does not have."""
        if target != "interp":
            raise ValueError(f"sanitize: expected the target 'interp', got '{target}'")
        self.target = SanitizingTarget(self.add, options)
        self._found: dict[tuple[object, ...], Finding] = {}
        self._kernels: dict[str, ProofReport] = {}
        self._runs = 0
        self._sources: dict[str, Source] = {}

    def add(self, report: SanitizerReport) -> None:
        """Take in what one launch has given."""
        for proof in report.proofs:
            before = self._kernels.get(proof.kernel)
            self._kernels[proof.kernel] = proof if before is None else before.beside(proof)
        self._runs += report.runs
        for found in map(self._at_python_lines, report):
            known = self._found.setdefault((found.kind, found.loc, found.other, found.array), found)
            if known is not found:
                known.count += found.count
                known.seen |= found.seen

    @property
    def report(self) -> SanitizerReport:
        names = ", @".join(self._kernels) or "none"
        sources, proofs = tuple(self._sources.values()), tuple(self._kernels.values())
        return SanitizerReport(list(self._found.values()), names, max(1, self._runs), sources, proofs=proofs)

    def _at_python_lines(self, found: Finding) -> Finding:
        notes = tuple(replace(note, loc=self._place(note.loc)) for note in found.notes)
        other = None if found.other is None else self._place(found.other)
        return replace(found, loc=self._place(found.loc), other=other, notes=calls_to(found.loc) + notes)

    def _place(self, loc: Location) -> Location:
        place = python_place(loc)
        if isinstance(place, FileLoc) and place.file not in self._sources:
            source = source_of(place.file)
            if source is not None:
                self._sources[place.file] = source
        return place
