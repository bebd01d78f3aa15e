"""Triton kernels on a tileir target.

    from tileir.triton import from_ttir
    module = from_ttir(Path("kernel.ttir").read_text())     # what Triton caches and dumps; `triton` need not be there

Knows: the way from TTIR text to a loaded module. Does not know: TTIR (`importer`, which stands below `runtime`, so that
`tileir.load` and the verbs of the command read TTIR too).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tileir.runtime.module import Module

__all__ = ["from_ttir"]


def from_ttir(text: str, filename: str = "<ttir>") -> Module:
    """Turn TTIR, the text that Triton's compiler makes first of a kernel, into a module, and verify it.

    Parameters
    ----------
    text : str
        What ``kernel.asm["ttir"]`` holds, before or after Triton's own passes on it.
    filename : str
        Its name in messages.

    Returns
    -------
    Module
        The program; its entries have the names of the kernels.

    Raises
    ------
    DiagnosticError
        For faults of the text, and for operations that have no meaning without a GPU.
    """
    from tileir.runtime.module import Module
    from tileir.triton.importer.entry import imported

    module = Module.of(imported(text, filename))
    module.require_valid()
    return module
