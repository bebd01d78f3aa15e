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
    """The bytecode of `module`, which should be valid, in a `version` from ``"13.1"`` to ``"13.5"``.

    The default is the lowest one that can express the module and whose rules it keeps. With `strict`, a location that
    can only be kept in part is an error. Raises `DiagnosticError` with everything that the version cannot express, or
    that has no bytecode at all.
    """
    return encode(module, version or lowest_version(module), strict=strict)


def lowest_version(module: Module) -> str:
    """The lowest version that can express `module` and whose rules it keeps; of an invalid one, the first of these."""
    lowest = version_text(lowest_expressing(needs(module)))
    candidates = VERSIONS[VERSIONS.index(lowest) :]
    return next((version for version in candidates if verify(module, version).ok), lowest)
