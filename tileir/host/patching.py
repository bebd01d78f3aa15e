"""Changes of other libraries: of a module once it is imported, and of a function wherever it has been imported."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import FunctionType, ModuleType

Change = Callable[[ModuleType], None]
Function = Callable[..., object]


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


def own_function(stand_in: object, original: object) -> object:
    """Return a function that does what `stand_in` does, with the name and the signature of `original`; classes and
    other objects are returned as they are.

    Each name needs a function of its own: `torch.compile` keeps what it knows of functions by the object.
    """
    if isinstance(stand_in, type) or not callable(stand_in):
        return stand_in

    @wraps(original if isinstance(original, FunctionType) else stand_in)
    def call(*args: object, **kwargs: object) -> object:
        __tracebackhide__ = True
        return stand_in(*args, **kwargs)

    return call


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
    """Return whether a module has any of the functions with those ids. Torch has 100,000 names, so no loop in Python
    goes over them."""
    return not replacement.keys().isdisjoint(map(id, list(vars(module).values())))
