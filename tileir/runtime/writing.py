"""Writing a program as bytecode.

Knows: which version of the format is chosen where none is asked for.
Does not know: the encoding (`bytecode`), nor the rules of a version (`verify`).
"""

from __future__ import annotations

from tileir.bytecode.encode import encode
from tileir.bytecode.versions import lowest_version as lowest_expressing
from tileir.bytecode.versions import needs
from tileir.ir.core import Module
from tileir.ir.versions import VERSIONS, version_text
from tileir.verify import verify


def to_bytecode(module: Module, version: str | None = None, *, strict: bool = False) -> bytes:
    """Write a program, which should be valid, as bytecode.

    Parameters
    ----------
    module : Module
        The program.
    version : str or None
        ``"13.1"`` to ``"13.5"``; None is the lowest that can express the program and whose rules it keeps.
    strict : bool
        Whether a location that can only be kept in part is an error.

    Returns
    -------
    bytes
        The content of a bytecode file.

    Raises
    ------
    DiagnosticError
        With everything that the version cannot express, or that has no bytecode at all.
    TypeError
        For what is no module.
    """
    Module.required(module)
    return encode(module, version or lowest_version(module), strict=strict)


def lowest_version(module: Module) -> str:
    """The lowest version that can express `module` and whose rules it keeps; of an invalid one, the first of these."""
    lowest = version_text(lowest_expressing(needs(module)))
    candidates = VERSIONS[VERSIONS.index(lowest) :]
    return next((version for version in candidates if verify(module, version).ok), lowest)
