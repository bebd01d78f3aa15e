"""The verifier: is a program Tile IR, at a level of the language?

Knows: the one entry point. The rules stand in `structure` (from the declarations), `dominance`, `symbols`, `debug`,
`hints` and in one file per chapter of the specification; `verifier` walks the program.
"""

from __future__ import annotations

from tileir.ir.core import Module
from tileir.ir.diagnostics import Report
from tileir.ir.partial import PartialModule
from tileir.ir.versions import NEWEST, VERSIONS, version_key
from tileir.verify.verifier import PartialVerifier, Verifier

__all__ = ["verify", "verify_partial"]


def verify(module: Module, level: str = NEWEST, *, warn_hints: bool = False) -> Report:
    """Find what is wrong with a program.

    Parameters
    ----------
    module : Module
        The program.
    level : str
        Language version, ``"13.1"`` to ``"13.5"``; the newest accepts the programs of all versions but a few.
    warn_hints : bool
        Whether to warn of optimization hints without effect.

    Returns
    -------
    Report
        Every violation, in program order; ``report.ok`` if there is no error. Never raises for a bad program.

    Raises
    ------
    ValueError
        For a level that does not exist.
    TypeError
        For what is no module.
    """
    if level not in VERSIONS:
        raise ValueError(f"level: expected one of {', '.join(map(repr, VERSIONS))}, got {level!r}")
    return Verifier(Module.required(module), version_key(level), warn_hints).run()


def verify_partial(partial: PartialModule, level: str = NEWEST) -> Report:
    """Find the violations in what could be read of a program, as far as they do not depend on the rest."""
    return PartialVerifier(partial, version_key(level)).run()
