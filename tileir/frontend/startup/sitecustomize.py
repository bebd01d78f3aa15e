"""Run by Python as a child process starts, where ``tileir.frontend.children`` has put this folder on its path.

The parent's choice is applied when one of its libraries is imported. Until then nothing of tileir is imported, so that
other children start as fast as ever. Afterwards the module of this name that this one hides is run.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).resolve().parent


class FirstImport(MetaPathFinder):
    """Waits for torch, cupy, Triton or cuTile."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name.partition(".")[0] not in ("torch", "cupy", "cuda", "triton"):
            return None
        sys.meta_path.remove(self)
        take_up()
        found = (finder.find_spec(name, path, target) for finder in list(sys.meta_path))
        return next((spec for spec in found if spec is not None), None)


def take_up() -> None:
    if find_spec("tileir") is None:
        sys.path.append(str(FOLDER.parents[2]))
    from tileir.frontend import child_startup

    child_startup.take_up()


def run_hidden() -> None:
    """Run the ``sitecustomize`` that this folder hides."""
    sys.path[:] = [entry for entry in sys.path if not entry or Path(entry).resolve() != FOLDER]
    spec = PathFinder.find_spec("sitecustomize")
    if spec is not None and spec.loader is not None:
        module = sys.modules["sitecustomize"] = module_from_spec(spec)
        spec.loader.exec_module(module)


sys.meta_path.insert(0, FirstImport())
run_hidden()
