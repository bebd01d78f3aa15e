"""The target ``interp``: the reference interpreter on the memory of this process.

Knows: how arguments become checked memory and rank-0 tiles. Does not know: how a program is run (`interp.machine`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tileir.interp import machine
from tileir.interp.allocation import Allocation
from tileir.interp.api import Options
from tileir.interp.coverage import Runs, runs_of
from tileir.interp.memory import Memory
from tileir.interp.program import Program
from tileir.runtime.arguments import Argument, ArrayArgument, Binder, Parameter, PointerArgument, binder
from tileir.runtime.arrays import CPU, Array
from tileir.runtime.grid import Grid
from tileir.runtime.mappings import mapping_at
from tileir.runtime.module import Kernel
from tileir.runtime.storage import GlobalStorage
from tileir.runtime.targets import Run


class Interpreter:
    """Runs kernels exactly, with every memory access checked."""

    name = "interp"
    description = "the reference interpreter: exact, every memory access checked"
    devices = (CPU,)
    gives_output = True

    def binder(self, parameter: Parameter) -> Binder:
        return binder(parameter, self.devices, self.name)

    def prepare(self, kernel: Kernel, check: bool, options: dict[str, object]) -> Run:
        """Options: ``mode``, ``max_iterations``, ``output``, ``seed`` (see `interp.api.Options`)."""
        settings = _settings(check, options)
        program = kernel.prepared(
            ("interp", settings.strict), lambda: machine.prepare(kernel.module, kernel.entry, settings)
        )
        storage = kernel.module.globals

        def run(grid: Grid, arguments: Sequence[Argument]) -> None:
            _execute(program, grid, arguments, storage, settings)

        return run


def _settings(check: bool, options: dict[str, object]) -> Options:
    known = ("mode", "max_iterations", "output", "seed")
    unknown = options.keys() - set(known)
    if unknown:
        raise TypeError(f"target 'interp' has no option {', '.join(sorted(unknown))}: it has {', '.join(known)}")
    return Options(check=check, **options)  # type: ignore[arg-type]


def _execute(
    program: Program, grid: Grid, arguments: Sequence[Argument], storage: GlobalStorage, settings: Options
) -> None:
    memory = Memory((), storage.addresses)
    for name, placed in storage.placed.items():
        runs = (Runs(0, placed.size),)
        memory.add(Allocation(f"@{name}", placed.address, runs, writable=not placed.constant, keep=placed))
    values = [_value(argument, memory) for argument in arguments]
    for argument in arguments:
        if isinstance(argument, PointerArgument):
            _add_pointer(memory, argument)
    machine.execute(program, grid, values, memory, settings)


def _value(argument: Argument, memory: Memory) -> np.generic:
    """The rank-0 tile of an argument, whose memory becomes part of the launch's."""
    if isinstance(argument, ArrayArgument):
        for lent in (argument, *argument.reaches):
            memory.add(_allocation(lent.name, lent.array))
        return np.uint64(argument.array.address)
    if isinstance(argument, PointerArgument):
        return np.uint64(argument.pointer.address)
    return argument.value


def _allocation(name: str, array: Array) -> Allocation:
    if array.contiguous:
        size = array.itemsize
        for extent in array.shape:
            size *= extent
        return Allocation(name, array.address, (Runs(0, size),), keep=array)
    origin, runs = runs_of(array.shape, array.strides, array.itemsize)
    return Allocation(name, array.address - origin, (runs,), origin=array.address, keep=array)


def _add_pointer(memory: Memory, argument: PointerArgument) -> None:
    """The memory that a raw address stands for, unless it lies in memory that the launch has anyway."""
    pointer = argument.pointer
    if pointer.size is not None:
        memory.add(Allocation(argument.name, pointer.address, (Runs(0, pointer.size),), keep=pointer))
    elif memory.find(pointer.address) is None:
        try:
            mapping = mapping_at(pointer.address)
        except OSError:
            raise ValueError("this system does not tell how far memory reaches: give tileir.Pointer a size") from None
        if mapping is not None:
            runs = (Runs(0, mapping.end - pointer.address),)
            memory.add_unbounded(
                Allocation(argument.name, pointer.address, runs, writable=mapping.writable, keep=pointer)
            )


TARGET = Interpreter()
