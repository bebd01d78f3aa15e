"""The targets: places where a kernel can run.

Knows: the names of targets, which part implements each, and what a target must offer.
Does not know: how any of them works. A new target is one more line in `_IMPLEMENTATIONS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Literal, Protocol, cast, runtime_checkable

from tileir.ir.bulk import without_collection
from tileir.ir.diagnostics import UnsupportedError

if TYPE_CHECKING:
    import numpy as np

    from tileir.runtime.arguments import Argument, Binder, Parameter
    from tileir.runtime.arrays import Array
    from tileir.runtime.grid import Grid
    from tileir.runtime.module import Kernel
    from tileir.runtime.options import Check, LaunchOptions

TargetName = Literal["interp", "cpu", "cuda", "cuda:tileiras", "hip"]
DEFAULT: TargetName = "cpu"
"""The target of launches that name none: native code."""

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
        """The function that makes a run's argument of a Python value. Raises TypeError for a parameter that a launch
        cannot pass."""

    def prepare(self, kernel: Kernel, check: Check, options: LaunchOptions) -> Run:
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
        """Measure the device's time for what `action` launches, in seconds."""


_IMPLEMENTATIONS: dict[TargetName, tuple[str, str]] = {
    "interp": ("tileir.runtime.interpreter", "Interpreter"),
    "cpu": ("tileir.runtime.native", "Native"),
    "cuda": ("tileir.runtime.gpu_routes", "open_target"),
    "cuda:tileiras": ("tileir.runtime.gpu_routes", "vendor_target"),
    "hip": ("tileir.runtime.gpu_routes", "amd_target"),
}
"""The module of each target, and what in it makes the target; it raises ImportError if something is not installed."""


@cache
def target_named(name: str) -> Target:
    """The target of that name. Raises `UnsupportedError` if there is none, or if it cannot be used here."""
    implementation = _IMPLEMENTATIONS.get(cast(TargetName, name))
    if implementation is None:
        raise UnsupportedError(f"no such target: expected one of {', '.join(_IMPLEMENTATIONS)}", name)
    try:
        module, name_of_maker = implementation
        with without_collection():
            target: Target = getattr(import_module(module), name_of_maker)()
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
