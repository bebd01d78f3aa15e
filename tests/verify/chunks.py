"""Programs with expectations: how the files of `tests/errors` and `tests/verify` are read and run.

A file holds chunks divided by ``// -----``; each is a program of its own. Comments in a chunk say what to expect:

    // expected-error@+1 [E0203] part of the message     at the next line (any offset; none: this line)
    // expected-warning@-2 [W0801] part of the message   a warning, two lines above
    // expected-error@k.py:9:1 [E0821] part of it        at a place that the program's own locations name
    // level: 13.3                                       the level to verify at (the newest without)
    // warn-hints                                        ask for warnings about optimization hints
    // subject: addf                                     (tests/verify/operations.mlir) what the chunk is about
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tileir.ir.diagnostics import Diagnostic, DiagnosticError, Report, place_text
from tileir.ir.versions import NEWEST
from tileir.text.parser import parse
from tileir.verify import verify

TESTS = Path(__file__).parents[1]
_EXPECTED = re.compile(r"// expected-(error|warning)(?:@([+-]\d+)|@(\S+:\d+:\d+))? \[(\w+)\] (.*)")


@dataclass(frozen=True)
class Expected:
    severity: str
    code: str
    place: str
    text: str

    def matches(self, found: Diagnostic) -> bool:
        place = place_text(found.loc)
        where = place.rpartition(":")[0] if self.place.startswith("chunk:") else place
        return (self.severity, self.code, self.place) == (
            found.severity,
            found.code,
            where,
        ) and self.text in found.message


@dataclass(frozen=True)
class Chunk:
    name: str
    text: str

    def directive(self, key: str, default: str = "") -> str:
        found = re.search(rf"^// {key}: (.*)$", self.text, re.MULTILINE)
        return found[1] if found else default

    @property
    def expected(self) -> list[Expected]:
        result = []
        for number, line in enumerate(self.text.split("\n"), start=1):
            found = _EXPECTED.search(line)
            if found:
                severity, offset, place, code, text = found.groups()
                result.append(Expected(severity, code, place or f"chunk:{number + int(offset or 0)}", text))
        return result

    def run(self) -> Report:
        """Parse and verify as the chunk asks for; a text that cannot be read has the faults of the parser."""
        try:
            module = parse(self.text, "chunk")
        except DiagnosticError as error:
            return Report(error.diagnostics)
        return verify(module, self.directive("level", NEWEST), warn_hints="// warn-hints" in self.text)


def chunks(path: Path) -> list[Chunk]:
    parts = re.split(r"^// -----\n", path.read_text(), flags=re.MULTILINE)
    return [Chunk(f"{path.stem}-{index}", part) for index, part in enumerate(parts, start=1)]


def error_chunks() -> list[Chunk]:
    return [chunk for path in sorted((TESTS / "errors").glob("*.mlir")) for chunk in chunks(path)]


def operation_chunks() -> dict[str, Chunk]:
    """One valid program per operation, by the operation's name."""
    return {chunk.directive("subject"): chunk for chunk in chunks(TESTS / "verify" / "operations.mlir")}
