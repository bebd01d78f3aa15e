"""The golden programs: `tests/golden/NAME.mlir` with its canonical text in `NAME.expected`.

A first line ``// level: 13.4`` says which language level the program needs; without one 13.3 will do.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tileir.ir.core import Module
from tileir.text.parser import parse

FOLDER = Path(__file__).parent.parent / "golden"
LEVEL_MARK = "// level: "
LOWEST_LEVEL = "13.3"
TEXT_ONLY = frozenset(("extensions",))
"""Programs with operations that bytecode does not have."""


@dataclass(frozen=True)
class Golden:
    """One golden program."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.stem

    @cached_property
    def source(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def expected(self) -> Path:
        return self.path.with_suffix(".expected")

    @property
    def level(self) -> str:
        """The lowest level at which the program is valid."""
        first = self.source.partition("\n")[0]
        return first.removeprefix(LEVEL_MARK) if first.startswith(LEVEL_MARK) else LOWEST_LEVEL

    def parse(self) -> Module:
        return parse(self.source, self.path.name)

    def __str__(self) -> str:
        return self.name


GOLDEN = [Golden(path) for path in sorted(FOLDER.glob("*.mlir"))]
STORABLE = [golden for golden in GOLDEN if golden.name not in TEXT_ONLY]
