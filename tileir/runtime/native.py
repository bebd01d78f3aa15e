"""The target ``cpu``: native code on the memory of this process.

Knows: how arguments become the slots that native code reads. Does not know: how code is made or run (`cpu.program`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tileir.cpu.program import Program, compiled
from tileir.interp.api import Options
from tileir.interp.printing import formatter
from tileir.ir.core import Op
from tileir.ops.misc import PrintTko
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
        """Options: ``output``, where `print_tko` writes (a text stream or a function; standard output by default)."""
        unknown = options.keys() - {"output"}
        if unknown:
            raise TypeError(f"target 'cpu' has no option {', '.join(sorted(unknown))}: it has output")
        addresses = kernel.module.globals.addresses
        program: Program = kernel.prepared("cpu", lambda: compiled(kernel.entry, tuple(addresses)))
        settings = Options(output=options.get("output"))  # type: ignore[arg-type]

        def write(op: Op, tiles: list[np.ndarray]) -> None:
            settings.write(_text(op, tiles))

        def run(grid: Grid, arguments: Sequence[Argument]) -> None:
            program.run(grid, [*map(_slot, arguments), *addresses.values()], kernel.module.source, write)

        return run


def _text(op: Op, tiles: list[np.ndarray]) -> str:
    assert isinstance(op, PrintTko)
    text, _ = formatter(op.text, [value.type.element for value in op.args])
    return text(tiles)


def _slot(argument: Argument) -> int:
    """The 8 bytes of an argument: an address, or a scalar in the low bytes."""
    if isinstance(argument, ArrayArgument):
        return argument.array.address
    if isinstance(argument, PointerArgument):
        return argument.pointer.address
    return int.from_bytes(np.asarray(argument.value).tobytes(), "little")


TARGET = Native()
