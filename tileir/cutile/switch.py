"""Switching cuTile to a tileir target and back.

Knows: the default target, and what is said when cuda-tile is missing.
Does not know: how a launch is replaced (`launch`).
"""

from __future__ import annotations

from tileir.cutile.launch import Launcher, installed
from tileir.ir.diagnostics import UnsupportedError

DEFAULT = "cpu"
"""The target of cuTile kernels where none is named."""


def enable(target: str = DEFAULT, *, gpu: bool = True, **options: object) -> None:
    """Let `cuda.tile.launch` run kernels on `target`, from now on and wherever it has been imported already.

    Launches on arrays of a GPU that the target does not use go to the library as before, or, with ``gpu=False``, raise
    ValueError. ``options`` are those of the target: ``threads``, ``output``, ``max_iterations``, ... Raises
    `UnsupportedError` if the target or cuda-tile is not there.
    """
    try:
        launcher = Launcher(target, gpu, options)
    except ImportError as error:
        what = f"needs the package cuda-tile (pip install 'tileir[cutile]'): {error}"
        raise UnsupportedError(what, target) from error
    launcher.install()


def disable() -> None:
    """Give `cuda.tile.launch` back to the library. Does nothing if no target is enabled."""
    launcher = installed()
    if launcher is not None:
        launcher.remove()
