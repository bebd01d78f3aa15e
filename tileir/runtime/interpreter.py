"""The target ``interp``: the reference interpreter on the memory of this process.

Arguments become checked memory and rank-0 tiles; `interp.machine` runs the program.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tileir.interp import machine
from tileir.interp.api import Options
from tileir.interp.memory import UNWATCHED, Memory, UnwrittenReads
from tileir.runtime.arguments import Argument, ScalarArgument
from tileir.runtime.arrays import CPU
from tileir.runtime.grid import Grid
from tileir.runtime.memory import give_memory
from tileir.runtime.module import Kernel, Run, Target
from tileir.runtime.options import Check, InterpreterOptions, LaunchOptions, check_level, checked


class Interpreter(Target):
    """Runs kernels exactly, with every memory access checked."""

    name = "interp"
    description = "the reference interpreter: exact, every memory access checked"
    devices = (CPU,)
    gives_output = True

    def prepare(self, kernel: Kernel, check: Check, options: LaunchOptions) -> Run:
        """Prepare a launch; for the options see `interp.api.Options`."""
        settings = settings_of(check, options)
        program = kernel.memo(
            ("interp", settings.strict), lambda: machine.prepare(kernel.module, kernel.entry, settings)
        )
        storage = kernel.module.globals

        def run(grid: Grid, arguments: Sequence[Argument]) -> None:
            memory = Memory((), storage.addresses, UnwrittenReads() if settings.strict else UNWATCHED)
            give_memory(memory, arguments, storage)
            machine.execute(program, grid, [rank_zero_tile(argument) for argument in arguments], memory, settings)

        return run


def settings_of(check: Check, options: LaunchOptions) -> Options:
    """Return the options of a launch as the interpreter takes them: strict checks are its mode ``strict``.

    Raises TypeError for an option that it does not have, ValueError for a mode that contradicts `check`.
    """
    given = checked(options, InterpreterOptions, Interpreter.name)
    level = check_level(check)
    if level == "strict" and given.setdefault("mode", "strict") != "strict":
        raise ValueError(f"mode: expected 'strict', as check='strict' asks for, got {given['mode']!r}")
    return Options(check=level is not False, **given)


def rank_zero_tile(argument: Argument) -> np.generic:
    """Return the rank-0 tile of an argument."""
    return argument.value if isinstance(argument, ScalarArgument) else np.uint64(argument.bits)
