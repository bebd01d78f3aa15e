"""Programs in the cells of a notebook: ``%load_ext tileir`` brings the magic ``%%tileir``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir.ir.diagnostics import DiagnosticError
from tileir.ir.escaping import shown_html
from tileir.runtime.loading import from_text
from tileir.runtime.module import Module

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_CELL = "cell"
_NAME = "module"
_USAGE = f"%%tileir [NAME]: read the cell's program and bind it to NAME (default: {_NAME})"


class Faults:
    """The faults of a cell, as its output."""

    def __init__(self, error: DiagnosticError) -> None:
        self.error = error

    def __repr__(self) -> str:
        return str(self.error)

    def _repr_html_(self) -> str:
        return shown_html(str(self.error))


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Register the magic; IPython calls this for ``%load_ext tileir``."""

    def tileir(line: str, cell: str) -> object:
        name = line.strip() or _NAME
        if not name.isidentifier():
            print(f"expected a name, got '{name}'; {_USAGE}")
            return None
        found = read_cell(cell)
        if isinstance(found, Module):
            shell.user_ns[name] = found
        return found

    tileir.__doc__ = _USAGE
    shell.register_magic_function(tileir, "cell", "tileir")


def read_cell(text: str) -> Module | Faults:
    """Return the program of a cell, or its faults. Lines are those of the cell, whose first one is the magic."""
    try:
        module = from_text(text, _CELL, first_line=2)
        module.require_valid()
    except DiagnosticError as error:
        return Faults(error)
    return module
