"""tileir: read, check, run and understand Tile IR programs.

The public verbs, and nothing else. Parts are imported when they are first used, so that ``import tileir`` is cheap.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tileir.explore.launch import explore
    from tileir.fuzz.equivalence import equiv
    from tileir.host.extern import register_extern, register_stand_in
    from tileir.host.kernel_warnings import KernelWarning
    from tileir.ir.diagnostics import Diagnostic, DiagnosticError, LaunchTimeout, Report, Trap, UnsupportedError
    from tileir.runtime.arguments import Pointer
    from tileir.runtime.loading import from_bytecode, load, parse
    from tileir.runtime.module import Kernel, Module, launch
    from tileir.runtime.serialisation import to_bytecode
    from tileir.sanitize.launch import prove, sanitize
    from tileir.text.printer import to_text
    from tileir.tools.optimise import optimize
    from tileir.tools.profile.api import profile
    from tileir.tools.view.api import view
    from tileir.tune.record import tuned
    from tileir.verify import verify

__version__ = "0.1.0"

__all__ = [
    "Diagnostic",
    "DiagnosticError",
    "Kernel",
    "KernelWarning",
    "LaunchTimeout",
    "Module",
    "Pointer",
    "Report",
    "Trap",
    "UnsupportedError",
    "__version__",
    "equiv",
    "explore",
    "from_bytecode",
    "launch",
    "load",
    "optimize",
    "parse",
    "profile",
    "prove",
    "register_extern",
    "register_stand_in",
    "sanitize",
    "to_bytecode",
    "to_text",
    "tuned",
    "verify",
    "view",
]

_DIAGNOSTICS = ("Diagnostic", "DiagnosticError", "LaunchTimeout", "Report", "Trap", "UnsupportedError")
_PLACES = {
    **{name: ("tileir.ir.diagnostics", name) for name in _DIAGNOSTICS},
    "Kernel": ("tileir.runtime.module", "Kernel"),
    "KernelWarning": ("tileir.host.kernel_warnings", "KernelWarning"),
    "Module": ("tileir.runtime.module", "Module"),
    "Pointer": ("tileir.runtime.arguments", "Pointer"),
    "equiv": ("tileir.fuzz.equivalence", "equiv"),
    "explore": ("tileir.explore.launch", "explore"),
    "from_bytecode": ("tileir.runtime.loading", "from_bytecode"),
    "launch": ("tileir.runtime.module", "launch"),
    "load": ("tileir.runtime.loading", "load"),
    "optimize": ("tileir.tools.optimise", "optimize"),
    "parse": ("tileir.runtime.loading", "parse"),
    "profile": ("tileir.tools.profile.api", "profile"),
    "prove": ("tileir.sanitize.launch", "prove"),
    "register_extern": ("tileir.host.extern", "register_extern"),
    "register_stand_in": ("tileir.host.extern", "register_stand_in"),
    "sanitize": ("tileir.sanitize.launch", "sanitize"),
    "to_bytecode": ("tileir.runtime.serialisation", "to_bytecode"),
    "tuned": ("tileir.tune.record", "tuned"),
    "to_text": ("tileir.text.printer", "to_text"),
    "verify": ("tileir.verify", "verify"),
    "view": ("tileir.tools.view.api", "view"),
}


class _Package(ModuleType):
    """Keeps `explore`, `sanitize` and `verify` the functions when the packages of these names are imported."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _PLACES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


_HOOKS = {"load_ipython_extension": ("tileir.tools.notebook", "load_ipython_extension")}
"""Names that other programs look for here."""


def __getattr__(name: str) -> object:
    place = _PLACES.get(name) or _HOOKS.get(name)
    if place is None:
        raise AttributeError(f"module 'tileir' has no attribute {name!r}")
    module, attribute = place
    value = globals()[name] = getattr(import_module(module), attribute)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
