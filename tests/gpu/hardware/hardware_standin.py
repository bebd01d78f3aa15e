"""A stand-in for a GPU and its driver: launches run on the TTIR machine.

Only the machine replaces the GPU: arguments, hidden memory and mailbox are a GPU's. So the hardware tests are
rehearsed, and a mistake in them costs no time on a GPU.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from tests import ttir_machine
from tests.gpu.fake_driver import FakeDriver
from tests.gpu.hardware.hardware_device import Device
from tests.ttir_machine import Allocation
from tests.ttir_machine.descriptors import Descriptor, checked
from tileir.gpu.arch import Arch, arch_named
from tileir.gpu.descriptors import CopyLayout, TensorMap
from tileir.gpu.driver import Driver, Library
from tileir.gpu.executable import Executable, Scratch
from tileir.gpu.ttir.entry import LoweredEntry, lower_entry
from tileir.gpu.ttir.ir.code import TtirType
from tileir.ir.core import Op
from tileir.runtime.arguments import Argument, ArrayArgument, Binder, Parameter, binder
from tileir.runtime.arrays import CPU, GPU
from tileir.runtime.gpu import CodeVariant, Gpu
from tileir.runtime.gpu_routes import OpenRoute, facts_of

ARCH = "sm_90"
NO_LAYOUT = CopyLayout(0, (), 0)
"""The machine has no shared memory."""
_ROOM = 256
"""Bytes that the fake driver allocates beyond those asked for, to align them."""


@dataclass
class _Function:
    """A kernel that is loaded."""

    program: LoweredEntry


@dataclass
class MachineDriver(FakeDriver):
    """Memory of the device is memory of this process; `lent` is what a launch may use beside it."""

    programs: list[LoweredEntry] = field(default_factory=list)
    lent: list[Allocation] = field(default_factory=list)

    def keep(self, program: LoweredEntry) -> bytes:
        """Stand-in for the machine code of a program."""
        self.programs.append(program)
        return str(len(self.programs) - 1).encode()

    def function(self, library: bytes, kernel: str, threads: int, cluster: int, shared: int, name: str) -> _Function:
        return _Function(self.programs[int(library)])

    def launch(self, function: _Function, grid: tuple[int, int, int], parameters: int, stream: int) -> None:
        code = function.program.function
        types = [argument.type for argument in code.body.arguments]
        addresses = ctypes.cast(parameters, ctypes.POINTER(ctypes.c_void_p))
        slots = [ctypes.c_uint64.from_address(addresses[position]).value for position in range(len(types))]
        own = [Allocation("device", address, len(found) - _ROOM) for address, found in self._memory.items()]
        values = [self._value(slot, type) for slot, type in zip(slots, types)]
        ttir_machine.run(code, grid, values, [*own, *self.lent])

    def _value(self, slot: int, type: TtirType) -> int | np.generic | Descriptor:
        """A parameter of a kernel from its first eight bytes."""
        return _descriptor(self.encoded[slot - 1], type) if type.is_descriptor else _number(slot, type)


def _descriptor(encoded: TensorMap, type: TtirType) -> Descriptor:
    extents, strides = (tuple(reversed(numbers)) for numbers in (encoded.extents, (encoded.size, *encoded.strides)))
    element = type.element.removesuffix(">").rpartition("x")[2]
    found = Descriptor(encoded.address, element, extents, strides, encoded.pads_with_nan)
    return checked(found, type.element)


def _number(slot: int, type: TtirType) -> int | np.generic:
    if type.is_pointer:
        return slot
    size = max(1, type.bits // 8)
    number: np.generic = np.dtype(f"u{size}").type(slot & ((1 << 8 * size) - 1))
    return number


class MachineRoute(OpenRoute):
    """Code for the machine instead of a cubin."""

    def code(self, driver: Driver, device: object, variant: CodeVariant) -> tuple[Executable, Library, Sequence[Op]]:
        assert isinstance(driver, MachineDriver)
        source, facts = self.source(variant), facts_of(self._count, self.watched, variant)
        program = lower_entry(source.entry, source.functions, driver.arch, facts, variant.by_address)
        cubin = driver.keep(program)
        made = Executable(
            cubin,
            program.function.name,
            32,
            hidden=program.hidden,
            layouts=(NO_LAYOUT,) * len(program.hidden),
            scratch=Scratch(0, 1),
            narrow=program.narrow,
        )
        return made, Library(driver, cubin, program.function.name), program.sites


class MachineTarget(Gpu):
    """The target ``cuda`` with the machine behind it. Arrays of this process count as arrays on the device."""

    def binder(self, parameter: Parameter) -> Binder:
        bind = binder(parameter, (CPU, GPU), self.name)

        def lent(value: object) -> Argument:
            argument = bind(value)
            if isinstance(argument, ArrayArgument) and argument.array.device == CPU:
                array = argument.array
                size = array.itemsize * int(np.prod(array.shape))
                self.driver.lent.append(Allocation(argument.name, array.address, size))  # type: ignore[attr-defined]
                return ArrayArgument.of(argument.name, array._replace(device=GPU))
            return argument

        return lent


@cache
def machine() -> Device:
    """The stand-in, which serves for the target ``cuda``."""
    arch: Arch = arch_named(ARCH)
    target = MachineTarget("cuda", "the TTIR machine", MachineDriver(arch=arch), MachineRoute)  # type: ignore[arg-type]
    return Device(target, arch.name, rehearsal=True)
