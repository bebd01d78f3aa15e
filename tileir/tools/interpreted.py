"""Launches that tools watch on the interpreter: bound arguments in memory, run with a `Listener`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tileir.interp import machine
from tileir.interp.api import Options
from tileir.interp.memory import Memory
from tileir.interp.observer import Listener
from tileir.ir.diagnostics import Coordinates
from tileir.runtime.arguments import Argument, ArrayArgument
from tileir.runtime.grid import Grid, GridLike, checked_grid
from tileir.runtime.interpreter import rank_zero_tile
from tileir.runtime.memory import give_memory
from tileir.runtime.module import Kernel, bind, required_kernel, target_named


@dataclass(frozen=True)
class BoundLaunch:
    """A launch whose arguments were checked and lie in `memory`."""

    kernel: Kernel
    grid: Coordinates
    arguments: Sequence[Argument]
    memory: Memory

    @property
    def arrays(self) -> list[ArrayArgument]:
        """The arrays that the kernel is given, and those that it reaches through them."""
        own = [argument for argument in self.arguments if isinstance(argument, ArrayArgument)]
        return [one for argument in own for one in (argument, *argument.reaches)]


def bound_arguments(kernel: Kernel, grid: GridLike, args: Sequence[object]) -> tuple[Grid, list[Argument]]:
    """Check a launch as target ``interp`` does. Raises TypeError, ValueError, `DiagnosticError`, `UnsupportedError`."""
    required_kernel(kernel).module.require_valid()
    extents = checked_grid(grid, kernel.name)
    return extents, bind(kernel, args, target_named("interp"))


def placed(kernel: Kernel, grid: Grid, arguments: Sequence[Argument]) -> BoundLaunch:
    """Return a launch with its arguments in memory."""
    storage = kernel.module.globals
    made = Memory((), storage.addresses)
    give_memory(made, arguments, storage)
    return BoundLaunch(kernel, grid, arguments, made)


def run_listened(launch: BoundLaunch, listener: Listener, blocks: Iterable[Coordinates] | None = None) -> None:
    """Run the tile blocks of a launch (default: all of the grid). Raises `Trap`."""
    kernel, options = launch.kernel, Options()
    program = machine.prepare(kernel.module, kernel.entry, options, listener)
    launch.memory.observer = listener
    values = [rank_zero_tile(argument) for argument in launch.arguments]
    machine.execute(program, launch.grid, values, launch.memory, options, listener, blocks)
