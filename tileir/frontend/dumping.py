"""Files of what kernels became: bytecode, and its text."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from tileir.ir.diagnostics import DiagnosticError
from tileir.ir.versions import NEWEST
from tileir.runtime.module import Kernel
from tileir.runtime.serialisation import to_bytecode
from tileir.text.printer import to_text

_LONGEST_NAME = 64


class Dump:
    """A folder with two files for each specialisation of a kernel that was launched: ``vector_add-1.tileirbc``, and
    the same as text, ``vector_add-1.mlir``."""

    def __init__(self, folder: Path) -> None:
        """Make the folder. Raises OSError."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._kept: list[Kernel] = []

    def write(self, kernel: Kernel, name: str, version: str = NEWEST) -> None:
        """Write the files of a specialisation, once; the bytecode in that version if it can be encoded."""
        if any(kernel is kept for kept in self._kept):
            return
        self._kept.append(kernel)
        plain = re.sub(r"[^\w.-]", "_", name, flags=re.ASCII)[:_LONGEST_NAME]
        stem = self._folder / f"{plain}-{len(self._kept)}"
        with suppress(DiagnosticError):  # an extension has no bytecode
            stem.with_name(f"{stem.name}.tileirbc").write_bytes(to_bytecode(kernel.module, version))
        stem.with_name(f"{stem.name}.mlir").write_text(to_text(kernel.module, debug=True), encoding="utf-8")
