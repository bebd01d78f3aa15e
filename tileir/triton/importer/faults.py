"""Faults of TTIR: the codes, and the exception that carries one to where it is noted."""

from __future__ import annotations

from tileir.ir.diagnostics import Diagnostic, Note
from tileir.ir.loc import UNKNOWN, Location

SYNTAX = "E0050"
"""Text that is not TTIR."""
UNKNOWN_OPERATION = "E0051"
"""An operation that no version of Triton's front end makes."""
REFUSED = "E0052"
"""An operation or type that has no meaning without a GPU, or none in Tile IR."""
MISMATCH = "E0053"
"""Operands, attributes or types that an operation cannot have."""

LATER = ("ttg.", "ttng.", "gluon.", "amdg.", "nvws.", "nvgpu.", "nvvm.", "rocdl.", "triton_gpu.", "triton_nvidia_gpu.")
"""Beginnings of the names of operations, types and layouts of later stages."""


class ImportFault(Exception):
    """A fault found while TTIR is read or imported."""

    def __init__(
        self, code: str, message: str, loc: Location = UNKNOWN, hint: str | None = None, notes: tuple[Note, ...] = ()
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.loc = loc
        self.hint = hint
        self.notes = notes

    def diagnostic(self, loc: Location = UNKNOWN) -> Diagnostic:
        """Return the fault at its own place, or at `loc` if it has none."""
        return Diagnostic(self.code, self.message, loc if self.loc is UNKNOWN else self.loc, self.notes, self.hint)


def refused(message: str, hint: str) -> ImportFault:
    """Return A fault of what is TTIR, but cannot be imported; `hint` says what to do instead."""
    return ImportFault(REFUSED, message, hint=hint)


def mismatch(message: str) -> ImportFault:
    """Return a fault of operands, attributes or types that do not fit."""
    return ImportFault(MISMATCH, message)
