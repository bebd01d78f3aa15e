"""The target ``cpu``: native code on the memory of this process.

Knows: how arguments become the slots that native code reads. Does not know: how code is made or run (`cpu.program`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tileir.cpu.program import Program, compiled
from tileir.runtime.arguments import Argument, ArrayArgument, PointerArgument
from tileir.runtime.arrays import CPU
from tileir.runtime.grid import Grid
from tileir.runtime.module import Kernel
from tileir.runtime.targets import Run


class Native:
    """Compiles kernels with LLVM. Memory accesses are not checked."""

    name = "cpu"
    description = "native code through LLVM; memory accesses are not checked"
    devices = (CPU,)

    def prepare(self, kernel: Kernel, check: bool, options: dict[str, object]) -> Run:
        if options:
            raise TypeError(f"target 'cpu' has no option {', '.join(sorted(options))}")
        program: Program = kernel.prepared("cpu", lambda: compiled(kernel.entry))

        def run(grid: Grid, arguments: Sequence[Argument]) -> None:
            program.run(grid, _slots(arguments), kernel.module.source)

        return run


def _slots(arguments: Sequence[Argument]) -> np.ndarray:
    """8 bytes per argument: an address, or a scalar in its low bytes."""
    slots = np.zeros(max(1, len(arguments)), np.uint64)
    for position, argument in enumerate(arguments):
        if isinstance(argument, ArrayArgument):
            slots[position] = argument.array.address
        elif isinstance(argument, PointerArgument):
            slots[position] = argument.pointer.address
        else:
            value = np.asarray(argument.value)
            slots[position : position + 1].view(np.uint8)[: value.itemsize] = value.reshape(1).view(np.uint8)
    return slots


TARGET = Native()
