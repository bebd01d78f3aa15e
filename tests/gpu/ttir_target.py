"""Runs a kernel on the TTIR machine, as a launch on a GPU would.

Knows: what stands for the memory of the device, and what the entry's hidden parameters are. Does not know: what TTIR
means (`ttir_machine`), nor what is compared (`tests.differential`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import tileir
from tests.differential import Outcome
from tests.golden.arguments import aligned
from tests.gpu import ttir_machine
from tests.gpu.ttir_memory import Allocation, allocation
from tileir.gpu.arch import arch_named
from tileir.gpu.ttir.lowering import (
    BlockMemory,
    ConstantMemory,
    GlobalMemory,
    Hidden,
    ParameterFacts,
    Program,
    lower_entry,
)
from tileir.gpu.ttir.rules import RULES
from tileir.ops.extension import Func
from tileir.runtime.arguments import Argument, ArrayArgument, PointerArgument
from tileir.runtime.launch import bind
from tileir.runtime.targets import target_named

ALIGNMENT = 16
"""What a launch tells the compiler about addresses and integers that are multiples of it."""


def lowered(kernel: tileir.Kernel, arch: str, facts: Sequence[ParameterFacts] = ()) -> Program:
    """The TTIR of a kernel. Raises UnsupportedError."""
    functions = [item for item in kernel.module.items if isinstance(item, Func)]
    return lower_entry(kernel.entry, functions, RULES, arch_named(arch), facts)


def outcome(kernel: tileir.Kernel, grid: tuple[int, ...], args: Sequence[object], arch: str) -> Outcome:
    """Run on the arrays as they are, and put back what was in them. Raises UnsupportedError and MachineFault."""
    arrays = [value for value in args if isinstance(value, np.ndarray)]
    before = [array.copy() for array in arrays]
    launch = _launch(kernel, grid, args, arch)
    try:
        ttir_machine.run(launch.program.function, grid, launch.values, launch.allocations)
        return Outcome([array.copy() for array in arrays], "", None)
    finally:
        for array, content in zip(arrays, before):
            array[...] = content


@dataclass
class _Launch:
    """What the machine is given; `keep` are the arrays that memory lies in."""

    program: Program
    values: list[int | np.generic]
    allocations: list[Allocation]
    keep: list[np.ndarray]


def _launch(kernel: tileir.Kernel, grid: tuple[int, ...], args: Sequence[object], arch: str) -> _Launch:
    kernel.module.require_valid()
    arguments = bind(kernel, args, target_named("interp"))
    launch = _Launch(lowered(kernel, arch, list(map(_facts, arguments))), [], [], [])
    for argument in arguments:
        _pass(launch, argument)
    for placed in kernel.module.globals.placed.values():
        launch.allocations.append(Allocation("a global", placed.address, placed.size, not placed.constant))
    for hidden in launch.program.hidden:
        launch.values.append(_address(launch, hidden, kernel, int(np.prod(grid))))
    return launch


def _facts(argument: Argument) -> ParameterFacts:
    value = _passed(argument)
    number = int(value) if isinstance(value, int | np.integer) else 1
    return ParameterFacts(ALIGNMENT if number % ALIGNMENT == 0 else 1)


def _passed(argument: Argument) -> int | np.generic:
    if isinstance(argument, ArrayArgument):
        return argument.array.address
    if isinstance(argument, PointerArgument):
        return argument.pointer.address
    return argument.value


def _pass(launch: _Launch, argument: Argument) -> None:
    launch.values.append(_passed(argument))
    if isinstance(argument, ArrayArgument):
        for lent in (argument, *argument.reaches):
            size = lent.array.itemsize * int(np.prod(lent.array.shape))
            assert lent.array.contiguous
            launch.allocations.append(Allocation(lent.name, lent.array.address, size))
    elif isinstance(argument, PointerArgument):
        assert argument.pointer.size is not None
        launch.allocations.append(Allocation(argument.name, argument.pointer.address, argument.pointer.size))


def _address(launch: _Launch, hidden: Hidden, kernel: tileir.Kernel, blocks: int) -> int:
    """The value of a hidden parameter."""
    if isinstance(hidden, GlobalMemory):
        return kernel.module.globals.addresses[hidden.name]
    if isinstance(hidden, ConstantMemory):
        memory = aligned(np.frombuffer(hidden.content, np.uint8))
    else:
        assert isinstance(hidden, BlockMemory), hidden
        memory = aligned(np.full(hidden.size * blocks, 0xA5, np.uint8))
    memory.flags.writeable = not isinstance(hidden, ConstantMemory)
    found = allocation(type(hidden).__name__, memory)
    launch.allocations.append(Allocation(found.name, found.address, found.size, not isinstance(hidden, ConstantMemory)))
    launch.keep.append(memory)
    return found.address
