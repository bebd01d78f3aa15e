"""Blocks of waves: how a launch begins, and how waves wait for each other."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.hsaco_machine import access, decode, matrix, scalar, vector
from tests.hsaco_machine.code_object import loaded
from tests.hsaco_machine.typed import PseudoFault
from tests.hsaco_machine.wave import EXEC, Wave
from tests.ttir_machine import Allocation, MachineFault, allocation
from tests.ttir_machine.memory import Memory
from tileir.gpu.object_files import metadata_of

MAX_STEPS = 4_000_000
"""Instructions of a wave after which it counts as hanging."""
_SCALARS, _VECTORS = 128, 512
_TTMP = 108
_KERNARG = 1 << 3
"""The property of a kernel that wants the address of its parameters."""


@dataclass(frozen=True)
class Kernel:
    """Machine code to run: blocks of `threads`, with `shared` bytes of memory for each."""

    content: bytes
    name: str
    arch: str
    threads: int
    shared: int


def run(kernel: Kernel, grid: Sequence[int], values: Sequence[int], allocations: Sequence[Allocation]) -> None:
    """Run a kernel over a grid. `values` are the parameters as numbers without sign; of those that are missing at the
    end, 0. Raises MachineFault."""
    x, y, z = (*grid, 1, 1)[:3]
    machine = _Machine(kernel, _parameters(kernel, (x, y, z), values), allocations)
    for block in itertools.product(range(z), range(y), range(x)):
        machine.run_block(tuple(reversed(block)))


def _parameters(kernel: Kernel, grid: tuple[int, int, int], values: Sequence[int]) -> np.ndarray:
    """The parameters as they lie in memory, and what the driver passes behind them (AMDGPU usage: kernel arguments)."""
    (described,) = (one for one in metadata_of(kernel.content)["amdhsa.kernels"] if one[".name"] == kernel.name)
    hidden = {f"hidden_block_count_{axis}": count for axis, count in zip("xyz", grid)}
    hidden |= {"hidden_group_size_x": kernel.threads, "hidden_group_size_y": 1, "hidden_group_size_z": 1}
    hidden["hidden_grid_dims"] = 3
    content = np.zeros(described[".kernarg_segment_size"] + 256, np.uint8)
    given = iter(values)
    for argument in described[".args"]:
        kind, place, size = argument[".value_kind"], argument[".offset"], argument[".size"]
        value = hidden.get(kind, 0) if kind.startswith("hidden_") else next(given, 0)
        word = (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        content[place : place + size] = np.frombuffer(word, np.uint8)
    return content


class _Machine:
    def __init__(self, kernel: Kernel, parameters: np.ndarray, allocations: Sequence[Allocation]) -> None:
        self.kernel = kernel
        self.family = decode.FAMILIES[kernel.arch]
        self.lanes = 64 if self.family == "cdna" else 32
        self.code = loaded(kernel.content, kernel.name)
        self.parameters = parameters
        own = [allocation("the parameters", parameters), allocation("the code", self.code.image)]
        self.base = own[1].address
        self.memory = Memory([*allocations, *own])
        self.instructions: dict[int, Any] = {}

    def run_block(self, block: tuple[int, ...]) -> None:
        shared = access.SharedMemory(self.code.shared + self.kernel.shared)
        waves = [self._wave(number, block) for number in range(max(1, self.kernel.threads // self.lanes))]
        while not all(wave.ended for wave in waves):
            for wave in waves:
                if not wave.ended:
                    self._run(wave, shared)
            for wave in waves:
                wave.at_barrier = False

    def _wave(self, number: int, block: tuple[int, ...]) -> Wave:
        rng = np.random.default_rng(number)
        vectors = rng.integers(0, 1 << 32, (_VECTORS, self.lanes), np.uint32)
        vectors[0] = number * self.lanes + np.arange(self.lanes)
        scratch = np.full((self.lanes, max(16, self.code.scratch)), 0xA5, np.uint8)
        scalars = rng.integers(0, 1 << 32, _SCALARS, np.uint32)
        wave = Wave(self.family, self.lanes, number, self.base + self.code.entry, scalars, vectors, scratch)
        wave.write_scalar(EXEC, (1 << self.lanes) - 1, 64)
        self._pass(wave, block)
        return wave

    def _pass(self, wave: Wave, block: tuple[int, ...]) -> None:
        """The scalar registers: the address of the parameters, then the numbers of the block."""
        if self.code.properties & ~(_KERNARG | 1 << 10 | 1 << 11):
            raise MachineFault(f"the machine does not know kernels of properties {self.code.properties:#x}")
        address = self.parameters.ctypes.data
        if self.code.properties & _KERNARG:
            wave.write_scalar(0, address, 64)
        if self.family == "rdna4":
            wave.scalars[_TTMP + 9] = block[0]
            wave.scalars[_TTMP + 7] = block[1] | block[2] << 16
            wave.scalars[_TTMP + 8] = wave.number << 25
            return
        place = self.code.user_scalars
        for number, wanted in zip(block, self.code.asks_for):
            if wanted:
                wave.scalars[place] = number
                place += 1

    # ------------------------------------------------------------ instructions

    def _run(self, wave: Wave, shared: access.SharedMemory) -> None:
        """Until the wave ends or waits for the others."""
        for _ in range(MAX_STEPS):
            instruction = self._fetched(wave.pc)
            place = wave.pc
            wave.pc += instruction.size()
            try:
                self._execute(wave, instruction, shared)
            except (MachineFault, PseudoFault, ValueError, KeyError) as error:
                where = f"{instruction} at {place - self.base:#x}, wave {wave.number}"
                raise MachineFault(f"{where}: {error}") from error
            if wave.ended or wave.at_barrier:
                return
        raise MachineFault(f"wave {wave.number} does not end")

    def _fetched(self, place: int) -> Any:
        if place not in self.instructions:
            offset = place - self.base
            if not 0 <= offset < self.code.image.size - 8:
                raise MachineFault(f"a wave runs at {place:#x}, where there is no code")
            self.instructions[place] = decode.decoded(self.code.image[offset : offset + 24].tobytes(), self.family)
        return self.instructions[place]

    def _execute(self, wave: Wave, instruction: Any, shared: access.SharedMemory) -> None:
        form = type(instruction).__name__
        if form.startswith(("SOP", "SMEM")):
            scalar.run(wave, instruction, self.memory)
        elif form.startswith("VOP"):
            if hasattr(type(instruction), "op") and matrix.is_product(decode.name_of(instruction.op)):
                matrix.run(wave, instruction)
            else:
                vector.run(wave, instruction)
        elif form == "DS":
            access.run_shared(wave, instruction, shared)
        elif form in ("GLOBAL", "FLAT", "VGLOBAL", "VFLAT"):
            access.run_global(wave, instruction, access.GlobalMemory(self.memory))
        elif form in ("MUBUF", "VBUFFER"):
            access.run_buffer(wave, instruction, access.GlobalMemory(self.memory))
        elif form in ("SCRATCH", "VSCRATCH"):
            access.run_scratch(wave, instruction)
        else:
            raise MachineFault(f"the machine does not know the encoding {form}")
