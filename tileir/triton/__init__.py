"""Triton kernels on a tileir target.

    from tileir.triton import from_ttir
    module = from_ttir(Path("kernel.ttir").read_text())     # what Triton caches and dumps; `triton` need not be there

Knows: the way from TTIR text to a loaded module; what is imported when it is asked for: the switch to another target
than native code (`switch`), the way from a kernel to a module without a launch (`export`), arrays as arguments
(`arguments`) and, as a pytest plugin (``-p tileir.triton``), the hooks of `frontend.plugin`.
Does not know: TTIR (`importer`, which stands below `runtime`, so that `tileir.load` and the verbs of the command read
TTIR too). Triton itself finds its backend ``cpu`` here, in `compiler` and `driver`, and imports it as it is imported.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tileir.runtime.module import Module
    from tileir.triton.arguments import HostArray
    from tileir.triton.export import to_tile_ir
    from tileir.triton.switch import disable, enable, enabled, on

__all__ = ["HostArray", "disable", "enable", "enabled", "from_ttir", "on", "to_tile_ir"]

_HOOKS = (
    "pytest_addoption",
    "pytest_load_initial_conftests",
    "pytest_report_header",
    "pytest_sessionfinish",
    "pytest_terminal_summary",
)
_PLACES = {
    "HostArray": "tileir.triton.arguments",
    "to_tile_ir": "tileir.triton.export",
    **dict.fromkeys(("disable", "enable", "enabled", "on"), "tileir.triton.switch"),
    **dict.fromkeys(_HOOKS, "tileir.triton.plugin"),
}


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'tileir.triton' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_PLACES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})


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
