"""Direct launches of a compiled kernel, as users and front ends call them.

Knows: which methods launch a kernel directly, and whose they are. Does not know: how they work (`cpu.run.direct`), nor
which arguments are usual (`direct_rows`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from tileir.cpu.run.direct import DirectLauncher, DirectMethod
from tileir.cpu.run.direct_runs import DirectRows, DirectRuns
from tileir.cpu.run.execution import Runner
from tileir.cpu.run.launch import Settings
from tileir.cpu.run.traps import FaultyAccess
from tileir.host.access_faults import AccessFault
from tileir.host.planned import Planned
from tileir.runtime.arguments import Argument
from tileir.runtime.direct_rows import rows_of
from tileir.runtime.grid import MAX_EXTENT
from tileir.runtime.native_memory import NativeArguments

if TYPE_CHECKING:
    from tileir.runtime.module import Kernel

Bind = Callable[[tuple[object, ...]], Sequence[Argument]]
"""From arguments as they were given to those of the entry."""


class DirectLaunches:
    """Launches of a kernel with some settings."""

    def __init__(
        self, kernel: Kernel, launcher: DirectLauncher, runner: Runner, settings: Settings, bind: Bind
    ) -> None:
        """`bind` is that of the kernel's own parameters."""
        self._kernel, self._launcher, self._runner, self._settings = kernel, launcher, runner, settings
        self._bind = bind
        self._storage = kernel.module.globals

    def quick(self) -> DirectMethod:
        """``launch(grid, *arguments)``, with the option ``threads``; NotImplemented for what is not usual."""
        return self._runs(self._bind).method(Planned(), self._rows, "")

    def method(self, target: str) -> DirectMethod:
        """The method of the kernel itself, which leaves what is not usual to `Kernel.launch`."""
        kernel = self._kernel
        launch = type(kernel).launch
        doc = f"launch($self, grid, *args, target={target!r}, check=True, **keywords)\n--\n\n{launch.__doc__}"
        otherwise = launch.__get__(kernel)
        return self._runs(self._bind).method(kernel, self._rows, doc, otherwise, target)

    def packed(self, rows: DirectRows, bind: Bind) -> DirectMethod:
        """``launch(grid, arguments)`` for these rows; NotImplemented for what is not usual."""
        return self._runs(bind).method(Planned(), rows, "")

    @cached_property
    def _rows(self) -> DirectRows:
        return rows_of(self._kernel.parameters, self._storage)

    def _runs(self, bind: Bind) -> DirectRuns:
        def fault(given: tuple[object, ...], access: FaultyAccess) -> AccessFault:
            return NativeArguments(bind(given), self._storage).access_fault(access)

        return DirectRuns(self._launcher, self._runner, self._settings, MAX_EXTENT, fault)
