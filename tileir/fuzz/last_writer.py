"""The tile block of a launch that wrote a byte last.

Knows: how a launch is run on memory that remembers. Does not know: why somebody asks.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from tileir.interp import machine
from tileir.interp.api import Options
from tileir.interp.tracing import TracedMemory
from tileir.ir.diagnostics import Coordinates, Trap
from tileir.runtime.grid import GridLike, checked_grid
from tileir.runtime.interpreter import rank_zero_tile
from tileir.runtime.launch import bind
from tileir.runtime.memory import give_memory
from tileir.runtime.module import Kernel
from tileir.runtime.targets import target_named


def last_writer(kernel: Kernel, grid: GridLike, args: Sequence[object], address: int) -> Coordinates | None:
    """Launch on the interpreter and give the block; None if none writes there. Arrays are changed as by a launch."""
    arguments = bind(kernel, args, target_named("interp"))
    storage = kernel.module.globals
    memory = TracedMemory(address, storage.addresses)
    give_memory(memory, arguments, storage)
    options = Options(mode="off", output=lambda text: None)
    program = machine.prepare(kernel.module, kernel.entry, options)
    with contextlib.suppress(Trap):
        machine.execute(program, checked_grid(grid, kernel.name), list(map(rank_zero_tile, arguments)), memory, options)
    return memory.writer
