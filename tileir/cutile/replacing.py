"""Functions put in the place of others wherever those have been imported.

Knows: how a function is found in all modules. Does not know: which functions (`launch`, `as_cpu`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType

Function = Callable[..., object]


def rebind(pairs: Sequence[tuple[Function, Function]]) -> None:
    """Put each new function in the place of the old one in every module that has it.

    So `from cuda.tile import launch` follows, also where it was imported before.
    """
    replacement = {id(old): new for old, new in pairs}
    for module in list(sys.modules.values()):
        if isinstance(module, ModuleType) and _has_any(module, replacement):
            for name in [name for name, value in list(vars(module).items()) if id(value) in replacement]:
                setattr(module, name, replacement[id(vars(module)[name])])


def _has_any(module: ModuleType, replacement: Mapping[int, Function]) -> bool:
    """Whether a module has any of the functions with those ids. With torch there are 100,000 names: no loop in Python
    goes over them."""
    return not replacement.keys().isdisjoint(map(id, list(vars(module).values())))
