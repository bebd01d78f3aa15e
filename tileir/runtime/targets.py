"""Which targets there are: where a kernel can run.

Knows: the names of targets, which part implements each, and what a target must offer.
Does not know: how any of them works. A new target is one more line in `_IMPLEMENTATIONS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from tileir.ir.diagnostics import UnsupportedError

if TYPE_CHECKING:
    import numpy as np

    from tileir.runtime.arguments import Argument, Binder, Parameter
    from tileir.runtime.arrays import Array
    from tileir.runtime.grid import Grid
    from tileir.runtime.module import Kernel

DEFAULT = "cpu"
"""Where a kernel runs when nothing is said: native code."""

Run = Callable[["Grid", "Sequence[Argument]"], None]
"""Runs a prepared kernel over a grid, to the end if the target is no GPU; raises `Trap`."""


class Target(Protocol):
    """A place where kernels run."""

    name: str
    description: str
    devices: tuple[str, ...]
    """The devices whose memory it uses, by the names of `arrays.Array.device`."""
    gives_output: bool
    """Whether what kernels print goes to the option ``output``; otherwise it goes to standard output."""

    def binder(self, parameter: Parameter) -> Binder:
        """What turns a Python value into what a run is given for the parameter. Raises TypeError for a parameter that
        a launch cannot pass."""

    def prepare(self, kernel: Kernel, check: bool, options: dict[str, object]) -> Run:
        """Make a kernel of a verified module ready to run. Cheap when it has been done before with the same options.

        Raises TypeError for an option that the target does not have, `UnsupportedError` for what it cannot run.
        """


@runtime_checkable
class DeviceTarget(Target, Protocol):
    """A target whose memory is not that of this process, and whose launches return before kernels have run."""

    def placed(self, array: np.ndarray) -> Array:
        """A copy of an array there, as long as it is referred to."""

    def fetch(self, placed: Array, array: np.ndarray) -> None:
        """Copy what was placed back, when all launches are done. Raises Trap for a fault of one."""

    def finish(self) -> None:
        """Wait until all launches are done. Raises Trap for a fault of one."""

    def seconds(self, action: Callable[[], object]) -> float:
        """How long the device takes for what `action` launches."""


_IMPLEMENTATIONS = {
    "interp": "tileir.runtime.interpreter",
    "cpu": "tileir.runtime.native",
    "cuda": "tileir.runtime.cuda",
    "cuda:tileiras": "tileir.runtime.tileiras",
}
"""Each module has a `TARGET` that is a `Target`, or raises ImportError if something it needs is not installed."""


@cache
def target_named(name: str) -> Target:
    """The target of that name. Raises `UnsupportedError` if there is none, or if it cannot be used here."""
    implementation = _IMPLEMENTATIONS.get(name)
    if implementation is None:
        raise UnsupportedError(f"no such target: expected one of {', '.join(_IMPLEMENTATIONS)}", name)
    try:
        target: Target = import_module(implementation).TARGET
    except ImportError as error:
        raise UnsupportedError(f"not available: {error}", name) from error
    return target


def names() -> tuple[str, ...]:
    """The names of all targets, also of those that cannot be used here."""
    return tuple(_IMPLEMENTATIONS)


def available() -> dict[str, str]:
    """Every target by name, with a line that says what it is or why it cannot be used."""
    return {name: _status(name) for name in _IMPLEMENTATIONS}


def _status(name: str) -> str:
    try:
        return target_named(name).description
    except UnsupportedError as error:
        return error.what
