"""Changes of a module that are made when it is imported.

Knows: how an import is followed. Does not know: what is changed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

Change = Callable[[ModuleType], None]


def when_imported(name: str, change: Change) -> None:
    """Call `change` with the module of that name when it has been imported: now, if it has been already."""
    if name in sys.modules:
        change(sys.modules[name])
        return
    for finder in sys.meta_path:
        if isinstance(finder, _Following) and finder.name == name:
            finder.changes.append(change)
            return
    sys.meta_path.insert(0, _Following(name, change))


class _Following(MetaPathFinder):
    """Finds one module as Python does, with a loader that changes it."""

    def __init__(self, name: str, change: Change) -> None:
        self.name = name
        self.changes = [change]

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != self.name:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _ChangingLoader(spec.loader, self)
        return spec


class _ChangingLoader(Loader):
    """`original`, and then the changes."""

    def __init__(self, original: Loader, following: _Following) -> None:
        self._original = original
        self._following = following

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._original.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self._original
        self._original.exec_module(module)
        sys.meta_path.remove(self._following)
        for change in self._following.changes:
            change(module)
