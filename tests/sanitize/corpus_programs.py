"""The corpus of the sanitizer: faulty kernels beside their mended twins, with what is expected at which line.

A comment in front of an entry says how it is launched: the grid and the arguments in the words of the command line.
At a line, ``!kind`` is a finding there and ``&kind`` its other place; ``kind.1`` tells several of one kind apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import tileir
from tileir.command_line.argument_words import given_values
from tileir.runtime.module import Kernel, Module

FOLDER = Path(__file__).parent / "corpus"
_MARK = re.compile(r"([!&])([a-z-]+)(\.\d+)?")
_ENTRY = re.compile(r"entry @(\w+)")
_LAUNCH = re.compile(r"// launch: (\S+) ?(.*)")

Expected = tuple[str, int, int | None]
"""Kind, line, and line of the other place."""


@dataclass(frozen=True)
class Case:
    """One entry: how it is launched, and its expected findings, none in a mended one."""

    file: Path
    text: str
    name: str
    grid: tuple[int, ...]
    words: tuple[str, ...]
    expected: frozenset[Expected]

    @property
    def id(self) -> str:
        return f"{self.file.stem}-{self.name}"

    @property
    def kernel(self) -> Kernel:
        return loaded(self.file.name, self.text)[self.name]

    def report(self) -> tileir.sanitize.SanitizerReport:  # type: ignore[name-defined]
        options = [word for word in self.words if word.startswith("--")]
        words = [word for word in self.words if not word.startswith("--")]
        given = given_values(self.kernel, words, 0)
        named = {name: value for name, _, value in (option[2:].partition("=") for option in options)}
        fresh = tuple(filter(None, named.get("uninitialized", "").split(",")))
        schedules = int(named.get("schedules", 1))
        values = [one.value for one in given]
        return tileir.sanitize(
            self.kernel, self.grid, *values, uninitialized=fresh, schedules=schedules, output=lambda text: None
        )


@cache
def loaded(name: str, text: str) -> Module:
    return tileir.parse(text, name)


def cases() -> list[Case]:
    """Every entry of the corpus."""
    files = sorted(FOLDER.glob("*.mlir"))
    return [case for file in files for case in cases_in(file, file.read_text(encoding="utf-8"))]


def clean_cases() -> list[Case]:
    """Return programs that look faulty and are not."""
    file = FOLDER.parent / "clean.mlir"
    return list(cases_in(file, file.read_text(encoding="utf-8")))


def cases_in(file: Path, text: str) -> Iterator[Case]:
    """The entries of a program."""
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if _LAUNCH.search(line)]
    for begin, end in zip(starts, [*starts[1:], len(lines)]):
        launch, entry = _LAUNCH.search(lines[begin]), _ENTRY.search(lines[begin + 1])
        assert launch is not None and entry is not None, f"{file}:{begin + 1}"
        grid = tuple(int(extent) for extent in launch[1].split(","))
        yield Case(file, text, entry[1], grid, tuple(launch[2].split()), _expected(lines, begin, end))


def _expected(lines: list[str], begin: int, end: int) -> frozenset[Expected]:
    first: list[tuple[str, str, int]] = []
    other: dict[tuple[str, str], int] = {}
    for number in range(begin, end):
        for sign, kind, tag in _MARK.findall(lines[number].partition("//")[2]):
            if sign == "!":
                first.append((kind, tag, number + 1))
            else:
                other[kind, tag] = number + 1
    return frozenset((kind, line, other.get((kind, tag))) for kind, tag, line in first)
