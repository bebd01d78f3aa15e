"""Texts whose lines come from lines of the program.

Knows: how the stages of a compiler say where a line comes from (MLIR's ``loc``, LLVM's ``!dbg``, the assembler's
``.loc``), and how that becomes a number beside each line. Does not know: how a stage is made (`tools.serve.panes`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

PROGRAM = "program.mlir"
"""The name that the program has in all stages."""
_ALIAS = re.compile(r"^(#loc\d*) = loc\((.*)\)$")
_PLACE = re.compile(rf'"{re.escape(PROGRAM)}":(\d+)')
_TRAILING = re.compile(r" loc\((#loc\d*|[^()]*(?:\([^()]*\)[^()]*)*)\)")
_DEBUG = re.compile(r", !dbg (!\d+)")
_LOCATION = re.compile(r"^(!\d+) = (?:distinct )?!DILocation\(line: (\d+)")
_DIRECTIVE = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)(?:\s+(\d+))?")
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+(?:"[^"]*"\s+)?"([^"]*)"')
_SASS_LINE = re.compile(r'//## File "[^"]*", line (\d+)')
_OWN = re.compile(r'"kernel\.ttir":(\d+):(\d+)')
_NOISE = re.compile(r"^\s*\.(cfi_|size|type|globl|p2align|ident|addrsig|file|text$)|^\.Ltmp\d+:|^\s*#APP|^\s*#NO_APP")


@dataclass(frozen=True)
class LinkedText:
    """A text; `lines` has, for each of its lines, that of the program that it comes from, 0 for none. `marks` has a
    character for each: ``+`` for a line that is new, ``-`` for one that is not there any more.
    """

    text: str
    lines: Sequence[int]
    title: str = ""
    marks: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"title": self.title, "text": self.text, "lines": list(self.lines), "marks": self.marks}


def joined(rows: Iterable[tuple[str, int]], title: str = "") -> LinkedText:
    found = list(rows)
    return LinkedText("\n".join(text for text, _ in found), [line for _, line in found], title)


def of_mlir(text: str) -> LinkedText:
    """TTIR or TTGIR, without its locations."""
    rows = text.rstrip().split("\n")
    known = {match[1]: _line(match[2]) for match in map(_ALIAS.match, rows) if match}
    return joined((_bare(row), _mlir_line(row, known)) for row in rows if not _ALIAS.match(row))


def _line(location: str) -> int:
    found = _PLACE.search(location)
    return int(found[1]) if found else 0


def _mlir_line(row: str, known: dict[str, int]) -> int:
    for location in _TRAILING.findall(row)[::-1]:
        line = known.get(location) if location.startswith("#") else _line(location)
        if line:
            return line
    return 0


def _bare(row: str) -> str:
    return _TRAILING.sub("", row)


def of_llvm(text: str) -> LinkedText:
    """LLVM's language, without its metadata."""
    rows = text.rstrip().split("\n")
    known = {match[1]: int(match[2]) for match in map(_LOCATION.match, rows) if match}
    return joined(_trimmed((_DEBUG.sub("", row), _llvm_line(row, known)) for row in rows if not row.startswith("!")))


def _llvm_line(row: str, known: dict[str, int]) -> int:
    found = _DEBUG.search(row)
    return known.get(found[1], 0) if found else 0


Places = frozenset[tuple[int, int]]
"""Lines and columns of the program."""


def of_assembly(text: str) -> LinkedText:
    """Assembly of a processor, without directives of debug information."""
    files = {match[1]: match[2] for match in map(_FILE.match, text.split("\n")) if match}
    return joined(_trimmed(_assembly_rows(text, lambda file, line, _: line if _is_program(files, file) else 0)))


def _is_program(files: dict[str, str], number: str) -> bool:
    return files.get(number, "").endswith(PROGRAM)


def of_ptx(text: str, places: Places) -> LinkedText:
    """PTX likewise. LLVM writes all lines there as if they were of one file: those of `places` are the program's."""
    return joined(_trimmed(_assembly_rows(text, lambda _, line, column: line if (line, column) in places else 0)))


def _assembly_rows(text: str, line_of: Callable[[str, int, int], int]) -> Iterator[tuple[str, int]]:
    line = 0
    for row in text.rstrip().split("\n"):
        place = _DIRECTIVE.match(row)
        if place:
            line = line_of(place[1], int(place[2]), int(place[3] or 0))
        elif ".debug_" in row and ".section" in row:
            return
        elif not _NOISE.match(row):
            yield row.expandtabs(8), line if row[:1].isspace() and not row.lstrip().startswith(".") else 0


def of_sass(text: str, lines: frozenset[int]) -> LinkedText:
    """What ``nvdisasm -g`` prints, where lines are said in front of the instructions: those of `lines` are the
    program's.
    """
    rows, line = [], 0
    for row in text.rstrip().split("\n"):
        place = _SASS_LINE.search(row)
        if place:
            line = int(place[1]) if int(place[1]) in lines else 0
        elif not row.lstrip().startswith(".") or row.startswith(".text"):
            rows.append((row.expandtabs(8).rstrip(), line if "/*" in row else 0))
    return joined(_trimmed(rows))


def own_places(text: str) -> Places:
    """The places in TTIR that are those of its own text, not of the program."""
    return frozenset((int(line), int(column)) for line, column in _OWN.findall(text))


def _trimmed(rows: Iterable[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Without empty lines at both ends and behind each other."""
    empty = True
    for text, line in rows:
        if text.strip() or not empty:
            yield text, line
        empty = not text.strip()
